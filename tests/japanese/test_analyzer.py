import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "cases"


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("倉庫の鍵", ["倉庫", "庫の", "の鍵"]),
        ("雨。風！", ["雨", "風"]),
        ("Port of Kobe's C# and C++", ["port", "of", "kobe's", "c#", "and", "c++"]),
        ("KX-200は3.5台", ["kx", "200", "200は", "は", "3.5", "3.5台", "台"]),
        ("申　請　書", ["申", "請", "書", "申請", "請書"]),
        ("東京　大阪", ["東京", "大阪"]),
        ("会\n議", ["会", "議", "会議"]),
        ("令和7年", ["2025", "2025年", "年", "令和"]),
        ("항구", ["항구"]),
        ("порт 港", ["порт", "港"]),
        ("👍 ・ —", []),
        ("", []),
    ],
)
def test_bigrams(analyzer, text, terms):
    assert analyzer.bigrams(text) == terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("打合せ", "打ち合わせ"),
        ("引越し", "引っ越し"),
        ("ｻｰﾊﾞｰ", "サーバ"),
        ("申込み", "申し込み"),
        ("BARの棚", "barの棚"),
        ("食べた", "食べる"),
    ],
)
def test_words_of_two_spellings_are_equal(analyzer, one, other):
    assert analyzer.words(one) == analyzer.words(other) != []


def test_words_leave_out_particles_and_marks(analyzer):
    assert analyzer.words("鍵は、窓の下に（ある）。") == ["鍵", "窓", "下", "有る"]


def test_compound_and_simple_katakana_words_meet(analyzer):
    assert analyzer.words("サーバ")[0] in analyzer.words("サーバールーム")


def test_many_threads_share_one_analyzer(analyzer):
    texts = [f"第{i}倉庫の鍵は受付にある。" * 50 for i in range(40)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(analyzer.words, texts)) == [analyzer.words(text) for text in texts]


def test_text_beyond_the_tokenizers_limit_is_fed_in_parts(analyzer):
    text = (CASES / "C034/one_line.txt").read_text("utf-8")
    assert analyzer.words(text).count("木箱") == text.count("木箱")
    assert analyzer.words("灯台 " * 40_000) == ["灯台"] * 40_000


def test_endless_emoji_neither_crash_nor_take_long(analyzer):
    started = time.perf_counter()
    assert analyzer.words("🤓" * 100_000) == []
    assert analyzer.bigrams("🤓" * 100_000) == []
    assert time.perf_counter() - started < 10


def test_dictionary_version_names_the_installed_dictionary(analyzer):
    assert analyzer.dictionary_version.startswith("small-20")
