import json
from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "cases"

FOUND = [
    ("C008/nfd_body.md", "ボランティアの募集はどこで？", "ホ\u3099ランティア"),
    ("C009/halfwidth_source.txt", "オーダー番号AB-123の担当は？", "ＡＢ－１２３"),
    ("C009/halfwidth_source.txt", "データセット一覧はどこ？", "ﾃﾞｰﾀｾｯﾄ一覧"),
    ("C009/halfwidth_source.txt", "ETL処理は何時？", "ＥＴＬ処理"),
    ("C012/wave_dash.md", "8月10日～8月16日は何？", "8月10日〜8月16日"),
    ("C012/wave_dash.md", "9時〜17時は？", "9時～17時"),
    ("C012/wave_dash.md", "KX-200の在庫は？", "KX‐200"),
    ("C012/wave_dash.md", "KX-300は？", "KX−300"),
    ("C013/name_variants.md", "高島さんの役は？", "髙島"),
    ("C013/name_variants.md", "山崎さんは？", "山﨑"),
    ("C013/name_variants.md", "渡辺さんは？", "渡邊"),
    ("C013/name_variants.md", "沢田さんの旧姓は？", "廣瀬"),
    ("C013/name_variants.md", "広瀬という名は？", "廣瀬"),
    ("C014/katakana_spelling.md", "サーバーの保守は？", "サーバの保守"),
    ("C014/katakana_spelling.md", "プリンターのトナーは？", "プリンタのトナー"),
    ("C014/katakana_spelling.md", "ヴァイオリンの貸し出しは？", "バイオリン"),
    ("C014/katakana_spelling.md", "メインテナンスは誰に？", "メンテナンス"),
    ("C014/katakana_spelling.md", "インターフェース担当は？", "インタフェース担当"),
    ("C015/kanji_numbers.md", "灯台の建て替えは5年前？", "五年前"),
    ("C015/kanji_numbers.md", "橋は123メートル？", "百二十三メートル"),
    ("C015/kanji_numbers.md", "組合員は23名？", "二十三名"),
    ("C015/kanji_numbers.md", "2025年4月1日に何があった？", "令和七年四月一日"),
    ("C016/composite_symbols.md", "株式会社あさひ商会に何を頼んだ？", "㈱あさひ商会"),
    ("C016/composite_symbols.md", "重さは何キロ？", "５㌔"),
    ("C016/composite_symbols.md", "令和7年5月末に何がある？", "㋿７年５月末"),
    ("C018/aozora_ruby.txt", "霧笛が三度鳴ると？", "霧笛"),
    ("C018/aozora_ruby.txt", "鍵はどこ？", "引き出し"),
    ("C019/astral_and_emoji.md", "𩸽はいくら？", "三百円"),
    ("C019/astral_and_emoji.md", "吉野屋商店は？", "𠮷野屋商店"),
    ("C020/invisible_chars.md", "受付番号は？", "です"),
    ("C020/invisible_chars.md", "葛城市の案内は？", "の案内"),
    ("C020/invisible_chars.md", "申請書はどこ？", "窓口"),
    ("C020/invisible_chars.md", "集合は？", "中央"),
    ("C077/../C076/short_words.md", "「鍵」は？", "鍵を忘れた"),
]


@pytest.mark.parametrize(("file", "question", "expected"), FOUND)
def test_question_finds_its_line_by_keywords_alone(find_line, file, question, expected):
    assert expected in find_line(file, question)


@pytest.mark.parametrize("question", json.loads((CASES / "C010/queries.json").read_text("utf-8")))
def test_odd_widths_in_the_question_find_the_plain_source(find_line, question):
    line = find_line("C010/normal_source.md", question)
    assert line == (
        "# データセット一覧" if "ｾｯﾄ" in question else "ETL処理は毎朝6時に動く。オーダー番号AB-123の担当はミヤザキ。"
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("雨", "雨。風は弱い。"),
        ("熊", "霧が出た。熊に注意。"),
        ("鍵", "鍵を忘れた。"),
        ("霧は？", "霧が出た。熊に注意。"),
        ("会議", "# 会議"),
    ],
)
def test_words_of_one_and_two_characters_are_found(find_line, question, expected):
    assert find_line("C076/short_words.md", question) == expected


def test_questions_made_of_syntax_give_terms_or_none_but_never_fail(analyzer):
    for question in json.loads((CASES / "C077/queries.json").read_text("utf-8")):
        assert all(term.strip() for term in analyzer.bigrams(question) + analyzer.words(question))
    assert "c++" in analyzer.bigrams("C++とは？")


def test_saito_with_two_different_kanji_stays_two_names(analyzer):
    assert not set(analyzer.words("斉藤")) & set(analyzer.words("斎藤"))
    assert "斉藤" not in analyzer.bigrams("斎藤")
    assert analyzer.bigrams("齊藤") == ["斉藤"]
    assert analyzer.bigrams("齋藤") == ["斎藤"]


def test_note_for_a_missing_glyph_is_not_part_of_the_story(analyzer):
    text = (CASES / "C018/aozora_ruby.txt").read_text("utf-8")
    assert not {"水準", "下げ", "字下"} & set(analyzer.bigrams(text))
    assert {"台の", "の窓"} <= set(analyzer.bigrams(text))


def test_text_around_a_lone_surrogate_stays_searchable(analyzer):
    text = json.loads((CASES / "C019/lone_surrogate.json").read_text("utf-8"))["text"]
    assert {"会場", "南", "公園"} <= set(analyzer.words(text))
    assert "公園" in analyzer.bigrams(text)


@pytest.mark.parametrize(("file", "word"), [("one_line.txt", "金庫"), ("emoji_run.txt", "合図")])
def test_one_endless_line_is_indexed(analyzer, file, word):
    text = (CASES / "C034" / file).read_text("utf-8")
    assert word in analyzer.words(text)
    assert word in analyzer.bigrams(text)
