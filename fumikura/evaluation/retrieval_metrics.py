"""How well passages cover the evidence of a question: recall@k, MRR, nDCG@k, and whether it reached the prompt.

A piece of evidence counts as found at rank r when the passages of ranks 1 to r cover it: its words lie inside one of
them, or inside neighbours that touch (evidence cut at a chunk's border). Metrics of a case without evidence are None:
an `unknown` question has nothing to find and takes no part in the means.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import Protocol

from fumikura.evaluation.cases import Evidence

Span = tuple[int, int]
Ranks = tuple[int | None, ...]  # for each piece of evidence the rank at which it is found, None: not at all


class TextPassage(Protocol):
    """A slice of a source as `records.Hit` and `records.Passage` have it."""

    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def start(self) -> int: ...  # noqa: D102
    @property
    def end(self) -> int: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class LocatedEvidence:
    """Evidence with every place of its source where the quote stands."""

    source: str
    quote: str
    spans: tuple[Span, ...]


def locate(evidence: Iterable[Evidence], texts: Mapping[str, str]) -> tuple[LocatedEvidence, ...]:
    """Return the evidence with its offsets in the sources' extracted texts."""
    return tuple(
        LocatedEvidence(piece.source, piece.quote, tuple(_spans(piece.quote, texts.get(piece.source, ""))))
        for piece in evidence
    )


def _spans(quote: str, text: str) -> Iterable[Span]:
    start = text.find(quote)
    while start >= 0:
        yield start, start + len(quote)
        start = text.find(quote, start + 1)


def covers(passages: Sequence[TextPassage], piece: LocatedEvidence) -> bool:
    """Tell whether the passages hold the evidence, one alone or several that touch."""
    own = [passage for passage in passages if _is_of(passage.source, piece.source)]
    if any(piece.quote in passage.text for passage in own):
        return True
    merged = _merge((passage.start, passage.end) for passage in own)
    return any(low <= start and end <= high for start, end in piece.spans for low, high in merged)


def _is_of(name: str, source: str) -> bool:
    return name == source or name.endswith("/" + source)  # a name lengthened by its folder


def _merge(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def evidence_ranks(evidence: Sequence[LocatedEvidence], hits: Sequence[TextPassage]) -> Ranks:
    """Return for each piece of evidence the first rank (from 1) at which the hits so far cover it."""
    return tuple(
        next((rank for rank in range(1, len(hits) + 1) if covers(hits[:rank], piece)), None) for piece in evidence
    )


def recall_at(ranks: Ranks, k: int) -> float | None:
    """Return the share of the evidence that the first `k` hits cover."""
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks) if ranks else None


def reciprocal_rank(ranks: Ranks) -> float | None:
    """Return 1/rank of the first evidence found, 0 when none is."""
    found = [rank for rank in ranks if rank is not None]
    return (1 / min(found) if found else 0.0) if ranks else None


def ndcg_at(ranks: Ranks, k: int) -> float | None:
    """Return nDCG over hits that are relevant when they complete evidence; 1 when those come first.

    The ideal list has the same relevant hits at the top, and one more for each piece of evidence never found.
    """
    if not ranks:
        return None
    relevant = {rank for rank in ranks if rank is not None}
    ideal = len(relevant) + ranks.count(None)
    return sum(_discount(rank) for rank in relevant if rank <= k) / sum(
        _discount(rank) for rank in range(1, min(ideal, k) + 1)
    )


def _discount(rank: int) -> float:
    return 1 / log2(rank + 1)


def reached_prompt(evidence: Sequence[LocatedEvidence], passages: Sequence[TextPassage]) -> float | None:
    """Return the share of the evidence that the passages given to the model hold, at whatever place."""
    return sum(covers(passages, piece) for piece in evidence) / len(evidence) if evidence else None


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
