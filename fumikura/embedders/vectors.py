"""From what a backend returned to vectors that may be stored: finite, of one dimension, of length 1."""

from collections.abc import Sequence

import numpy as np

from fumikura.errors import BackendReplyInvalid
from fumikura.records import Vectors


def unit_vectors(rows: Sequence[object] | Vectors, count: int, dimension: int | None, name: str) -> Vectors:
    """Return shape (count, dimension), float32, each row of length 1.

    `dimension` None accepts any. Raises BackendReplyInvalid, which names the embedder and the first wrong position.
    """
    if len(rows) != count:
        raise BackendReplyInvalid(
            ja=f"{name} が {count} 件に対して {len(rows)} 件のベクトルを返しました。サーバーのログを確認してください。",
            en=f"{name} returned {len(rows)} vectors for {count} texts: look at the server's log",
        )
    if count == 0:
        return np.zeros((0, dimension or 0), np.float32)
    vectors = np.stack([_row(row, position, name) for position, row in enumerate(rows, start=1)])
    if dimension is not None and vectors.shape[1] != dimension:
        raise BackendReplyInvalid(
            ja=f"{name} の次元が {dimension} から {vectors.shape[1]} に変わりました。索引を作り直してください。",
            en=f"The dimension of {name} changed from {dimension} to {vectors.shape[1]}: rebuild the index",
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / lengths, np.float32)


def _row(row: object, position: int, name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    try:
        vector = np.asarray(row, np.float64)
    except (TypeError, ValueError) as error:
        raise _unusable(name, position, "not a list of numbers") from error
    if vector.ndim != 1 or vector.size == 0:
        raise _unusable(name, position, "not a list of numbers")
    if not np.isfinite(vector).all():
        raise _unusable(name, position, "NaN or infinity")
    if not vector.any():
        raise _unusable(name, position, "all zeros")
    return vector


def same_dimension(vectors: Sequence[Vectors], name: str) -> Vectors:
    """Join batches. Raises BackendReplyInvalid when the model was exchanged between two of them."""
    dimensions = sorted({batch.shape[1] for batch in vectors})
    if len(dimensions) > 1:
        raise BackendReplyInvalid(
            ja=f"{name} のベクトルの次元が途中で変わりました: {dimensions}。索引を作り直してください。",
            en=f"The dimension of {name} changed on the way: {dimensions}. Rebuild the index",
        )
    return np.concatenate(vectors)


def _unusable(name: str, position: int, what: str) -> BackendReplyInvalid:
    return BackendReplyInvalid(
        ja=f"{name} が {position} 番目の文章に使えないベクトルを返しました（{what}）。文章かモデルを確かめてください。",
        en=f"{name} returned an unusable vector for text {position} ({what}): check the text or the model",
    )
