"""Reading sources: the list, one by id, name or origin, and the text as its sections hold it.

A hidden source (deleted, but it can still be brought back) is in no list and found by nothing here.
"""

import json
import sqlite3
from collections.abc import Collection
from dataclasses import fields
from functools import lru_cache

from fumikura.errors import Conflict, NotFound
from fumikura.records import Notice, Section, SourceFile, SourceSummary
from fumikura.store.notebooks import Tables, existing_notebook, find_notebook
from fumikura.store.texts import clean, nfc

# A source is read by position, in the order of the record's fields: looked up by name, 2,000 take 31 instead of 20 ms.
FIELDS = tuple(field.name for field in fields(SourceSummary))
COLUMNS = {  # where a field is no column of its name
    "source_id": "public_id",
    "name": "coalesce(given_name, name)",
    "status": "iif(chunk_count = 0, 'no_text', iif(vector_count = chunk_count, 'ready', 'keyword_ready'))",
    "file_name": "name",
    "renamed": "given_name IS NOT NULL",
}
SUMMARIES = f"SELECT {', '.join(f'{COLUMNS.get(field, field)} AS {field}' for field in FIELDS)} FROM sources"
FLAGS = [FIELDS.index(field) for field in ("encoding_certain", "pinned", "included", "renamed")]
NOTICES = FIELDS.index("notices")
NAMED_IN_MESSAGE = 5


class Catalogue(Tables):
    """The tables `sources`, `sections` and `originals`, as they are read."""

    def sources(self, notebook: str) -> list[SourceSummary]:
        """Return the notebook's sources, sorted by name and origin."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"{SUMMARIES} WHERE notebook_id = ? AND hidden_at IS NULL ORDER BY name, origin",
                (find_notebook(connection, notebook),),
            )
            return [_summary(row) for row in rows]

    def embedding(self, notebook: str, limit: int = 50) -> list[SourceSummary]:
        """Return the sources that lack vectors of the present recipe, in the order in which they get them."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"{SUMMARIES} WHERE notebook_id = ? AND vector_count < chunk_count AND hidden_at IS NULL"
                " ORDER BY id LIMIT ?",
                (find_notebook(connection, notebook), limit),
            )
            return [_summary(row) for row in rows]

    def usable_source_ids(self, notebook: str) -> list[str] | None:
        """Return the sources that questions use: included and not hidden. None: all of the notebook."""
        with self._database.read() as connection:
            notebook_id = find_notebook(connection, notebook)
            if not _exists(connection, "NOT included OR hidden_at IS NOT NULL", notebook_id):
                return None
            rows = connection.execute(
                "SELECT public_id FROM sources WHERE notebook_id = ? AND included AND hidden_at IS NULL ORDER BY id",
                (notebook_id,),
            )
            return [row["public_id"] for row in rows]

    def chunk_count(self, notebook: str, source_ids: Collection[str] | None = None) -> int:
        """Return how many chunks the notebook's sources (or only these) have together; 0 if there is none."""
        with self._database.read() as connection:
            notebook_id = find_notebook(connection, notebook)
            if source_ids is None:
                found = connection.execute("SELECT chunk_count FROM notebooks WHERE id = ?", (notebook_id,)).fetchone()
                return int(found["chunk_count"]) if found else 0
            rows = shown_rows(connection, notebook_id, source_ids)
            return int(
                connection.execute(
                    "SELECT coalesce(sum(chunk_count), 0) FROM sources WHERE id IN (SELECT value FROM json_each(?))",
                    (json.dumps(rows),),
                ).fetchone()[0]
            )

    def find_source(self, notebook: str, origin: str) -> SourceSummary | None:
        """Return the source that came from `origin`; None when there is none, so that it is written (again)."""
        with self._database.read() as connection:
            row = connection.execute(
                f"{SUMMARIES} WHERE notebook_id = ? AND origin = ? AND hidden_at IS NULL",
                (find_notebook(connection, notebook), nfc(origin)),
            ).fetchone()
            return _summary(row) if row else None

    def get_source(self, notebook: str, source: str) -> SourceSummary:
        """Return the source of this public id, origin or name. Raises NotFound, or Conflict for an ambiguous name."""
        with self._database.read() as connection:
            row = existing_source(connection, existing_notebook(connection, notebook), source)
            return summary(connection, row)

    def original(self, notebook: str, source: str) -> SourceFile | None:
        """Return the file as it was added, None when its bytes were not kept. Raises NotFound or Conflict."""
        with self._database.read() as connection:
            row = existing_source(connection, existing_notebook(connection, notebook), source)
            found = connection.execute(
                "SELECT origin, name, content FROM sources JOIN originals ON source_id = id WHERE id = ?", (row,)
            ).fetchone()
            return SourceFile(*found) if found else None

    def has_original(self, notebook: str, source: str) -> bool:
        """Whether `original` returns a file; reads none of its bytes. Raises NotFound or Conflict."""
        with self._database.read() as connection:
            row = existing_source(connection, existing_notebook(connection, notebook), source)
            return bool(connection.execute("SELECT count(*) FROM originals WHERE source_id = ?", (row,)).fetchone()[0])

    def source_text(self, notebook: str, source: str) -> str:
        """Return the source's extracted text. Raises NotFound or Conflict."""
        return "".join(section.text for section in self.sections(notebook, source))

    def sections(self, notebook: str, source: str) -> list[Section]:
        """Return the source's sections in order (their blocks are not stored). Raises NotFound or Conflict."""
        with self._database.read() as connection:
            row = existing_source(connection, existing_notebook(connection, notebook), source)
            rows = connection.execute("SELECT * FROM sections WHERE source_id = ? ORDER BY position", (row,))
            return [
                Section(
                    tuple(json.loads(found["heading_path"])), found["start"], found["end"], found["text"], found["page"]
                )
                for found in rows
            ]

    def source_metadata(self, notebook: str, source: str) -> dict[str, str]:
        """Return what the source's front matter or file properties said. Raises NotFound or Conflict."""
        with self._database.read() as connection:
            row = existing_source(connection, existing_notebook(connection, notebook), source)
            found = connection.execute("SELECT metadata FROM sources WHERE id = ?", (row,)).fetchone()
            return dict(json.loads(found["metadata"]))


