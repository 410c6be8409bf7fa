"""A set is proved consistent, or each finding says what to mend."""

import pytest

from fumikura.build import make_loaders
from fumikura.evaluation import Finding, open_set, source_texts, validate


@pytest.fixture
def findings(make_set):
    def of(*lines) -> tuple[Finding, ...]:
        questions = open_set(make_set(*lines))
        return validate(questions, source_texts(questions, make_loaders()))

    return of


def test_a_good_case_has_no_finding(findings, fields) -> None:
    assert findings(fields(wrong=["十四時です。", "資料にありません。"])) == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"evidence": [{"source": "note.md", "quote": "会議は15時から"}]}, "is not in note.md"),
        ({"evidence": [{"source": "nota.md", "quote": "会議"}]}, "'nota.md', which is not there"),
        ({"near": [{"source": "note.md", "quote": "懇親会"}]}, "is not in note.md"),
        ({"answer": "三時間です。"}, "the model answer scores 0"),
        ({"rubric": {"groups": [["午後三時"], ["会議室"]], "full": 1}}, "missing: 会議室"),
        ({"wrong": ["15時です。"]}, "the wrong answer '15時です。' scores 2"),
        ({"evidence": []}, "needs evidence"),
        ({"rubric": {}}, "needs evidence and facet groups"),
        ({"type": "unknown"}, "put what is similar into 'near'"),
    ],
)
def test_an_inconsistent_case_is_named_with_its_line(findings, fields, changes, said) -> None:
    found = findings(fields(**changes))
    assert any(said in finding.notice.en for finding in found)
    assert all(finding.notice.en.startswith("questions.jsonl, line 1 a1: ") for finding in found)


def test_the_same_question_twice_is_found_whatever_its_spelling(findings, fields) -> None:
    found = findings(fields(question="令和8年は？"), fields(id="a2", question="2026年は？"))
    assert [finding.problem.en for finding in found] == ["asks the same as a1"]


def test_a_large_set_without_held_out_questions_is_found(findings, fields) -> None:
    lines = [fields(id=f"q{n}", question=f"{n}番は？", split="tune") for n in range(12)]
    assert ["held out" in finding.problem.en for finding in findings(*lines)] == [True]
