from pathlib import Path

import pytest

from fumikura.grounding import is_refusal

HERE = Path(__file__).parent


def lines(name: str) -> list[str]:
    return (HERE / name).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("text", lines("refusals.txt"))
def test_wordings_of_not_in_the_sources(text: str):
    assert is_refusal(text)


@pytest.mark.parametrize("text", lines("answers.txt"))
def test_answers_with_similar_words_are_no_refusals(text: str):
    assert not is_refusal(text)


def test_there_are_enough_of_both():
    assert len(lines("refusals.txt")) >= 60
    assert len(lines("answers.txt")) >= 60
