"""Score an answer 0, 1 or 2 by its case's rubric: the same answer always gets the same score, with its reasons.

| question | status | points |
|---|---|---|
| `unknown` | `not_in_sources` | 2 |
| `unknown` | `partly` | 1 (says that something is missing, offers something as an answer); a forbidden claim: 0 |
| `unknown` | `answered` | 0 |
| any other | `not_in_sources` | 0 |
| any other | `answered`, `partly` | by the facet groups that the text hits, capped by forbidden claims |

`partly` is no reason for a deduction by itself: an answer that says all that the rubric asks is complete.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from fumikura.evaluation.cases import Case, FacetGroup, Rubric
from fumikura.evaluation.patterns import matching_text, says
from fumikura.records import AnswerStatus, Notice

Points = Literal[0, 1, 2]
_POINTS: tuple[Points, ...] = (0, 1, 2)


class Reply(Protocol):
    """What is scored: `records.Answer`, or anything with its status and text."""

    @property
    def status(self) -> AnswerStatus: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class PlainReply:
    """A status and a text without citations and receipt."""

    status: AnswerStatus
    text: str


@dataclass(frozen=True, slots=True)
class Score:
    """The points of one answer and why: positions of the groups hit and missed, forbidden patterns found."""

    points: Points
    reasons: tuple[Notice, ...]
    hit: tuple[int, ...] = ()
    missed: tuple[int, ...] = ()
    forbidden: tuple[str, ...] = ()


def score(case: Case, reply: Reply) -> Score:
    """Return the points of `reply` with the reasons."""
    if not case.answerable:
        return _score_unknown(case.rubric, reply)
    if reply.status == "not_in_sources":
        return Score(0, (Notice("資料にある答えを、ないとした", "refused, but the sources hold the answer"),))
    return _score_facets(case.rubric, matching_text(reply.text))


def _score_unknown(rubric: Rubric, reply: Reply) -> Score:
    if reply.status == "not_in_sources":
        return Score(2, (Notice("資料にないことを、ないとした", "refused, and the sources hold no answer"),))
    claims = _claims(rubric, matching_text(reply.text))
    if reply.status == "partly" and not claims:
        return Score(1, (Notice("一部だけ、ないとした", "said only in part that it is not there"),))
    return Score(
        0, (Notice("資料にないことに答えた", "answered what no source says"), *_claim_reasons(claims)), (), (), claims
    )


def _score_facets(rubric: Rubric, text: str) -> Score:
    hit = tuple(n for n, group in enumerate(rubric.groups) if _says_any(text, group))
    missed = tuple(n for n in range(len(rubric.groups)) if n not in hit)
    claims = _claims(rubric, text)
    points = _facet_points(rubric, hit)
    if claims:
        points = _POINTS[min(points, rubric.cap)]
    return Score(points, (_facet_reason(rubric, hit, missed), *_claim_reasons(claims)), hit, missed, claims)


def _facet_points(rubric: Rubric, hit: tuple[int, ...]) -> Points:
    if len(hit) >= rubric.full and set(range(rubric.required)) <= set(hit):
        return 2
    return 1 if rubric.half and len(hit) >= rubric.half else 0


def _says_any(text: str, group: FacetGroup) -> bool:
    return any(says(text, pattern) for pattern in group.patterns)


def _claims(rubric: Rubric, text: str) -> tuple[str, ...]:
    return tuple(pattern for pattern in rubric.forbidden if says(text, pattern))


def _facet_reason(rubric: Rubric, hit: tuple[int, ...], missed: tuple[int, ...]) -> Notice:
    absent = ", ".join(rubric.groups[n].patterns[0] for n in missed)
    total = len(rubric.groups)
    missing_ja, missing_en = (f"、ないもの：{absent}", f"; missing: {absent}") if absent else ("", "")
    return Notice(f"要点 {total} のうち {len(hit)}{missing_ja}", f"{len(hit)} of {total} facets{missing_en}")


def _claim_reasons(claims: tuple[str, ...]) -> tuple[Notice, ...]:
    return tuple(Notice(f"誤った主張：{claim}", f"forbidden claim: {claim}") for claim in claims)
