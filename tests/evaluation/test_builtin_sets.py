"""The built-in sets are what they promise: proved, of the stated sizes, and without loopholes."""

import json
import re
from pathlib import Path

import pytest

from fumikura.build import make_loaders
from fumikura.evaluation import BUILTIN_SETS, PlainReply, open_set, score, source_texts, validate
from fumikura.evaluation.reading import splits_by_rule
from fumikura.japanese import Analyzer

WORDINGS = Path(__file__).parent / "natural_wordings.jsonl"
STORY_TYPES = {"simple": 8, "detail": 9, "relation": 8, "timeline": 8, "inference": 9, "unknown": 8}
NOTE_TYPES = {"fact": 12, "paraphrase": 8, "cross": 8, "count": 8, "time": 7, "unknown": 7}
# Words that carry no content here: how, where, who, doing, thing.
FORM_WORDS = {
    "為る",
    "どの",
    "何処",
    "何",
    "どう",
    "どれ",
    "どんな",
    "物",
    "事",
    "有る",
    "居る",
    "無い",
    "成る",
    "だけ",
}


def _visible(text: str) -> int:
    return len(re.sub(r"\s", "", text))


@pytest.fixture(params=BUILTIN_SETS)
def questions(request):
    return open_set(request.param)


def _texts(questions):
    return source_texts(questions, make_loaders())


def test_the_validator_finds_nothing(questions) -> None:
    assert validate(questions, _texts(questions)) == ()


def test_fifty_questions_of_the_stated_types() -> None:
    assert open_set("story").type_counts() == STORY_TYPES
    assert open_set("notes").type_counts() == NOTE_TYPES


def test_a_third_is_held_out_by_the_written_rule(questions) -> None:
    assert [case.split for case in questions.cases] == splits_by_rule(questions.cases)
    assert 16 <= len(questions.of_split("held_out")) <= 18


def test_every_answerable_question_lists_answers_that_must_not_pass(questions) -> None:
    assert all(case.wrong for case in questions.cases)


def test_half_of_the_unknown_questions_are_near_misses(questions) -> None:
    unknown = [case for case in questions.cases if not case.answerable]
    assert sum(bool(case.near) for case in unknown) * 2 >= len(unknown)


def test_no_model_answer_passes_for_another_question_of_the_set(questions) -> None:
    cases = [case for case in questions.cases if case.answerable]
    passing = sum(
        score(case, PlainReply("answered", other.answer)).points == 2
        for case in cases
        for other in cases
        if other is not case
    )
    assert passing / (len(cases) * (len(cases) - 1)) < 0.02


def test_repeating_the_question_is_no_answer(questions) -> None:
    passing = [case.id for case in questions.cases if score(case, PlainReply("answered", case.question)).points == 2]
    assert passing == []


def test_the_story_is_one_text_of_the_stated_length() -> None:
    (text,) = _texts(open_set("story")).values()
    assert 3_600 <= _visible(text) <= 4_000
    assert 5 <= len(re.findall(r"^## ", text, re.MULTILINE)) <= 8


def test_the_clues_of_inference_questions_lie_apart() -> None:
    questions = open_set("story")
    (text,) = _texts(questions).values()
    spread = []
    for case in questions.cases:
        if case.type == "inference":
            places = [text.index(clue.quote) for clue in case.evidence]
            spread.append(max(places) - min(places))
    assert sum(distance > 500 for distance in spread) >= 7


def test_forty_notes_of_the_stated_length() -> None:
    texts = _texts(open_set("notes"))
    assert len(texts) == 40
    assert all(200 <= _visible(text) <= 900 for text in texts.values())


def test_paraphrases_share_no_content_word_with_their_evidence() -> None:
    words = Analyzer().words
    shared = {
        case.id: (set(words(case.question)) & {word for clue in case.evidence for word in words(clue.quote)})
        - FORM_WORDS
        for case in open_set("notes").cases
        if case.type == "paraphrase"
    }
    assert {case_id: found for case_id, found in shared.items() if found} == {}


def test_cross_questions_need_two_notes_and_every_question_has_its_day() -> None:
    questions = open_set("notes")
    assert all(len({clue.source for clue in case.evidence}) >= 2 for case in questions.cases if case.type == "cross")
    assert {case.as_of for case in questions.cases} == {"2026-03-31"}


def test_natural_wordings_of_right_answers_score_full() -> None:
    cases = {case.id: case for name in BUILTIN_SETS for case in open_set(name).cases}
    lines = [json.loads(line) for line in WORDINGS.read_text(encoding="utf-8").splitlines()]
    low = [
        (line["id"], text)
        for line in lines
        for text in line["answers"]
        if score(cases[line["id"]], PlainReply("answered", text)).points < 2
    ]
    assert len(lines) > 40
    assert low == []
