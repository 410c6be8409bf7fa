"""Chooses the sentences of a passage that a citation quotes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fumikura.grounding.features import Claim, Features, coverage, features
from fumikura.japanese import sentences
from fumikura.records import Citation, Passage

LONGEST_QUOTE = 3  # sentences
SENTENCE_COST = 0.1  # a further sentence must hold this much more of the claim
QUESTION_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    end: int
    features: Features


class Quoter:
    """Makes citations from passages; reads each passage once."""

    def __init__(self, question: Claim) -> None:
        self._question = question
        self._sentences: dict[int, list[_Sentence]] = {}

    def cite(self, passage: Passage, wanted: Claim) -> Citation:
        """Return the citation whose quote is the shortest run of sentences that holds most of the claim."""
        start, end = self._best_span(passage, wanted)
        return Citation(
            n=passage.n,
            source_id=passage.source_id,
            source=passage.source,
            heading=" / ".join(passage.heading_path),
            page=passage.page,
            start=passage.start + start,
            end=passage.start + end,
            quote=passage.text[start:end],
            via=passage.via,
        )

    def _best_span(self, passage: Passage, wanted: Claim) -> tuple[int, int]:
        read = self._read(passage)
        # Runs begin and end with a sentence that holds something: of a whole pinned source only few do.
        telling = [self._score(wanted, (one.features,)) > 0 for one in read]
        best, best_score = (0, 0), -1.0
        for first, last in _runs(telling):
            score = self._score(wanted, tuple(one.features for one in read[first : last + 1]))
            score -= SENTENCE_COST * (last - first)
            if score > best_score + 1e-9:
                best, best_score = (first, last), score
        return read[best[0]].start, read[best[1]].end

    def _score(self, wanted: Claim, window: tuple[Features, ...]) -> float:
        return coverage(wanted, window) + QUESTION_SHARE * coverage(self._question, window)

    def _read(self, passage: Passage) -> list[_Sentence]:
        if passage.n not in self._sentences:
            self._sentences[passage.n] = [
                _Sentence(start, end, features(passage.text[start:end])) for start, end in sentences(passage.text)
            ]
        return self._sentences[passage.n]


def _runs(telling: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield the first and last index of every run of at most LONGEST_QUOTE sentences."""
    for first in (index for index, tells in enumerate(telling) if tells):
        for last in range(first, min(first + LONGEST_QUOTE, len(telling))):
            if telling[last]:
                yield first, last