def existing_source(connection: sqlite3.Connection, notebook_id: int, source: str) -> int:
    """Return the row id of the source of this public id, origin or name. Raises NotFound or Conflict."""
    for column in ("public_id", "origin", "coalesce(given_name, name)"):
        rows = connection.execute(
            f"SELECT id, public_id, origin FROM sources WHERE notebook_id = ? AND {column} = ?"
            " AND hidden_at IS NULL ORDER BY origin",
            (notebook_id, nfc(source)),
        ).fetchall()
        if len(rows) > 1:
            raise _ambiguous(source, rows)
        if rows:
            return int(rows[0]["id"])
    raise no_source(source)


def shown_rows(
    connection: sqlite3.Connection, notebook_id: int | None, source_ids: Collection[str] | None = None
) -> list[int] | None:
    """Return the row ids of the sources (of these) that are not hidden; None: all that the notebook has."""
    if source_ids is None:
        if not _exists(connection, "hidden_at IS NOT NULL", notebook_id):
            return None
        rows = connection.execute(
            "SELECT id FROM sources WHERE notebook_id = ? AND hidden_at IS NULL ORDER BY id", (notebook_id,)
        )
    else:
        rows = connection.execute(
            "SELECT id FROM sources WHERE notebook_id = ? AND hidden_at IS NULL"
            " AND public_id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (notebook_id, json.dumps([clean(source_id) for source_id in source_ids])),
        )
    return [int(row["id"]) for row in rows]


def summary(connection: sqlite3.Connection, row: int) -> SourceSummary:
    """Return the source of this row id, which must exist."""
    return _summary(connection.execute(f"{SUMMARIES} WHERE id = ?", (row,)).fetchone())


def no_source(source: str) -> NotFound:
    """Return the error for a source that this notebook does not have."""
    return NotFound(
        ja=f"このノートブックに資料「{source}」はありません。一覧で確かめてください。",
        en=f"This notebook has no source '{source}': see the list of its sources",
    )


def _exists(connection: sqlite3.Connection, where: str, notebook_id: int | None) -> bool:
    found = f"SELECT EXISTS (SELECT 1 FROM sources WHERE notebook_id = ? AND ({where}))"
    return bool(connection.execute(found, (notebook_id,)).fetchone()[0])


def _ambiguous(name: str, rows: list[sqlite3.Row]) -> Conflict:
    candidates = ", ".join(f"{row['origin']} ({row['public_id']})" for row in rows[:NAMED_IN_MESSAGE])
    if len(rows) > NAMED_IN_MESSAGE:
        candidates += ", …"
    return Conflict(
        ja=f"「{name}」という資料は {len(rows)} 件あります。ID かパスで選んでください: {candidates}",
        en=f"There are {len(rows)} sources named '{name}': choose by id or path: {candidates}",
    )


def _summary(row: sqlite3.Row) -> SourceSummary:
    values = list(row)
    values[NOTICES] = _notices(values[NOTICES])
    for flag in FLAGS:
        values[flag] = bool(values[flag])
    return SourceSummary(*values)


@lru_cache(maxsize=64)  # most sources have none
def _notices(stored: str) -> tuple[Notice, ...]:
    """Return the notices; the first version wrote each as one string."""
    return tuple(Notice(one, one) if isinstance(one, str) else Notice(*one) for one in json.loads(stored))
