"""Reading chunks: their text is cut out of the section, which alone stores it.

Cut in Python: SQLite's substr() ends a text at a NUL character.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from fumikura.records import Chunk, StoredChunk

CHUNKS = """
SELECT chunks.id, chunks.source_id, chunks.section_id, chunks.start, chunks."end", chunks.lead, chunks.content_sha256,
  chunks.heading_path AS own_heading_path, sections.heading_path, sections.page, sections.start AS section_start,
  sources.public_id, coalesce(sources.given_name, sources.name) AS name, sources.title, sources.date
FROM chunks JOIN sections ON sections.id = chunks.section_id JOIN sources ON sources.id = chunks.source_id
"""


@dataclass(frozen=True, slots=True)
class ChunkContent:
    """A chunk as the embedder reads it."""

    chunk_id: int
    embed_text: str
    content_sha256: str


def stored_chunks(connection: sqlite3.Connection, where: str, values: Sequence[object]) -> list[StoredChunk]:
    """Return the chunks for which the SQL condition `where` holds, in reading order."""
    return [_stored_chunk(row, text) for row, text in _rows(connection, where, values)]


def chunk_contents(connection: sqlite3.Connection, where: str, values: Sequence[object]) -> list[ChunkContent]:
    """Return what is embedded of the chunks for which the SQL condition `where` holds, in reading order."""
    return [
        ChunkContent(row["id"], _embed_text(row, text), row["content_sha256"])
        for row, text in _rows(connection, where, values)
    ]


def _rows(connection: sqlite3.Connection, where: str, values: Sequence[object]) -> list[tuple[sqlite3.Row, str]]:
    rows = connection.execute(f"{CHUNKS} WHERE {where} ORDER BY chunks.source_id, chunks.position", values).fetchall()
    wanted = json.dumps(list({row["section_id"] for row in rows}))
    texts = "SELECT id, text FROM sections WHERE id IN (SELECT value FROM json_each(?))"
    sections = dict(connection.execute(texts, (wanted,)).fetchall())
    return [(row, _cut(row, sections[row["section_id"]])) for row in rows]


def _cut(row: sqlite3.Row, section_text: str) -> str:
    return section_text[row["start"] - row["section_start"] : row["end"] - row["section_start"]]


@lru_cache(maxsize=1024)  # neighbours share it, and a search reads hundreds of chunks
def _heading_path(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _embed_text(row: sqlite3.Row, text: str) -> str:
    heading_path = _heading_path(row["own_heading_path"] or row["heading_path"])
    return Chunk(0, row["start"], row["end"], text, heading_path, row["lead"]).embed_text


def _stored_chunk(row: sqlite3.Row, text: str) -> StoredChunk:
    return StoredChunk(
        chunk_id=row["id"],
        source_row=row["source_id"],
        source_id=row["public_id"],
        source=row["name"],
        section_id=row["section_id"],
        heading_path=_heading_path(row["heading_path"]),
        page=row["page"],
        start=row["start"],
        end=row["end"],
        text=text,
        lead=row["lead"],
        title=row["title"],
        date=row["date"],
    )
