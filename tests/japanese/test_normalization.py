import time

import pytest

from fumikura.japanese import normalize


@pytest.mark.parametrize(
    ("written", "normalised"),
    [
        ("ﾃﾞｰﾀｾｯﾄ", "データセット"),
        ("ＡＢ－１２３", "ab-123"),
        ("KX‐200 KX−300 KX–400", "kx-200 kx-300 kx-400"),
        ("9時〜17時", "9時~17時"),
        ("サ−バ−の", "サーバの"),
        ("カタログ−3", "カタログ-3"),
        ("ホ\u3099ール", "ボール"),
        ("한국", "한국"),
        ("⻑⻄の⻘い⻤", "長西の青い鬼"),
        ("髙島・渡邉・廣瀨・圖書館", "高島・渡辺・広瀬・図書館"),
        ("葛\U000e0100城", "葛城"),
        ("受\u200b付4\u00ad8\u00ad2\ufeff", "受付482"),
        ("㈱あさひ、（株）あさひ、㍿あさひ", "株式会社あさひ、株式会社あさひ、株式会社あさひ"),
        ("㈲川、(有)川", "有限会社川、有限会社川"),
        ("駐車場(有)", "駐車場(有)"),
        ("５㌔と２㍍", "5キロと2メートル"),
        ("｜あの霧笛《むてき》と［＃ここから字下げ］窓", "あの霧笛と窓"),
        ("映画『さくら』《さくら》", "映画『さくら』《さくら》"),
        ("サーバー・プリンター・コピー・カバー", "サーバ・プリンタ・コピー・カバー"),
        ("ヴァイオリン ヴェール ラヴ", "バイオリン ベール ラブ"),
        ("メインテナンス インターフェイス", "メンテナンス インターフェース"),
        ("ウィルス", "ウイルス"),
        ("市ヶ谷", "市ケ谷"),
        ("人々と佐々木、いすゞとこゝろ、バヽ", "人人と佐佐木、いすずとこころ、ババ"),
        ("İ", "i̇"),
        ("", ""),
    ],
)
def test_spellings_become_one(written, normalised):
    assert normalize(written).text == normalised


@pytest.mark.parametrize(
    ("written", "normalised"),
    [
        ("五年前と二十三名", "5年前と23名"),
        ("百二十三メートル", "123メートル"),
        ("二〇二五年と一九九八", "2025年と1998"),
        ("二三名", "23名"),
        ("三万五千円、3万5千円、3.5万円、1億2000万円", "35000円、35000円、35000円、120000000円"),
        ("1,234,567円と12,34", "1234567円と12,34"),
        ("第二次大戦の第一章", "第2次大戦の第1章"),
        ("三分の二", "3分の2"),
        ("三ヶ月と三か所", "3ケ月と3か所"),
        ("零時と壱万弐千円", "0時と12000円"),
        ("04月01日09時", "4月1日9時"),
        ("三浦、一部、一番、五十嵐、四万十川、六本木、万年筆", "三浦、一部、一番、五十嵐、四万十川、六本木、万年筆"),
        ("数十人、何百人、十数年", "数十人、何百人、十数年"),
        ("十分な準備と十分後", "十分な準備と10分後"),
        ("一時的に午後一時半", "一時的に午後1時半"),
        ("二三百人", "二三百人"),
    ],
)
def test_kanji_numbers_become_digits_only_where_they_count(written, normalised):
    assert normalize(written).text == normalised


@pytest.mark.parametrize(
    ("written", "normalised"),
    [
        ("令和8年度", "2026年度"),
        ("令和七年四月一日", "2025年4月1日"),
        ("㋿７年５月末", "2025年5月末"),
        ("令和元年と平成 31 年", "2019年と2019年"),
        ("明治元年、大正15年、昭和64年", "1868年、1926年、1989年"),
        ("昭和99年", "昭和99年"),
        ("R8.3.5とH31/4/30とS64年", "2026年3月5日と2019年4月30日と1989年"),
        ("R8.13.5とver8.3.5とM0年", "r8.13.5とver8.3.5とm0年"),
        ("2026-03-05、2026/3/5、2026.3.5", "2026年3月5日、2026年3月5日、2026年3月5日"),
        ("2026-03-05T09:00", "2026年3月5日t09:00"),
        ("2026-3/5、2026-13-05、10.2026.3.5、2026-03-051", "2026-3/5、2026-13-05、10.2026.3.5、2026-03-051"),
    ],
)
def test_years_and_dates_have_one_form(written, normalised):
    assert normalize(written).text == normalised


@pytest.mark.parametrize(
    ("written", "part", "origin"),
    [
        ("橋は百二十三メートル。", "123", "百二十三"),
        ("箱は㈱あさひ商会に", "株式会社", "㈱"),
        ("箱は㈱あさひ商会に", "会社あ", "㈱あ"),
        ("組合は令和七年四月に発足", "2025年4月", "令和七年四月"),
        ("ﾃﾞｰﾀを", "デ", "ﾃﾞ"),
        ("か\u3099く", "く", "く"),
        ("4\u00ad8\u00ad2", "482", "4\u00ad8\u00ad2"),
        ("灯台《とうだい》の窓", "台の", "台《とうだい》の"),
        ("灯台《とうだい》の窓", "の窓", "の窓"),
        ("サーバーの棚", "サーバ", "サーバ"),
        ("サーバーの棚", "の棚", "の棚"),
    ],
)
def test_span_leads_back_to_the_original(written, part, origin):
    normalized = normalize(written)
    start = normalized.text.index(part)
    found = normalized.span(start, start + len(part))
    assert written[slice(*found)] == origin


def test_an_empty_span_stays_empty():
    assert normalize("㈱あさひ").span(0, 0) == (0, 0)
    start, end = normalize("五年前㈱").span(3, 3)
    assert (start, end) == (3, 3)


def test_spans_cover_any_text_in_order():
    written = "㈱髙島は令和七年にｻｰﾊﾞｰを百二十三台、ヴァイオリンを3,000円で👩🏽‍💻へ。\ud83d 人々《ひとびと》\r\n" * 3
    normalized = normalize(written)
    spans = [normalized.span(i, i + 1) for i in range(len(normalized.text))]
    assert all(0 <= start < end <= len(written) for start, end in spans)
    assert [start for start, _ in spans] == sorted(start for start, _ in spans)
    assert normalized.span(0, len(normalized.text)) == (0, len(written))


def test_normalising_again_changes_nothing():
    text = normalize("㈱髙島は令和七年にサーバーを百二十三台、3万円、第二章、R8.3.5、人々、ヴェール〜").text
    assert normalize(text).text == text


def test_lone_surrogate_becomes_the_replacement_character():
    assert normalize("前\ud83d後").text == "前\ufffd後"


def test_a_million_characters_take_about_a_second():
    text = "港の灯台は五年前に建て替えられ、サーバーは㈱あさひが置いた。\n" * 31_250
    started = time.perf_counter()
    assert "5年前" in normalize(text).text
    assert time.perf_counter() - started < 5  # 0.6 s measured alone; the limit allows for a loaded machine
