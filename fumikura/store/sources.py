"""Writing sources: insert, replace, remove, each in one transaction with chunks, keywords and vectors."""

import sqlite3
import time
from collections.abc import Collection, Mapping, Sequence

from fumikura.records import Chunk, Source, SourceSummary, Vector
from fumikura.store.catalogue import existing_source, summary
from fumikura.store.chunks import chunk_contents
from fumikura.store.conversations import forget_in_traces
from fumikura.store.drafts import Draft, make_draft
from fumikura.store.jobs import drop_files_of_ended_jobs
from fumikura.store.keyword import TokenProgress, untold
from fumikura.store.notebooks import Tables, count_change, ensure_notebook, existing_notebook, list_anew
from fumikura.store.notes import normalize_notes
from fumikura.store.recipes import recipe_for_writing
from fumikura.store.texts import new_id, now
from fumikura.store.vectors import carry_over, count_vectors, insert_by_hash


class Sources(Tables):
    """The tables `sources`, `sections`, `chunks` and `originals`, as they are written."""

    def put_source(
        self,
        notebook: str,
        source: Source,
        chunks: Sequence[Chunk],
        chunk_recipe: str,
        vectors: Mapping[str, Vector] | None = None,
        recipe: str | None = None,
        original: bytes | None = None,
        create: bool = True,
        progress: TokenProgress = untold,
    ) -> SourceSummary:
        """Insert the source, or replace the one of the same origin, which keeps its id; all or nothing.

        A replaced source keeps the name that a person gave it, is shown again if it was hidden, and keeps the bytes
        of its file where `original` is None. `vectors` maps `content_sha256(chunk.embed_text)` to vectors of `recipe`
        (None: the present one). Vectors that the notebook holds already for the same content are carried over, so only
        `pending_chunks` remain to embed. `progress` hears how many chunks' words are found, and of how many; what it
        raises leaves all as it was. Raises NotFound for a missing notebook unless it may `create` it.
        """
        draft = make_draft(source, chunks, chunk_recipe)
        with self._database.write() as connection:
            find = ensure_notebook if create else existing_notebook
            notebook_id = find(connection, notebook)
        # The words take most of the time, so they are found before the transaction begins.
        columns = self._keywords.tokenize(notebook_id, draft.embed_texts, progress)
        with self._database.write() as connection:
            notebook_id = existing_notebook(connection, notebook)
            row, last_section = _write_source(connection, notebook_id, draft)
            self._keywords.remove(connection, row)
            self._keywords.add(connection, _write_chunks(connection, notebook_id, row, draft), columns)
            if vectors:
                insert_by_hash(connection, row, recipe_for_writing(connection, recipe), vectors)
            carry_over(connection, row)
            connection.execute("DELETE FROM sections WHERE source_id = ? AND id <= ?", (row, last_section))
            count_vectors(connection, "id = ?", [row])
            if original is not None:
                connection.execute("INSERT OR REPLACE INTO originals VALUES (?, ?)", (row, original))
            drop_files_of_ended_jobs(connection, row)
            _changed(connection, notebook_id)
            return summary(connection, row)

    def remove_source(self, notebook: str, source: str) -> bool:
        """Delete one source; see `remove_sources`."""
        return self.remove_sources(notebook, [source])

    def remove_sources(self, notebook: str, sources: Sequence[str]) -> bool:
        """Delete sources (public ids or names): text, words and vectors, from the file and its log as well.

        False: all is deleted, but a reader kept the log from being emptied; the next checkpoint does it.
        Raises NotFound or Conflict, and then nothing is deleted.
        """
        with self._database.write() as connection:
            notebook_id = existing_notebook(connection, notebook)
            self._delete(connection, [existing_source(connection, notebook_id, source) for source in sources])
            _changed(connection, notebook_id)
        return self._database.checkpoint()

    def purge_hidden(self, older_than_s: float) -> list[tuple[str, SourceSummary]]:
        """Delete the sources hidden `older_than_s` ago or earlier; return them with their notebooks' names.

        What a reader kept in the log is overwritten by the next deletion or `checkpoint`.
        """
        until = time.time() - older_than_s
        with self._database.read() as connection:  # asked every second: an idle server must hold up no writer
            if connection.execute("SELECT 1 FROM sources WHERE hidden_at <= ? LIMIT 1", (until,)).fetchone() is None:
                return []
        with self._database.write() as connection:
            rows = connection.execute(
                "SELECT sources.id, notebook_id, notebooks.name AS notebook FROM sources"
                " JOIN notebooks ON notebooks.id = notebook_id WHERE hidden_at <= ? ORDER BY sources.id",
                (until,),
            ).fetchall()
            if not rows:
                return []
            purged = [(row["notebook"], summary(connection, row["id"])) for row in rows]
            self._delete(connection, [row["id"] for row in rows])
            for notebook_id in {row["notebook_id"] for row in rows}:
                _changed(connection, notebook_id)
        self._database.checkpoint()
        return purged

    def remove_notebook(self, notebook: str) -> bool:
        """Delete a notebook with all its sources; the answer is that of `remove_source`."""
        with self._database.write() as connection:
            notebook_id = existing_notebook(connection, notebook)
            # First, as no receipt needs to be searched for text then.
            connection.execute("DELETE FROM conversations WHERE notebook_id = ?", (notebook_id,))
            rows = connection.execute("SELECT id FROM sources WHERE notebook_id = ?", (notebook_id,)).fetchall()
            self._delete(connection, [row["id"] for row in rows])
            connection.execute("DELETE FROM notebooks WHERE id = ?", (notebook_id,))
        return self._database.checkpoint()

    def rebuild_keywords(self) -> int:
        """Write all that is searched by words anew with the present tokenizer; return the number of chunks.

        One transaction a source, so that others wait for none longer; broken off, it can be called again.
        """
        with self._database.read() as connection:
            rows = connection.execute("SELECT id, notebook_id FROM sources ORDER BY id").fetchall()
        count = sum(self._rebuild_source(row["id"], row["notebook_id"]) for row in rows)
        with self._database.write() as connection:
            connection.execute("DELETE FROM keyword WHERE rowid NOT IN (SELECT id FROM chunks)")
            normalize_notes(connection)
            self._keywords.stamp(connection)
        return count

    def _rebuild_source(self, row: int, notebook_id: int) -> int:
        with self._database.read() as connection:
            chunks = chunk_contents(connection, "chunks.source_id = ?", [row])
        columns = self._keywords.tokenize(notebook_id, [chunk.embed_text for chunk in chunks])
        ids = [chunk.chunk_id for chunk in chunks]
        with self._database.write() as connection:
            found = connection.execute("SELECT id FROM chunks WHERE source_id = ?", (row,)).fetchall()
            if {chunk["id"] for chunk in found} != set(ids):
                return 0  # removed, or replaced meanwhile by `put_source`, which found its words itself
            self._keywords.remove(connection, row)
            self._keywords.add(connection, ids, columns)
            return len(ids)

    def _delete(self, connection: sqlite3.Connection, rows: Collection[int]) -> None:
        forget_in_traces(connection, rows)
        for row in rows:
            self._keywords.remove(connection, row)
            drop_files_of_ended_jobs(connection, row)
            # The name of a file stands in the job that read it, too.
            connection.execute(
                "DELETE FROM jobs WHERE state = 'done' AND source_id = (SELECT public_id FROM sources WHERE id = ?)",
                (row,),
            )
            connection.execute("DELETE FROM sources WHERE id = ?", (row,))
        self._keywords.forget(connection)


