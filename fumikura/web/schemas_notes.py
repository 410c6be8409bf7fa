"""Inputs and outputs of notes."""

from dataclasses import asdict
from typing import Annotated, Self

from pydantic import BaseModel, Field

from fumikura.store import NoteRow
from fumikura.web.schemas_answers import Citation, Text, Title
from fumikura.web.schemas_common import Input

NOTE_CHARS = 1_000_000
MOST_CITATIONS = 500

NoteText = Annotated[Text, Field(max_length=NOTE_CHARS)]


class NewNote(Input):
    """A note; one kept of an answer brings the answer's citations and its question."""

    title: Title = ""
    text: NoteText
    citations: list[Citation] = Field([], max_length=MOST_CITATIONS)
    question: Annotated[Text, Field(max_length=100_000)] = ""


class NoteChange(Input):
    """What to change of a note; with the `updated_at` that was read, it is refused when written on since (409)."""

    title: Title | None = None
    text: NoteText | None = None
    updated_at: Annotated[str | None, Field(max_length=40)] = None


class NoteOut(BaseModel):
    """A note; `source_id` is the source that it became."""

    note_id: str
    title: str
    text: str
    citations: list[Citation]
    question: str
    source_id: str | None
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, row: NoteRow) -> Self:
        """Return a kept note."""
        return cls.model_validate(asdict(row))


class NotesOut(BaseModel):
    """Notes, newest first."""

    notes: list[NoteOut]
