"""Each lost point is put down to the first stage that went wrong."""

import pytest

from fumikura.evaluation import open_set
from fumikura.evaluation.faults import fault_of, quote_support
from fumikura.records import Answer, Citation, Receipt


def answer_of(text: str, *quotes: str, status: str = "answered", asked: bool = True) -> Answer:
    citations = tuple(
        Citation(n, "s", "図書室.md", "図書室", None, 0, len(quote), quote) for n, quote in enumerate(quotes, 1)
    )
    return Answer(status, "searched", text, citations, Receipt("m", prompt_sha256="f" if asked else ""))  # type: ignore[arg-type]


REFUSED = answer_of("資料にありません。", status="not_in_sources")
NOT_ASKED = answer_of("資料にありません。", status="not_in_sources", asked=False)
WRONG = answer_of("閉館は十七時です。[1]", "閉館は十七時です。")


@pytest.mark.parametrize(
    ("answer", "support", "ranks", "in_prompt", "label"),
    [
        (WRONG, 1.0, [None], [False], "not_found"),
        (REFUSED, None, [1, None], [True, False], "not_found"),
        (WRONG, 1.0, [3], [False], "not_in_prompt"),
        (REFUSED, None, [3], [False], "not_in_prompt"),
        (REFUSED, None, [1], [True], "refused_wrongly"),
        (REFUSED, None, [None], [True], "refused_wrongly"),  # resident: in the prompt without a search
        (NOT_ASKED, None, [1], [False], "refused_wrongly"),
        (NOT_ASKED, None, [None], [False], "not_found"),
        (WRONG, 1.0, [1], [True], "misread"),
        (WRONG, 0.0, [1], [True], "invented"),
        (WRONG, None, [1], [True], "invented"),
    ],
)
def test_a_question_with_an_answer(trial, answer, support, ranks, in_prompt, label) -> None:
    case = trial.questions.cases[0]
    assert fault_of(case, answer, support, ranks, in_prompt) == label


def test_a_question_without_an_answer() -> None:
    case = next(case for case in open_set("notes").cases if not case.answerable)
    assert fault_of(case, WRONG, 1.0, [], []) == "should_have_refused"
    assert fault_of(case, WRONG, 0.0, [], []) == "invented"


@pytest.mark.parametrize(
    ("text", "quotes", "share"),
    [
        ("開館は九時です。[1]", ["図書室の開館は９時、閉館は17時です。"], 1),
        ("開館は十時です。[1]", ["図書室の開館は9時です。"], 0),
        ("庭園の噴水は修理中です。[1]", ["図書室の開館は9時です。"], 0),
        ("開館は九時です。[1] 閉館は二十時です。[2]", ["開館は9時です。", "閉館は17時です。"], 0.5),
        ("図書室の開館と閉館は9時と17時です。[1][2]", ["開館は9時です。", "閉館は17時です。"], 1),
        ("開館は九時です。", ["開館は9時です。"], None),
        ("資料にありません。", [], None),
        ("It opens at 9. [1]", ["It opens at 9."], 1),
        ("It opens at 10. [1]", ["It opens at 9."], 0),
    ],
)
def test_a_quote_supports_its_sentence_or_not(text, quotes, share) -> None:
    assert quote_support(answer_of(text, *quotes)) == share
