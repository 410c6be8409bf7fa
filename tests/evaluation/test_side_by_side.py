"""Two runs are set side by side fairly: one set, one changed setting, and chance is named."""

from dataclasses import replace

import pytest

from fumikura.errors import EvaluationError
from fumikura.evaluation.run_file import Asked, Run, RunHeader
from fumikura.evaluation.side_by_side import set_side_by_side
from fumikura.evaluation.tables import comparison_markdown


def run_of(tmp_path, name: str, points: list[int], *, sha256: str = "a" * 64, **settings: object) -> Run:
    header = RunHeader("set", sha256, len(points), 1, {"search": {"top_k": 5, **settings}}, "m")
    asked = tuple(
        Asked(id=f"q{n}", trial=1, type="fact" if n % 2 else "unknown", split="tune", question=f"質問{n}", points=one)
        for n, one in enumerate(points)
    )
    return Run(tmp_path / f"{name}.jsonl", header, asked)


def test_the_better_run_is_called_when_one_setting_differs(tmp_path) -> None:
    side = set_side_by_side(run_of(tmp_path, "a", [0] * 10), run_of(tmp_path, "b", [2] * 10, top_k=10))
    assert side.settings == {"search.top_k": (5, 10)}
    assert side.winner == "b"
    assert side.total.difference.mean == 2
    assert side.by_type["fact"].question_count == 5
    shown = comparison_markdown(side, "en")
    assert "search.top_k: 5 → 10" in shown
    assert shown.endswith("B is better (p = 0.002)")


def test_a_difference_of_one_question_is_noise(tmp_path) -> None:
    side = set_side_by_side(run_of(tmp_path, "a", [1] * 10), run_of(tmp_path, "b", [2, *[1] * 9], top_k=10))
    assert side.winner is None
    assert "within noise" in side.verdict.en
    assert [pair.id for pair in side.pairs if pair.a != pair.b] == ["q0"]


def test_two_changed_settings_have_no_winner_unless_told(tmp_path) -> None:
    a, b = run_of(tmp_path, "a", [0] * 10), run_of(tmp_path, "b", [2] * 10, top_k=10, candidate_count=9)
    side = set_side_by_side(a, b)
    assert side.winner is None
    assert "search.top_k, search.candidate_count" in side.verdict.en
    assert set_side_by_side(a, b, anyway=True).winner == "b"
    pinned = replace(b, header=replace(a.header, pin_all=True, split="tune"))
    assert "pin_all" in set_side_by_side(a, pinned).verdict.ja


def test_other_sets_and_empty_runs_are_refused(tmp_path) -> None:
    a = run_of(tmp_path, "a", [0] * 3)
    with pytest.raises(EvaluationError, match="different questions or sources"):
        set_side_by_side(a, run_of(tmp_path, "b", [0] * 3, sha256="b" * 64))
    with pytest.raises(EvaluationError, match="no question in common"):
        set_side_by_side(a, run_of(tmp_path, "b", []))


def test_questions_of_one_run_only_are_named_and_left_out(tmp_path) -> None:
    side = set_side_by_side(run_of(tmp_path, "a", [0] * 3), run_of(tmp_path, "b", [0] * 2))
    assert (side.left_out, side.total.question_count) == (("q2",), 2)
    assert "q2" in comparison_markdown(side, "ja")


def test_a_cell_cannot_break_its_table(tmp_path) -> None:
    a, b = run_of(tmp_path, "a", [0] * 2), run_of(tmp_path, "b", [2] * 2)
    hostile = replace(a.asked[0], question="a | b\n| <img src=x> ![](http://x)")
    shown = comparison_markdown(set_side_by_side(replace(a, asked=(hostile, a.asked[1])), b), "en")
    assert "a \\| b \\| &lt;img src=x> ![]\\(http://x)" in shown
