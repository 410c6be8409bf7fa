"""What is known of a chunk before passages are laid out, and copies counted once."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from fumikura.japanese import normalize
from fumikura.records import StoredChunk

_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that a search found, with its places in the ranked lists."""

    chunk: StoredChunk
    score: float
    dense_score: float | None = None
    lexical_rank: int | None = None
    also_in: tuple[str, ...] = ()


@lru_cache(maxsize=4096)  # normalising the candidates took a third of a search
def _key(text: str) -> str:
    """Return the letters and digits of a chunk in normalised spelling; its marks when it has no others."""
    return _NO_WORD.sub("", normalize(text).text) or text.strip()


def collapse_copies(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Keep the best of passages that say the same in the same words; it names the other sources.

    Only spelling, width, blanks and marks may differ: two passages that differ by one digit contradict each other,
    and the reader must see both.
    """
    kept: dict[str, Candidate] = {}
    sources: dict[str, set[str]] = {}
    for candidate in candidates:
        key = _key(candidate.chunk.text)
        if key not in kept:
            kept[key], sources[key] = candidate, {candidate.chunk.source_id}
        elif candidate.chunk.source_id not in sources[key]:
            sources[key].add(candidate.chunk.source_id)
            kept[key] = replace(kept[key], also_in=(*kept[key].also_in, candidate.chunk.source))
    return list(kept.values())
