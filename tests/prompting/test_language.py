import pytest

from fumikura.prompting import language_of


@pytest.mark.parametrize(
    "question",
    [
        "開館は何時？",
        "ETLは何時？",
        "Pythonのdataclassとは",
        "How to Cook という本の著者は？",
        "The Beatles のメンバーは？",
        "？",
        "123",
    ],
)
def test_japanese_questions(question: str):
    assert language_of(question) == "ja"


@pytest.mark.parametrize(
    "question",
    ["When does it open?", "Who manages 第七会議室?", "What does 打ち合わせ mean?", "What is 文庫?", "opening hours"],
)
def test_english_questions(question: str):
    assert language_of(question) == "en"
