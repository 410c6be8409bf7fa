"""How much may be resident, and why a computed prefix was of no use."""

from dataclasses import replace

import pytest

from fumikura.records import CoreSource, Receipt
from fumikura.resident import Budget, reused_share, why_broken

BUDGET = Budget(window_tokens=8192, answer_tokens=400, passage_tokens=1250, warm_s=180)
ONE, TWO = CoreSource("1", "甲.md", "a"), CoreSource("2", "乙.md", "b")
BEFORE = Receipt("model", "resident", cached_tokens=1000, core_tokens=1000, prefix_sha256="p", core=(ONE,))
BROKEN = replace(BEFORE, cached_tokens=100)


def test_the_window_leaves_room_for_answer_question_and_passages() -> None:
    assert BUDGET.room(with_passages=False) == 8192 - 400 - 700
    assert BUDGET.room(with_passages=True) == 8192 - 400 - 700 - 1250


def test_the_pace_and_the_largest_core_are_bounds_too() -> None:
    assert replace(BUDGET, pace=10.0).room(with_passages=False) == 1800
    assert replace(BUDGET, window_tokens=200_000).room(with_passages=False) == 30_000
    assert replace(BUDGET, window_tokens=200_000, most_tokens=500).room(with_passages=True) == 500


def test_a_window_that_is_too_small_has_no_room() -> None:
    assert replace(BUDGET, window_tokens=1000).room(with_passages=False) == 0


@pytest.mark.parametrize("cached", [980, 1000, 1400])
def test_a_reused_core_is_not_broken(cached: int) -> None:
    assert why_broken(BEFORE, replace(BEFORE, cached_tokens=cached)) is None


def test_a_backend_that_reports_no_cached_tokens_is_not_accused() -> None:
    silent = replace(BEFORE, cached_tokens=None)
    assert reused_share(silent) is None and why_broken(BEFORE, silent) is None
    assert why_broken(BEFORE, Receipt("model", cached_tokens=0)) is None


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (None, BROKEN, "first time"),
        (Receipt("model"), BROKEN, "first time"),
        (BEFORE, replace(BROKEN, model="other"), "from model to other"),
        (BEFORE, BROKEN, "no longer held"),
        (BEFORE, replace(BROKEN, prefix_sha256="q"), "instructions"),
        (BEFORE, replace(BROKEN, prefix_sha256="q", core=(ONE, TWO)), "added: 乙.md"),
        (BEFORE, replace(BROKEN, prefix_sha256="q", core=(TWO,)), "added: 乙.md; left: 甲.md"),
        (BEFORE, replace(BROKEN, prefix_sha256="q", core=(replace(ONE, sha256="c"),)), "changed: 甲.md"),
        (BEFORE, replace(BROKEN, prefix_sha256="q", core=(replace(ONE, source="丙.md"),)), "changed: 丙.md"),
    ],
)
def test_the_reason_is_named(before: Receipt | None, now: Receipt, said: str) -> None:
    broken = why_broken(before, now)
    assert broken is not None
    assert broken.share == 0.1
    assert said in broken.reason.en
    assert broken.reason.ja
