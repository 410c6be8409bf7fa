import re
import time
from pathlib import Path

import pytest

from fumikura.japanese import boundary, sentences

CASES = Path(__file__).parents[1] / "cases"


def split(text):
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "marked",  # | where a sentence ends
    [
        "雨が降る。|風は弱い！|本当？|はい",
        "「行く。そうだ。」と言った。|次の話。",
        "「来る。」|「待つ。」",
        "水は止まる（夜間のみ。）|次の区へ。",
        "彼は『岬。』を読んだ。|終わり。",
        "本当です。[1][2]|次です。 [3]|終わり[4]。",
        "Dr. Smith paid 3.5 dollars to A. Jones (see Fig. 3). |It worked! |Really?",
        "1. 準備する。\n|2. 始める。",
        "Yahoo!のページとindex.htmlを見る。|ＡＢ．ｃを使う．|次。",
        "なぜ！？」|次。",
        "（閉じない括弧。|次。",
    ],
)
def test_sentences_end_where_a_reader_ends_them(marked):
    assert split(marked.replace("|", "")) == [piece.strip() for piece in marked.split("|")]


def test_lines_and_headings_are_borders():
    assert split("# 見出し\n本文。\n\n- 一つ目\n- 二つ目\n") == ["# 見出し", "本文。", "- 一つ目", "- 二つ目"]


def test_a_long_line_broken_for_its_width_goes_on():
    text = "この倉庫の鍵は毎朝六時に当番の組合員が受付で受け取り、扉を開けた後に台帳\nへ名前を書く。次の行。"
    assert split(text) == [text[: text.index("次")], "次の行。"]


def test_a_quotation_of_many_sentences_is_split_inside():
    quoted = "「" + "長い話である。" * 40 + "」と言った。"
    assert len(split(quoted)) > 30


def test_only_white_space_lies_between_spans():
    text = (CASES / "C068/sentences.md").read_text("utf-8") + "\n\n  「ひとり。 ふたり。」  \n" * 3
    spans = sentences(text)
    gaps = [text[end:start] for (_, end), (start, _) in zip([(0, 0), *spans], [*spans, (len(text), 0)], strict=True)]
    assert all(not gap.strip() for gap in gaps)
    assert all(start < end and text[start:end].strip() == text[start:end] for start, end in spans)


def test_every_sentence_of_a_paragraph_ends_after_its_full_stop():
    pieces = split((CASES / "C068/sentences.md").read_text("utf-8"))
    assert len(pieces) == 79
    assert all(piece.endswith("。") for piece in pieces)
    assert not any(re.match("[。、」ぁぃぅぇぉっゃゅょー]", piece) for piece in pieces)


@pytest.mark.parametrize("text", ["", " \n　\n"])
def test_blank_text_has_no_sentence(text):
    assert sentences(text) == []


def test_twenty_megabytes_without_a_border_take_seconds():
    started = time.perf_counter()
    assert len(sentences("港の倉庫には木箱があり、" * 1_700_000)) == 1
    assert len(sentences("「" * 500_000 + "。" * 10)) == 1
    assert time.perf_counter() - started < 20


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("👩🏽\u200d💻a", 2, 0),
        ("👩🏽\u200d💻a", 4, 4),
        ("か\u3099", 1, 0),
        ("\r\n", 1, 0),
        ("🇯🇵🇯🇵🇯🇵", 3, 2),
        ("葛\U000e0100城", 1, 0),
        ("港の窓", 2, 2),
        ("港", 5, 1),
        ("港", -1, 0),
        ("", 0, 0),
    ],
)
def test_boundary_never_cuts_what_looks_like_one_character(text, position, expected):
    assert boundary(text, position) == expected


def test_boundary_is_quick_in_a_long_run_of_emoji():
    text = "🤓" * 500_000
    started = time.perf_counter()
    assert [boundary(text, i) for i in range(400_000, 400_200)] == list(range(400_000, 400_200))
    assert time.perf_counter() - started < 5
