"""Ties a claim to the passages that support it, by the words, names and numbers that both hold.

Lexical, so it cannot tell 「必要です」 from 「必要ありません」, nor a right from a wrong use of a passage's own words;
it does notice names, weekdays and numbers that no passage holds, numbers that a passage says of something else, and
marks that point to the wrong passage.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fumikura.grounding.features import (
    OTHER_LANGUAGE,
    Claim,
    Features,
    coverage,
    features,
    missing_numbers,
    with_number_words,
)
from fumikura.grounding.names import COMMON_LATIN, has_weekday
from fumikura.grounding.windows import Windows
from fumikura.records import Passage

SUPPORT_THRESHOLD = 0.5
"""Least share of a claim's weight that its passages must hold. See tests/grounding/test_measured.py for the rates."""

MARK_TOLERANCE = 0.2  # the model's own choice stands while no passage holds this much more of the claim
QUESTION_SHARE = 0.05  # breaks ties: of two passages with the same 26名, the one that is about the question
MOST_PASSAGES = 3  # for one sentence that joins several
LEAST_GAIN = 0.15  # of the claim, by a further passage
SHORTEST_COPY = 8  # characters of a sentence that a passage holds as it is
FOREIGN_SHARE = 0.15  # of Japanese letters: code under a Japanese heading has more, an English note less

_BLANK = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage and what it holds: heading path, date and lead count as much as its text."""

    passage: Passage
    features: Features
    spaceless: str  # names are written with and without a blank
    windows: Windows


def evidence_of(passage: Passage) -> Evidence:
    """Return the passage with its features."""
    parts = (passage.title, *passage.heading_path, passage.date or "", passage.lead, passage.text)
    found = with_number_words(features("\n".join(part for part in parts if part)))
    return Evidence(passage, found, _BLANK.sub("", found.text), Windows(passage))


def supporting(wanted: Claim, marks: Sequence[int], evidence: Sequence[Evidence], question: Claim) -> tuple[int, ...]:
    """Return the numbers of the passages that support the claim, () when none does.

    The passages that the model marked are kept while they support it; else the best one, else the fewest together.
    """
    if wanted.is_empty or _invents_names(wanted, evidence, question) or _denies_what_is_there(wanted, evidence):
        return ()
    return (
        _single(wanted, marks, evidence, question)
        or _together(wanted, marks, evidence)
        or _across_languages(wanted, marks, evidence, question)
    )


def _single(wanted: Claim, marks: Sequence[int], evidence: Sequence[Evidence], question: Claim) -> tuple[int, ...]:
    """Return passages that each support the whole claim."""
    scores: dict[int, float] = {}
    for one in evidence:
        share = coverage(wanted, (one.features,))
        if share >= SUPPORT_THRESHOLD and _holds_exact(wanted, (one,)):
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
    if held < SUPPORT_THRESHOLD or not _holds_exact(wanted, chosen):
        return ()
    return tuple(one.passage.n for one in chosen)


def _across_languages(
    wanted: Claim, marks: Sequence[int], evidence: Sequence[Evidence], question: Claim
) -> tuple[int, ...]:
    """Support a claim by passages of another language only, where words cannot be compared.

    Numbers, weekdays and addresses must be found, and one number, Latin name or address must tie the two. Without
    one the model's mark is trusted, if the question explains why it answers in this language.
    """
    if not wanted.words or not evidence or not all(_is_foreign(wanted, one.features) for one in evidence):
        return ()
    fitting = [one for one in evidence if _holds_facts(wanted, (one,)) and not missing_numbers(wanted, (one.features,))]
    tied = [one for one in fitting if wanted.numbers or wanted.addresses or _shares_name(wanted, one.features)]
    marked = tuple(n for n in marks if n in {one.passage.n for one in tied})
    if marked:
        return marked
    if tied:
        return (max(tied, key=lambda one: coverage(wanted, (one.features,))).passage.n,)
    if not question.words or _is_latin(question) != _is_latin(wanted):
        return ()
    return tuple(n for n in marks if n in {one.passage.n for one in fitting})


def _holds_exact(wanted: Claim, evidence: Sequence[Evidence]) -> bool:
    """Whether every number of the claim is said of the same thing, and every name, weekday and address occurs."""
    if len(wanted.text) >= SHORTEST_COPY and any(wanted.text in one.spaceless for one in evidence):
        return True
    return (
        _holds_facts(wanted, evidence)
        and all(any(name in one.spaceless for one in evidence) for name in wanted.names)
        and (_is_latin(wanted) or all(any(word in one.features.words for one in evidence) for word in wanted.latin))
        and all(any(one.windows.hold(wanted, subject) for one in evidence) for subject in wanted.subjects)
    )


def _denies_what_is_there(wanted: Claim, evidence: Sequence[Evidence]) -> bool:
    """Whether a sentence only denies numbers (3,000円ではありません), and a passage says just those."""
    return (
        bool(wanted.denied)
        and not wanted.subjects
        and all(any(one.windows.hold(wanted, subject) for one in evidence) for subject in wanted.denied)
    )


def _holds_facts(wanted: Claim, evidence: Sequence[Evidence]) -> bool:
    """Whether weekdays and addresses occur: a link that no source holds may carry words out."""
    return all(any(address in one.features.text for one in evidence) for address in wanted.addresses) and all(
        any(has_weekday(one.features.text, day) for one in evidence) for day in wanted.weekdays
    )


def _invents_names(wanted: Claim, evidence: Sequence[Evidence], question: Claim) -> bool:
    """Whether an English sentence names someone of whom neither the passages nor the question speak."""
    return any(
        name not in question.words and not any(name in one.features.words for one in evidence)
        for name in wanted.capitals
    )


def _shares_name(wanted: Claim, held: Features) -> bool:
    return any(len(word) > 1 and word not in COMMON_LATIN and word in held.words for word in wanted.latin)


def _is_latin(wanted: Claim) -> bool:
    return wanted.japanese_share < OTHER_LANGUAGE


def _is_foreign(wanted: Claim, held: Features) -> bool:
    return _is_latin(wanted) == (held.japanese_share >= FOREIGN_SHARE)


def _features(evidence: Sequence[Evidence]) -> tuple[Features, ...]:
    return tuple(one.features for one in evidence)