def _changed(connection: sqlite3.Connection, notebook_id: int) -> None:
    count_change(connection, notebook_id)
    list_anew(connection, notebook_id)


def _write_source(connection: sqlite3.Connection, notebook_id: int, draft: Draft) -> tuple[int, int]:
    """Return the source's row id and the last id of its old sections (0: it is new)."""
    values = draft.source_values() | {"updated_at": now(), "hidden_at": None}
    old = connection.execute(
        "SELECT id, (SELECT coalesce(max(id), 0) FROM sections WHERE source_id = sources.id) AS last"
        " FROM sources WHERE notebook_id = ? AND origin = ?",
        (notebook_id, values["origin"]),
    ).fetchone()
    if old:
        changes = ", ".join(f"{column} = :{column}" for column in values)
        connection.execute(f"UPDATE sources SET {changes} WHERE id = :id", values | {"id": old["id"]})
        return int(old["id"]), int(old["last"])
    values |= {"notebook_id": notebook_id, "public_id": new_id(), "added_at": values["updated_at"]}
    columns = ", ".join(values)
    marks = ", ".join(f":{column}" for column in values)
    row = connection.execute(f"INSERT INTO sources ({columns}) VALUES ({marks})", values).lastrowid
    assert row is not None
    return row, 0


def _write_chunks(connection: sqlite3.Connection, notebook_id: int, row: int, draft: Draft) -> list[int]:
    """Write sections and chunks; return the chunk ids in reading order."""
    section_ids = [
        connection.execute(
            'INSERT INTO sections (notebook_id, source_id, position, heading_path, page, start, "end", text)'
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (notebook_id, row, *values),
        ).lastrowid
        or 0
        for values in draft.section_values()
    ]
    return [
        connection.execute(
            "INSERT INTO chunks (notebook_id, source_id, section_id, position, start,"
            ' "end", heading_path, lead, content_sha256) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
            (notebook_id, row, *values),
        ).lastrowid
        or 0
        for values in draft.chunk_values(section_ids)
    ]
