"""Exact search in memory: one matrix a notebook, one product a question. The same result every time."""

import threading
from collections.abc import Collection

import numpy as np

from fumikura.indexes.mirror import Mirror, apply, difference, in_step
from fumikura.indexes.ranking import Scores, best, check_query
from fumikura.protocols import VectorReader
from fumikura.records import ScoredChunk, Vector, VectorRows, Vectors

# One product of this many numbers stays on one thread. A larger one is split over all cores by BLAS and then waits
# for the slowest: beside a generator that keeps them busy, p95 over 5,000 rows was 20 ms, in blocks 0.7 ms.
BLOCK_SIZE = 384_000
NO_ROWS = VectorRows(np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, 0), np.float32))


class ExactIndex:
    """Inner products with every vector of the notebook (100,000 of 384 dimensions: 154 MB, 8 ms a question)."""

    name = "exact"

    def __init__(self, reader: VectorReader) -> None:
        self._reader = reader
        self._mirrors: dict[str, Mirror] = {}
        self._lock = threading.Lock()

    def search(
        self, notebook: str, query: Vector, top_k: int, source_rows: Collection[int] | None = None
    ) -> list[ScoredChunk]:
        """Return up to `top_k` chunks, nearest first. Raises IndexMismatch (dimension) or StoreError."""
        rows = self._current(notebook)
        if not len(rows.ids) or top_k < 1:
            return []
        query = check_query(query, rows.vectors.shape[1])
        if source_rows is None:
            return best(rows.ids, _products(rows.vectors, query), top_k)
        allowed = np.flatnonzero(np.isin(rows.sources, list(source_rows)))
        return best(rows.ids[allowed], _products(rows.vectors[allowed], query), top_k)

    def refresh(self, notebook: str) -> None:
        """Bring the matrix in step with the store."""
        self._current(notebook)

    def _current(self, notebook: str) -> VectorRows:
        with self._lock:
            mirror = self._mirrors.get(notebook, Mirror("", -1, NO_ROWS))
            if not in_step(self._reader, notebook, mirror.space, mirror.revision):
                change = difference(self._reader, notebook, mirror.space, mirror.rows.ids)
                new = self._reader.read_vectors(notebook, change.added) if len(change.added) else NO_ROWS
                mirror = Mirror(change.space, change.revision, apply(mirror.rows, change, new))
                self._mirrors[notebook] = mirror
            return mirror.rows


def _products(vectors: Vectors, query: Vector) -> Scores:
    scores = np.empty(len(vectors), np.float32)
    step = max(1, BLOCK_SIZE // len(query))
    for start in range(0, len(vectors), step):
        np.dot(vectors[start : start + step], query, out=scores[start : start + step])
    return scores
