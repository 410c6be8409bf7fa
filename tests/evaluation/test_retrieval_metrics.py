"""Metrics of evidence against ranked passages, on texts small enough to count by hand."""

from dataclasses import dataclass
from math import log2

import pytest

from fumikura.evaluation import Evidence
from fumikura.evaluation.retrieval_metrics import (
    evidence_ranks,
    locate,
    mean,
    ndcg_at,
    reached_prompt,
    recall_at,
    reciprocal_rank,
)

TEXT = "甲は朝に来た。乙は昼に来た。丙は夜に来た。"


@dataclass(frozen=True)
class Slice:
    start: int
    end: int
    source: str = "a.md"

    @property
    def text(self) -> str:
        return TEXT[self.start : self.end]


MORNING, NOON, NIGHT = Slice(0, 7), Slice(7, 14), Slice(14, 21)
EVIDENCE = locate([Evidence("a.md", "甲は朝"), Evidence("a.md", "丙は夜")], {"a.md": TEXT})


def test_evidence_is_located_wherever_it_stands() -> None:
    (piece,) = locate([Evidence("a.md", "に来た")], {"a.md": TEXT})
    assert piece.spans == ((3, 6), (10, 13), (17, 20))


def test_ranks_and_the_metrics_made_of_them() -> None:
    ranks = evidence_ranks(EVIDENCE, [NOON, MORNING, NIGHT])
    assert ranks == (2, 3)
    assert [recall_at(ranks, k) for k in (1, 2, 3)] == [0, 0.5, 1]
    assert reciprocal_rank(ranks) == 0.5
    ideal = 1 + 1 / log2(3)
    assert ndcg_at(ranks, 3) == pytest.approx((1 / log2(3) + 1 / log2(4)) / ideal)


def test_evidence_that_is_never_found_lowers_all() -> None:
    ranks = evidence_ranks(EVIDENCE, [MORNING, NOON])
    assert ranks == (1, None)
    assert recall_at(ranks, 5) == 0.5
    assert reciprocal_rank(ranks) == 1
    assert ndcg_at(ranks, 5) == pytest.approx(1 / (1 + 1 / log2(3)))
    assert reciprocal_rank(evidence_ranks(EVIDENCE, [NOON])) == 0


def test_one_passage_with_all_evidence_first_is_perfect() -> None:
    ranks = evidence_ranks(EVIDENCE, [Slice(0, 21), NOON])
    assert ranks == (1, 1)
    assert ndcg_at(ranks, 1) == recall_at(ranks, 1) == 1


def test_evidence_cut_at_a_border_is_found_when_both_sides_are() -> None:
    cut = locate([Evidence("a.md", "来た。乙")], {"a.md": TEXT})
    assert evidence_ranks(cut, [NOON, NIGHT, MORNING]) == (3,)
    assert evidence_ranks(cut, [MORNING, NIGHT]) == (None,)


def test_the_same_words_in_another_source_do_not_count() -> None:
    assert evidence_ranks(EVIDENCE, [Slice(0, 21, "b.md"), Slice(0, 21, "aa.md")]) == (None, None)
    assert evidence_ranks(EVIDENCE, [Slice(0, 21, "folder/a.md")]) == (1, 1)


def test_reached_the_prompt_knows_no_ranks() -> None:
    assert reached_prompt(EVIDENCE, [NOON, NIGHT]) == 0.5
    assert reached_prompt(EVIDENCE, [NIGHT, MORNING]) == 1


def test_a_question_without_evidence_takes_no_part() -> None:
    values = (recall_at((), 5), reciprocal_rank(()), ndcg_at((), 5), reached_prompt((), [NOON]))
    assert values == (None, None, None, None)
    assert mean([1.0, None, 0.0]) == 0.5
    assert mean([None]) is None
