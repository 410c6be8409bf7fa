"""Vectors as float32 blobs beside their chunks, and what an index asks about them (protocols.VectorReader)."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from fumikura.errors import BackendReplyInvalid
from fumikura.records import Ids, Vector, VectorRows, Vectors
from fumikura.store.chunks import ChunkContent, chunk_contents
from fumikura.store.notebooks import Tables, count_change, find_notebook, list_anew
from fumikura.store.recipes import check_dimension, recipe_row
from fumikura.store.texts import nfc

FLOAT = np.dtype("<f4")
PRESENT = (
    "FROM vectors WHERE notebook_id = (SELECT id FROM notebooks WHERE name = ?)"
    " AND recipe_id = (SELECT id FROM recipes WHERE present)"
)
OF_CHUNKS = "id IN (SELECT source_id FROM chunks WHERE id IN (SELECT value FROM json_each(?)))"


class StoredVectors(Tables):
    """The table `vectors`. Indexes read the present recipe; writing names a recipe."""

    def vector_ids(self, notebook: str) -> Ids:
        """Return the chunk ids that have a vector of the present recipe, ascending."""
        with self._database.read() as connection:
            rows = connection.execute(f"SELECT chunk_id {PRESENT} ORDER BY chunk_id", (nfc(notebook),))
            return np.fromiter((row[0] for row in rows), np.int64)

    def read_vectors(self, notebook: str, ids: Ids | None = None) -> VectorRows:
        """Return the vectors of the present recipe of `ids` (all when None), ascending by chunk id."""
        where, values = PRESENT, [nfc(notebook)]
        if ids is not None:
            where += " AND chunk_id IN (SELECT value FROM json_each(?))"
            values.append(json.dumps(ids.tolist()))
        with self._database.read() as connection:
            rows = connection.execute(f"SELECT chunk_id, source_id, vector {where} ORDER BY chunk_id", values)
            return _vector_rows(rows)

    def vectors_by_hash(self, notebook: str, recipe: str, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors that the notebook holds for these `content_sha256`; unknown ones are left out."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT content_sha256, vector FROM vectors JOIN recipes ON recipes.id = recipe_id"
                " WHERE notebook_id = ? AND recipe = ? AND content_sha256 IN (SELECT value FROM json_each(?))",
                (find_notebook(connection, notebook), recipe, json.dumps(list(hashes))),
            )
            return {row["content_sha256"]: np.frombuffer(row["vector"], FLOAT) for row in rows}

    def pending_chunks(self, notebook: str, recipe: str, limit: int, after_id: int = 0) -> list[ChunkContent]:
        """Return up to `limit` chunks beyond `after_id` without a vector of `recipe`, in reading order."""
        missing = (
            "chunks.id IN (SELECT id FROM chunks WHERE notebook_id = ? AND id > ? AND NOT EXISTS"
            " (SELECT 1 FROM vectors WHERE chunk_id = chunks.id"
            " AND recipe_id = (SELECT id FROM recipes WHERE recipe = ?)) ORDER BY id LIMIT ?)"
        )
        with self._database.read() as connection:
            return chunk_contents(connection, missing, [find_notebook(connection, notebook), after_id, recipe, limit])

    def pending_count(self, notebook: str, recipe: str) -> int:
        """Return how many chunks have no vector of `recipe`."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT count(*) FROM chunks WHERE notebook_id = ? AND NOT EXISTS (SELECT 1 FROM vectors"
                " WHERE chunk_id = chunks.id AND recipe_id = (SELECT id FROM recipes WHERE recipe = ?))",
                (find_notebook(connection, notebook), recipe),
            ).fetchone()
            return int(row[0])

    def put_vectors(self, notebook: str, recipe: str, chunks: Sequence[ChunkContent], vectors: Vectors) -> int:
        """Store vectors, shape (len(chunks), dimension), and return how many chunks still wanted theirs.

        Chunks that were replaced or deleted meanwhile are passed over; a chunk's stored vector never changes.
        Raises BackendReplyInvalid (wrong shape, NaN) or IndexMismatch (another dimension than before).
        """
        matrix = _checked(vectors, len(chunks))
        with self._database.write() as connection:
            notebook_id = find_notebook(connection, notebook)
            row = recipe_row(connection, recipe)
            check_dimension(connection, row, matrix.shape[1])
            before = connection.total_changes
            connection.executemany(
                "INSERT OR IGNORE INTO vectors (notebook_id, source_id, chunk_id, recipe_id, content_sha256, vector)"
                " SELECT notebook_id, source_id, id, ?, content_sha256, ? FROM chunks"
                " WHERE id = ? AND notebook_id = ? AND content_sha256 = ?",
                [
                    (row, vector.tobytes(), chunk.chunk_id, notebook_id, chunk.content_sha256)
                    for chunk, vector in zip(chunks, matrix, strict=True)
                ],
            )
            stored = connection.total_changes - before
            if notebook_id is not None and stored:
                count_change(connection, notebook_id)
                if count_vectors(connection, OF_CHUNKS, [json.dumps([chunk.chunk_id for chunk in chunks])]):
                    list_anew(connection, notebook_id)
            return stored


