"""Reading sources: the list, one by id, name or origin, and the text as its sections hold it."""

import json
import sqlite3

from fumikura.errors import Conflict, NotFound
from fumikura.records import Section, SourceStatus, SourceSummary
from fumikura.store.notebooks import Tables, existing_notebook, find_notebook
from fumikura.store.texts import nfc

# A source is ready when every chunk has a vector of the present recipe; so a new recipe needs no update of rows.
SUMMARIES = """
SELECT sources.*, (
  SELECT count(*) FROM vectors WHERE vectors.source_id = sources.id
  AND vectors.recipe_id = (SELECT id FROM recipes WHERE present)
) AS vector_count
FROM sources
"""
NAMED_IN_MESSAGE = 5


class Catalogue(Tables):
    """The tables `sources` and `sections`, as they are read."""

    def sources(self, notebook: str) -> list[SourceSummary]:
        """Return the notebook's sources, sorted by name and origin."""
        with self._database.read() as connection:
            notebook_id = find_notebook(connection, notebook)
            rows = connection.execute(f"{SUMMARIES} WHERE notebook_id = ? ORDER BY name, origin", (notebook_id,))
            return [_summary(row) for row in rows]

    def find_source(self, notebook: str, origin: str) -> SourceSummary | None:
        """Return the source that came from `origin`, None when there is none."""
        with self._database.read() as connection:
            notebook_id = find_notebook(connection, notebook)
            row = connection.execute(
                f"{SUMMARIES} WHERE notebook_id = ? AND origin = ?", (notebook_id, nfc(origin))
            ).fetchone()
            return _summary(row) if row else None

    def get_source(self, notebook: str, source: str) -> SourceSummary:
        """Return the source of this public id, origin or name. Raises NotFound, or Conflict for an ambiguous name."""
        with self._database.read() as connection:
            row = existing_source(connection, existing_notebook(connection, notebook), source)
            return summary(connection, row)

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
    for column in ("public_id", "origin", "name"):
        rows = connection.execute(
            f"SELECT id, public_id, origin FROM sources WHERE notebook_id = ? AND {column} = ? ORDER BY origin",
            (notebook_id, nfc(source)),
        ).fetchall()
        if len(rows) > 1:
            raise _ambiguous(source, rows)
        if rows:
            return int(rows[0]["id"])
    raise NotFound(
        ja=f"このノートブックに資料「{source}」はありません。一覧で確かめてください。",
        en=f"This notebook has no source '{source}': see the list of its sources",
    )


def summary(connection: sqlite3.Connection, row: int) -> SourceSummary:
    """Return the source of this row id, which must exist."""
    return _summary(connection.execute(f"{SUMMARIES} WHERE sources.id = ?", (row,)).fetchone())


def _ambiguous(name: str, rows: list[sqlite3.Row]) -> Conflict:
    candidates = ", ".join(f"{row['origin']} ({row['public_id']})" for row in rows[:NAMED_IN_MESSAGE])
    if len(rows) > NAMED_IN_MESSAGE:
        candidates += ", …"
    return Conflict(
        ja=f"「{name}」という資料は {len(rows)} 件あります。ID かパスで選んでください: {candidates}",
        en=f"There are {len(rows)} sources named '{name}': choose by id or path: {candidates}",
    )


def _status(chunk_count: int, vector_count: int) -> SourceStatus:
    if chunk_count == 0:
        return "no_text"
    return "ready" if vector_count == chunk_count else "keyword_ready"


def _summary(row: sqlite3.Row) -> SourceSummary:
    return SourceSummary(
        source_id=row["public_id"],
        name=row["name"],
        origin=row["origin"],
        kind=row["kind"],
        title=row["title"],
        date=row["date"],
        size_bytes=row["size_bytes"],
        status=_status(row["chunk_count"], row["vector_count"]),
        chunk_count=row["chunk_count"],
        vector_count=row["vector_count"],
        encoding=row["encoding"],
        encoding_certain=bool(row["encoding_certain"]),
        sha256=row["sha256"],
        added_at=row["added_at"],
        notices=tuple(json.loads(row["notices"])),
        updated_at=row["updated_at"],
        chunk_recipe=row["chunk_recipe"],
        pinned=bool(row["pinned"]),
        included=bool(row["included"]),
    )
