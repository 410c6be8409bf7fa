"""Ties a claim to the passages that support it, by the words and numbers that both hold.

Lexical, so it cannot tell 「必要です」 from 「必要ありません」, nor a right from a wrong use of a passage's own words;
it does notice names, places and numbers that no passage holds, and marks that point to the wrong passage.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fumikura.grounding.features import Claim, Features, coverage, features, holds_exact, with_number_words
from fumikura.records import Passage

SUPPORT_THRESHOLD = 0.5
"""Least share of a claim's weight that its passages must hold. See tests/grounding/test_measured.py for the rates."""

MARK_TOLERANCE = 0.2  # the model's own choice stands while no passage holds this much more of the claim
QUESTION_SHARE = 0.05  # breaks ties: of two passages with the same 26名, the one that is about the question
MOST_PASSAGES = 3  # for one sentence that joins several
LEAST_GAIN = 0.15  # of the claim, by a further passage
OTHER_LANGUAGE = 0.3  # less Japanese than this on one side only: words cannot be compared


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage and what it holds: heading path, date and lead count as much as its text."""

    passage: Passage
    features: Features


def evidence_of(passage: Passage) -> Evidence:
    """Return the passage with its features."""
    parts = (passage.title, *passage.heading_path, passage.date or "", passage.lead, passage.text)
    return Evidence(passage, with_number_words(features("\n".join(part for part in parts if part))))


def supporting(wanted: Claim, marks: Sequence[int], evidence: Sequence[Evidence], question: Claim) -> tuple[int, ...]:
    """Return the numbers of the passages that support the claim, () when none does.

    The passages that the model marked are kept while they support it; else the best one, else the fewest together.
    """
    if wanted.is_empty:
        return ()
    foreign = tuple(one for one in evidence if _other_language(wanted, one.features))
    own = tuple(one for one in evidence if not _other_language(wanted, one.features))
    return (
        _single(wanted, marks, own, question)
        or _together(wanted, marks, own)
        or _across_languages(wanted, marks, foreign)
    )


def _single(wanted: Claim, marks: Sequence[int], evidence: Sequence[Evidence], question: Claim) -> tuple[int, ...]:
    """Return passages that each support the whole claim."""
    scores: dict[int, float] = {}
    for one in evidence:
        share = coverage(wanted, (one.features,))
        if share >= SUPPORT_THRESHOLD and holds_exact(wanted, (one.features,)):
            scores[one.passage.n] = share + QUESTION_SHARE * coverage(question, (one.features,))
    if not scores:
        return ()
    best = max(scores, key=lambda n: (scores[n], n in marks))
    marked = tuple(n for n in marks if n in scores and scores[n] >= scores[best] - MARK_TOLERANCE)
    return marked or (best,)


def _together(wanted: Claim, marks: Sequence[int], evidence: Sequence[Evidence]) -> tuple[int, ...]:
    """Return few passages that support the claim between them, chosen greedily by what each adds."""
    chosen: list[Evidence] = []
    held = 0.0
    while len(chosen) < MOST_PASSAGES:
        rest = [one for one in evidence if one not in chosen]
        gains = [(coverage(wanted, _features([*chosen, one])) - held, one.passage.n in marks, one) for one in rest]
        best = max(gains, key=lambda gain: (gain[0], gain[1]), default=None)
        if best is None or best[0] < LEAST_GAIN:
            break
        chosen.append(best[2])
        held += best[0]
    found = _features(chosen)
    if held < SUPPORT_THRESHOLD or not holds_exact(wanted, found):
        return ()
    return tuple(one.passage.n for one in chosen)


def _across_languages(wanted: Claim, marks: Sequence[int], evidence: Sequence[Evidence]) -> tuple[int, ...]:
    """Trust the model's mark where words cannot be compared, as long as every number is found.

    Without a mark: the passage that shares numbers or names, or the only one given.
    """
    fitting = [one for one in evidence if holds_exact(wanted, (one.features,))]
    marked = tuple(one.passage.n for one in fitting if one.passage.n in marks)
    if marked or not fitting:
        return marked
    best = max(fitting, key=lambda one: coverage(wanted, (one.features,)))
    return (best.passage.n,) if len(evidence) == 1 or coverage(wanted, (best.features,)) > 0 else ()


def _features(evidence: Sequence[Evidence]) -> tuple[Features, ...]:
    return tuple(one.features for one in evidence)


def _other_language(wanted: Claim, held: Features) -> bool:
    return (wanted.japanese_share < OTHER_LANGUAGE) != (held.japanese_share < OTHER_LANGUAGE)
