"""Notes: write, search, keep answers with their citations, export them, make them sources."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query, Response

from fumikura.web import note_files
from fumikura.web.deps import NotebookName, Services, Speaks
from fumikura.web.schemas_common import ERRORS
from fumikura.web.schemas_notes import NewNote, NoteChange, NoteOut, NotesOut
from fumikura.web.schemas_sources import JobsOut, job_out

PATH = "/api/notebooks/{notebook}/notes"
router = APIRouter(prefix=PATH, tags=["notes"], responses=ERRORS)


@router.get("")
def list_notes(
    notebook: NotebookName,
    service: Services,
    q: Annotated[str, Query(description="Words that title, question or text hold, in any spelling")] = "",
) -> NotesOut:
    """Return the notebook's notes, newest first."""
    return NotesOut(notes=[NoteOut.of(note) for note in service.library.store.notes(notebook, q)])


@router.post("", status_code=201)
def add_note(notebook: NotebookName, note: NewNote, service: Services) -> NoteOut:
    """Keep a note; without a title it is named after its question, else after its first line."""
    title = note.title.strip() or note_files.titled("", note.text, note.question)
    citations = [citation.model_dump() for citation in note.citations]
    return NoteOut.of(service.library.store.add_note(notebook, title, note.text, citations, note.question))


@router.get("/export", response_class=Response, responses={200: {"content": {"text/markdown": {}}}})
def export_notes(notebook: NotebookName, service: Services, language: Speaks) -> Response:
    """Return all notes as one Markdown file, in the order in which they were written."""
    notes = service.library.store.notes(notebook)[::-1]
    headers = {"Content-Disposition": f'attachment; filename="{note_files.export_name(date.today())}"'}
    return Response(note_files.export(notes, language), media_type="text/markdown; charset=utf-8", headers=headers)


@router.get("/{note_id}")
def read_note(notebook: NotebookName, note_id: str, service: Services) -> NoteOut:
    """Return one note."""
    return NoteOut.of(service.library.store.note(notebook, note_id))


@router.patch("/{note_id}")
def change_note(notebook: NotebookName, note_id: str, change: NoteChange, service: Services) -> NoteOut:
    """Change a note's title or text."""
    store = service.library.store
    return NoteOut.of(
        store.update_note(notebook, note_id, title=change.title, text=change.text, read_at=change.updated_at)
    )


@router.delete("/{note_id}")
def remove_note(notebook: NotebookName, note_id: str, service: Services) -> NoteOut:
    """Delete a note and return what it was: sent to POST it is back."""
    return NoteOut.of(service.library.store.remove_note(notebook, note_id))


@router.post("/{note_id}/source", status_code=202)
def make_source(notebook: NotebookName, note_id: str, service: Services, language: Speaks) -> JobsOut:
    """Add the note as a source, or update the source that it became before."""
    store = service.library.store
    file = note_files.as_source(store.note(notebook, note_id))
    job = store.add_job(notebook, "add", file.name, file)
    service.worker.wake()
    return JobsOut(jobs=[job_out(job, language)])