def count_vectors(connection: sqlite3.Connection, where: str, values: Sequence[object]) -> bool:
    """Count anew the present vectors of the sources for which `where` holds; whether one of them is ready."""
    rows = connection.execute(
        "UPDATE sources SET vector_count = (SELECT count(*) FROM vectors WHERE source_id = sources.id"
        f" AND recipe_id = (SELECT id FROM recipes WHERE present)) WHERE {where}"
        " RETURNING vector_count = chunk_count AS ready",
        values,
    ).fetchall()
    return any(row["ready"] for row in rows)


def insert_by_hash(
    connection: sqlite3.Connection, source_row: int, recipe_id: int, vectors: Mapping[str, Vector]
) -> None:
    """Store the given vectors at those chunks of the source that have their `content_sha256`."""
    matrix = _checked(list(vectors.values()), len(vectors))
    check_dimension(connection, recipe_id, matrix.shape[1])
    connection.executemany(
        "INSERT OR IGNORE INTO vectors (notebook_id, source_id, chunk_id, recipe_id, content_sha256, vector)"
        " SELECT notebook_id, source_id, id, ?, content_sha256, ? FROM chunks"
        " WHERE source_id = ? AND content_sha256 = ?",
        [
            (recipe_id, vector.tobytes(), source_row, content_sha256)
            for content_sha256, vector in zip(vectors, matrix, strict=True)
        ],
    )


def carry_over(connection: sqlite3.Connection, source_row: int) -> None:
    """Give the source's chunks the vectors, of every recipe, that the notebook holds for the same content."""
    connection.execute(
        "INSERT OR IGNORE INTO vectors (notebook_id, source_id, chunk_id, recipe_id, content_sha256, vector)"
        " SELECT chunks.notebook_id, chunks.source_id, chunks.id, known.recipe_id, known.content_sha256, known.vector"
        " FROM chunks JOIN vectors AS known"
        " ON known.notebook_id = chunks.notebook_id AND known.content_sha256 = chunks.content_sha256"
        " WHERE chunks.source_id = ? GROUP BY chunks.id, known.recipe_id",
        (source_row,),
    )


def _checked(vectors: Vectors | Sequence[Vector], count: int) -> Vectors:
    matrix = np.ascontiguousarray(vectors, dtype=FLOAT)
    if matrix.ndim == 2 and len(matrix) == count and bool(np.isfinite(matrix).all()):
        return matrix
    raise BackendReplyInvalid(
        ja=f"埋め込みの結果が正しくありません（形 {matrix.shape}、必要な件数 {count}、または NaN）。"
        "埋め込みサーバーを確かめてください。",
        en=f"Invalid vectors (shape {matrix.shape}, {count} wanted, or NaN): check the embedding server",
    )


def _vector_rows(rows: Iterable[sqlite3.Row]) -> VectorRows:
    ids: list[int] = []
    sources: list[int] = []
    blobs = bytearray()
    for chunk_id, source_id, vector in rows:
        ids.append(chunk_id)
        sources.append(source_id)
        blobs += vector
    dimension = len(blobs) // FLOAT.itemsize // len(ids) if ids else 0
    matrix = np.frombuffer(blobs, FLOAT).reshape(len(ids), dimension)
    return VectorRows(np.array(ids, np.int64), np.array(sources, np.int64), matrix)
