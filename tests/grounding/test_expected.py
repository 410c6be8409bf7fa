"""Near misses answered with a true sentence, and how seldom a right answer is taken for one."""

import json
from pathlib import Path

import pytest

from fumikura.grounding import ground
from fumikura.grounding.expected import asked_kinds, offers_expected

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
POND = "静まり池は冬でも凍らない。池の水位は当番が毎朝はかる。水位計は青い柱である。"


@pytest.mark.parametrize(
    "question",
    [
        "静まり池はどこにある？",
        "池の深さは？",
        "静まり池はどうして凍らない？",
        "当番は何人？",
        "Where is the pond?",
        "How deep is the pond?",
    ],
)
def test_c105_the_whole_note_is_no_answer_to_what_it_does_not_say(case_passages, question):
    for answer in (POND, f"# 静まり池\n\n{POND}", POND.replace("。", "。[1]")):
        grounded = ground(answer, case_passages("C105/near_miss.md"), question=question)
        assert (grounded.status, grounded.text, grounded.citations) == ("not_in_sources", "資料にありません。", ())
        assert "水位計は青い柱である。" in grounded.unsupported


@pytest.mark.parametrize(
    "question",
    ["水位計の色は？", "水位は誰がはかる？", "水位はいつはかる？", "静まり池は冬に凍る？", "静まり池とは？"],
)
def test_c105_what_the_note_says_is_answered_even_with_the_whole_note(case_passages, question):
    assert ground(POND, case_passages("C105/near_miss.md"), question=question).status == "answered"


def test_a_refusal_with_a_true_sentence_about_something_else_is_a_refusal(case_passages):
    answer = "池の深さは資料にありません。池の水位は当番が毎朝はかります。[1]"
    grounded = ground(answer, case_passages("C105/near_miss.md"), question="池の深さは？")
    assert (grounded.status, grounded.citations) == ("not_in_sources", ())


def test_near_misses_answered_with_the_whole_note_are_mostly_noticed(passages):
    near = EXPECTED["near_misses"]
    statuses = [ground(note, passages(note), question=question).status for question, note in near]
    assert len(near) == 38
    assert statuses.count("not_in_sources") == 30


def test_no_right_answer_is_refused_however_tersely_the_note_says_it():
    answerable = EXPECTED["answerable"]
    assert sum(bool(asked_kinds(question)) for question, _ in answerable) >= 70
    assert [(q, note) for q, note in answerable if not offers_expected(q, [note], [])] == []


def test_no_answer_about_the_sample_notes_is_refused():
    lines = (HERE.parent / "flow" / "sample_questions.jsonl").read_text(encoding="utf-8").splitlines()
    answerable = [case for case in map(json.loads, lines) if case["answerable"]]
    assert len(answerable) == 26
    for case in answerable:
        assert offers_expected(case["question"], [case["answer"]], []), case["question"]
        assert offers_expected(case["question"], [case["evidence"]], []), case["question"]


def test_no_everyday_answer_is_refused():
    everyday = json.loads((HERE / "everyday.json").read_text(encoding="utf-8"))["answerable"]
    assert [question for question, answer in everyday if not offers_expected(question, [answer], [])] == []


@pytest.mark.parametrize(
    "question",
    [
        "水位計の色は？",
        "修理はどこに頼んだ？",
        "三章のどこまで読む？",
        "いつもの道具は何？",
        "誰でも入れる？",
        "何度も読んだ本は？",
        "いくらの醤油漬けの作り方は？",
        "誰が書いたかを何で調べる？",
        "What is the colour of the pole?",
        "",
    ],
)
def test_a_question_that_asks_for_no_clear_kind_is_left_alone(question):
    assert asked_kinds(question) == frozenset()


def test_a_path_is_a_place():
    assert offers_expected("設定はどこに置いてある？", ["`~/.config/fumikura/settings.json`を読みます。"], [])


def test_words_of_the_question_and_dates_are_no_quantity():
    assert not offers_expected("傘はいくら？", ["6月27日に傘を買った。"], [])
    assert not offers_expected("第2会議室は何人入れる？", ["第2会議室は静かだ。"], [])
    assert offers_expected("第2会議室は何人入れる？", ["第2会議室は静かだ。"], ["第2会議室は12人まで。"])
