"""One order for all indexes: nearest first, equal scores by ascending id, however the engine sorts."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fumikura.errors import IndexMismatch
from fumikura.records import Ids, ScoredChunk, Vector

Scores = NDArray[np.float32]

# Engines add in different orders, so equal vectors may differ by a few 1e-7; such scores count as equal.
SCORE_DIGITS = 6


def best(ids: Ids, scores: Scores, top_k: int) -> list[ScoredChunk]:
    """Return the `top_k` best of scored ids."""
    rounded = np.round(scores.astype(np.float64), SCORE_DIGITS)
    if len(rounded) > top_k:
        # Everything that ties with the last place stays in, so that the ids decide and not the partition.
        last_place = np.partition(rounded, -top_k)[-top_k]
        kept = np.flatnonzero(rounded >= last_place)
        ids, rounded = ids[kept], rounded[kept]
    order = np.lexsort((ids, -rounded))[:top_k]
    return [ScoredChunk(int(ids[place]), float(rounded[place])) for place in order]


def best_of_engine(fetch: Callable[[int], tuple[Ids, Scores]], top_k: int, candidate_count: int) -> list[ScoredChunk]:
    """Return the `top_k` best of an engine that breaks ties its own way: ask for more until the tie has ended."""
    wanted = min(top_k + 1, candidate_count)
    while True:
        ids, scores = fetch(wanted)
        found = best(ids, scores, top_k)
        tied = len(ids) > top_k and round(float(scores.min()), SCORE_DIGITS) >= found[-1].score
        if not tied or wanted >= candidate_count:
            return found
        wanted = min(wanted * 2, candidate_count)


def check_query(query: Vector, dimension: int) -> Vector:
    """Return the query as float32. Raises IndexMismatch when its dimension is not that of the stored vectors."""
    if query.shape != (dimension,):
        raise IndexMismatch(
            ja=f"質問のベクトルは {query.shape[-1]} 次元、保存済みは {dimension} 次元です。索引を作り直してください。",
            en=f"The question's vector has {query.shape[-1]} dimensions, the stored {dimension}: rebuild the index",
        )
    return np.ascontiguousarray(query, dtype=np.float32)
