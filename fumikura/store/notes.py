"""Notes: what a person writes or keeps of an answer, with the citations of that answer."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fumikura.errors import Conflict, NotFound
from fumikura.japanese import normalize
from fumikura.store.catalogue import existing_source
from fumikura.store.notebooks import Tables, ensure_notebook, existing_notebook, find_notebook
from fumikura.store.texts import as_json, clean, new_id, now, one_line

# A source that is hidden or deleted is none: the note can become one again.
NOTES = """
SELECT notes.public_id AS note_id, notes.title, text, citations, question, sources.public_id AS source_id,
  created_at, notes.updated_at
FROM notes LEFT JOIN sources ON sources.id = source_row AND hidden_at IS NULL
"""
LONGEST_QUERY = 2000  # characters; the rest of a pasted page is not looked for
MAX_WORD_COUNT = 32


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note; `question` and `citations` are those of the answer it was, `source_id` the source it became."""

    note_id: str
    title: str
    text: str
    citations: list[dict[str, Any]]
    question: str
    source_id: str | None
    created_at: str
    updated_at: str


class Notes(Tables):
    """The table `notes`. Ids of another notebook are as good as unknown."""

    def add_note(
        self, notebook: str, title: str, text: str, citations: Sequence[Mapping[str, Any]] = (), question: str = ""
    ) -> NoteRow:
        """Keep a note."""
        public_id, time = new_id(), now("microseconds")
        title, text, question = one_line(title), clean(text), clean(question)
        normalized = _normalized(title, question, text)  # outside of the transaction: a second for 1 MB
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO notes (public_id, notebook_id, title, question, citations, text, normalized, created_at,"
                " updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    public_id,
                    ensure_notebook(connection, notebook),
                    title,
                    question,
                    as_json([dict(citation) for citation in citations]),
                    text,
                    normalized,
                    time,
                    time,
                ),
            )
            return _note(connection, notebook, public_id)

    def notes(self, notebook: str, query: str = "") -> list[NoteRow]:
        """Return the notes that hold every word of `query` in any spelling, newest first."""
        words = normalize(query[:LONGEST_QUERY]).text.split()[:MAX_WORD_COUNT]
        holds_all = "AND instr(normalized, ?) " * len(words)
        with self._database.read() as connection:
            rows = connection.execute(
                f"{NOTES} WHERE notes.notebook_id = ? {holds_all} ORDER BY notes.id DESC",
                (find_notebook(connection, notebook), *words),
            )
            return [_note_row(row) for row in rows]

    def note(self, notebook: str, note_id: str) -> NoteRow:
        """Return one note. Raises NotFound."""
        with self._database.read() as connection:
            return _note(connection, notebook, note_id)

    def update_note(
        self,
        notebook: str,
        note_id: str,
        *,
        title: str | None = None,
        text: str | None = None,
        read_at: str | None = None,
    ) -> NoteRow:
        """Change what is given and leave the rest.

        `read_at`: the `updated_at` of the note that was changed. Raises NotFound, and Conflict when the note was
        written on since then; one sent twice is not.
        """
        with self._database.write() as connection:
            old = _note(connection, notebook, note_id)
            title = old.title if title is None else one_line(title)
            text = old.text if text is None else clean(text)
            if read_at not in (None, old.updated_at) and (title, text) != (old.title, old.text):
                raise Conflict(
                    ja=f"ノート「{old.title}」は、ほかの画面で書き直されています。読み直してから保存してください。",
                    en=f"The note '{old.title}' was written on elsewhere meanwhile: read it again, then save",
                )
            connection.execute(
                "UPDATE notes SET title = ?, text = ?, normalized = ?, updated_at = ? WHERE public_id = ?",
                (title, text, _normalized(title, old.question, text), now("microseconds"), old.note_id),
            )
            return _note(connection, notebook, note_id)

    def set_note_source(self, notebook: str, note_id: str, source_id: str) -> NoteRow:
        """Say which source the note became; its text is as old as before. Raises NotFound, for the source as well."""
        with self._database.write() as connection:
            old = _note(connection, notebook, note_id)
            row = existing_source(connection, existing_notebook(connection, notebook), source_id)
            connection.execute("UPDATE notes SET source_row = ? WHERE public_id = ?", (row, old.note_id))
            return _note(connection, notebook, note_id)

    def remove_note(self, notebook: str, note_id: str) -> NoteRow:
        """Delete a note, from the file and its log as well, and return what it was. Raises NotFound."""
        with self._database.write() as connection:
            note = _note(connection, notebook, note_id)
            connection.execute("DELETE FROM notes WHERE public_id = ?", (note.note_id,))
        self._database.checkpoint()
        return note


def normalize_notes(connection: sqlite3.Connection) -> None:
    """Write what a search reads of every note anew, as the normaliser has changed."""
    rows = connection.execute("SELECT id, title, question, text FROM notes").fetchall()
    connection.executemany(
        "UPDATE notes SET normalized = ? WHERE id = ?",
        ((_normalized(row["title"], row["question"], row["text"]), row["id"]) for row in rows),
    )


def _normalized(*parts: str) -> str:
    return normalize("\n".join(parts)).text


def _note(connection: sqlite3.Connection, notebook: str, note_id: str) -> NoteRow:
    row = connection.execute(
        f"{NOTES} WHERE notes.notebook_id = ? AND notes.public_id = ?",
        (find_notebook(connection, notebook), clean(note_id)),
    ).fetchone()
    if row is None:
        raise NotFound(
            ja=f"ノート「{note_id}」はありません。削除されたのかもしれません。",
            en=f"There is no note '{note_id}': it may have been deleted",
        )
    return _note_row(row)


def _note_row(row: sqlite3.Row) -> NoteRow:
    values = dict(row)
    return NoteRow(citations=json.loads(values.pop("citations")), **values)
