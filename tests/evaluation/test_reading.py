"""A question file is read whole, or every problem is named with file, line, id and what to do."""

from pathlib import Path

import pytest

from fumikura.evaluation import QuestionSetError, open_set, read_cases


def _problem(path: Path) -> QuestionSetError:
    with pytest.raises(QuestionSetError) as caught:
        read_cases(path)
    return caught.value


def test_a_case_is_read_with_sensible_defaults(make_set, fields) -> None:
    (case,) = read_cases(make_set("// our own questions", "", fields(as_of="2026-03-31")))
    assert (case.id, case.type, case.as_of, case.line) == ("a1", "fact", "2026-03-31", 3)
    assert (case.rubric.full, case.rubric.half, case.rubric.cap) == (1, 0, 1)


def test_half_of_several_groups_gives_one_point_unless_said_otherwise(make_set, fields) -> None:
    (case,) = read_cases(make_set(fields(rubric={"groups": [["a"], ["b"], ["c"]]})))
    assert (case.rubric.full, case.rubric.half) == (3, 2)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"type": "timelin"}, "did you mean 'timeline'"),
        ({"questoin": "?"}, "did you mean 'question'"),
        ({"rubric": {"group": [["a"]]}}, "did you mean 'groups'"),
        ({"rubric": {"groups": [["re:(a"]]}}, "bad pattern 're:(a'"),
        ({"rubric": {"groups": [["re:a*"]]}}, "matches everything"),
        ({"rubric": {"groups": [[]]}}, "empty group"),
        ({"rubric": {"groups": [["a"]], "full": 2}}, "'full' must be a whole number from 1 to 1"),
        ({"rubric": {"groups": "a"}}, "'groups' must be a list"),
        ({"evidence": [{"source": "note.md"}]}, "'quote' is missing"),
        ({"as_of": "31.3.2026"}, "is no date"),
        ({"split": "test"}, "unknown split 'test'"),
        ({"answer": " "}, "'answer' must be a text"),
        ({"type": ["fact"]}, "unknown type"),
    ],
)
def test_what_does_not_fit_is_named_with_line_id_and_remedy(make_set, fields, changes, said) -> None:
    error = _problem(make_set(fields(id="ok", question="何曜ですか。"), fields(**changes)))
    assert str(error).startswith("questions.jsonl, line 2 a1: ")
    assert said in str(error)
    assert error.ja.startswith("questions.jsonl の 2 行目 a1：")


def test_every_problem_of_a_file_is_reported_at_once(make_set, fields) -> None:
    error = _problem(make_set('{"id": "x", ', fields(), fields(), "[1]"))
    assert [finding.line for finding in error.findings] == [1, 3, 4]
    assert "is not JSON" in error.findings[0].problem.en
    assert "taken by line 2" in error.findings[1].problem.en
    assert "(and 2 more)" in str(error)


@pytest.mark.parametrize("content", [b"", b"\n// nothing\n", b"\xff\xfe{}", b"[" * 100_000])
def test_an_unusable_file_is_refused_with_a_message(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(content)
    assert str(_problem(path)).startswith("q.jsonl")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(QuestionSetError, match="no such file"):
        open_set(tmp_path / "gone.jsonl")


def test_a_third_of_each_type_is_held_out_and_additions_move_nothing(make_set, fields) -> None:
    lines = [fields(id=f"q{n}", type="fact" if n % 2 else "time") for n in range(12)]
    before = [case.split for case in read_cases(make_set(*lines))]
    after = [case.split for case in read_cases(make_set(*lines, fields(id="new")))]
    assert before.count("held_out") == 4
    assert after[:12] == before


def test_a_written_split_wins(make_set, fields) -> None:
    (case,) = read_cases(make_set(fields(split="held_out")))
    assert case.split == "held_out"
