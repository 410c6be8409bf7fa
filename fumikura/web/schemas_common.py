"""Inputs and outputs shared by several routes, and those of health, login and notebooks."""

import unicodedata
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from fumikura.notebook import LONGEST_NAME


def _plain_name(text: str) -> str:
    """Return the name in NFC, as the store keeps it, its white space and what cannot be shown as single spaces."""
    shown = "".join(" " if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") else one for one in text)
    return " ".join(unicodedata.normalize("NFC", shown).split())


NotebookTitle = Annotated[
    str,
    BeforeValidator(lambda value: _plain_name(value) if isinstance(value, str) else value),
    StringConstraints(min_length=1, max_length=LONGEST_NAME),
]


class Input(BaseModel):
    """Base of all inputs: unknown keys are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid")


class Error(BaseModel):
    """What failed and what to do, in the language of the request."""

    code: str
    message: str
    hint: str


class ErrorOut(BaseModel):
    """The one shape of every refusal."""

    error: Error


ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorOut, "description": "Refused: the message says what to do"},
    "5XX": {"model": ErrorOut, "description": "Failed: the message says what to do"},
}


class LoginInput(Input):
    """The server's token."""

    token: str = Field(max_length=1000)


class Part(BaseModel):
    """Whether a part is ready, and a line about it for a person."""

    ready: bool
    detail: str


class GeneratorPart(Part):
    """The language model; `loaded`: an answer can begin at once; `waiting_count`: questions in the queue."""

    model: str
    loaded: bool
    waiting_count: int


class HealthOut(BaseModel):
    """What is ready. `degraded` still answers what it can (say: finds passages while the model is away)."""

    status: Literal["ok", "degraded"]
    version: str
    uptime_s: float
    store: Part
    embedder: Part
    generator: GeneratorPart
    jobs: Part


class NotebookInput(Input):
    """A notebook's name."""

    name: NotebookTitle


class NotebookChanges(Input):
    """What is given is changed; `mode` is auto, rag, resident or hybrid."""

    name: NotebookTitle | None = None
    mode: str | None = Field(None, max_length=40)


class NotebookOut(BaseModel):
    """A notebook; `id` is used in paths, `mode` says how its sources are read."""

    id: int
    name: str
    source_count: int
    chunk_count: int
    mode: str


class NotebooksOut(BaseModel):
    """All notebooks."""

    notebooks: list[NotebookOut]


class NoticesOut(BaseModel):
    """What should be known about a removal, a line each."""

    notices: list[str]
