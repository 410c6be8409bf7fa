"""Embed many texts so that one bad text loses only itself."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fumikura.embedders.served import BATCH_COUNT, PROBE
from fumikura.embedders.vectors import unit_vectors
from fumikura.errors import BackendError, BackendRefused, BackendReplyInvalid, InputTooLong
from fumikura.japanese import boundary
from fumikura.protocols import Embedder
from fumikura.records import Vector, Vectors


@dataclass(frozen=True, slots=True)
class EmbedFailure:
    """A text that cannot be embedded: its position among the texts, and why."""

    position: int
    error: BackendError


@dataclass(frozen=True, slots=True)
class Embedded:
    """`vectors[i]` belongs to the text at `positions[i]`; the other texts are in `failures`."""

    vectors: Vectors
    positions: tuple[int, ...]
    failures: tuple[EmbedFailure, ...]


def embed_each(embedder: Embedder, texts: Sequence[str]) -> Embedded:
    """Embed the texts; a failing batch is halved until the bad text stands alone.

    A text beyond the window is embedded in halves, whose vectors are averaged by length. Raises BackendError when the
    server itself fails: it is asked at most twice more, not once for each text.
    """
    found: dict[int, Vector] = {}
    failures: list[EmbedFailure] = []
    for start in range(0, len(texts), BATCH_COUNT):
        for position, result in _embed(embedder, texts[start : start + BATCH_COUNT], start):
            if isinstance(result, BackendError):
                failures.append(EmbedFailure(position, result))
            else:
                found[position] = result
    vectors = np.stack(list(found.values())) if found else np.zeros((0, embedder.dimension), np.float32)
    return Embedded(vectors, tuple(found), tuple(failures))


def _embed(embedder: Embedder, texts: Sequence[str], first: int) -> Iterator[tuple[int, Vector | BackendError]]:
    try:
        vectors = embedder.embed_documents(texts)
    except InputTooLong as error:
        if len(texts) == 1:
            yield first, _embed_halves(embedder, texts[0], error)
            return
    except (BackendRefused, BackendReplyInvalid) as error:
        embedder.embed_query(PROBE)
        if len(texts) == 1:
            yield first, error
            return
    else:
        yield from enumerate(vectors, start=first)
        return
    middle = len(texts) // 2
    yield from _embed(embedder, texts[:middle], first)
    yield from _embed(embedder, texts[middle:], first + middle)


def _embed_halves(embedder: Embedder, text: str, error: InputTooLong) -> Vector | BackendError:
    """Return the average of the halves' vectors, weighted by length; the error when a half cannot be embedded."""
    middle = boundary(text, len(text) // 2)
    if middle == 0:
        return error
    total = np.zeros(embedder.dimension, np.float64)
    for half in (text[:middle], text[middle:]):
        (_, vector) = next(_embed(embedder, [half], 0))
        if isinstance(vector, BackendError):
            return vector
        total += vector * np.float64(len(half))
    try:
        average: Vector = unit_vectors([total], 1, embedder.dimension, embedder.name)[0]
    except BackendReplyInvalid as opposite:  # two halves that cancel out
        return opposite
    return average
