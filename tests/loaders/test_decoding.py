import codecs
import json

import pytest

from fumikura.errors import SettingsError, UnreadableSource
from fumikura.loaders import clean_text, decode

MEMO = "次回の集まりは土曜日の午後です。場所は公民館の二階、係は丸尾さん。"
SHORT = "倉庫のかぎは棚の上"


@pytest.mark.parametrize(
    ("path", "encoding", "found"),
    [
        ("C001/cp932_memo.txt", "cp932", ["（①）", "髙橋、山﨑、㈱ひばり製作所", "～６月"]),
        ("C003/eucjp_manual.txt", "euc-jp", ["青い箱の二段目"]),
        ("C004/iso2022jp_mail.txt", "iso-2022-jp", ["点検日は七月八日です"]),
        ("C005/utf16le_bom.txt", "utf-16-le", ["棚卸しの担当は柏木さん"]),
        ("C005/utf16be_bom.txt", "utf-16-be", ["棚卸しの担当は柏木さん"]),
    ],
)
def test_known_files_are_read_in_their_encoding(load_case, path, encoding, found):
    source = load_case(path)
    assert (source.encoding, source.encoding_certain, source.notices) == (encoding, True, ())
    assert all(text in source.text for text in found)
    assert not set("\ufffd?\0\x1b") & set(source.text)


@pytest.mark.parametrize("text", [MEMO, SHORT, "カタカナのみ", "①㈱を含む件名です"])
@pytest.mark.parametrize(
    ("codec", "name"),
    [
        ("utf-8", "utf-8"),
        ("cp932", "cp932"),
        ("euc_jis_2004", "euc-jp"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
    ],
)
def test_short_japanese_without_a_bom_is_told_apart(text, codec, name):
    decoded = decode(text.encode(codec))
    assert (decoded.text, decoded.encoding, decoded.certain) == (text, name, True)


@pytest.mark.parametrize("bom_codec", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_honoured_and_removed(bom_codec):
    assert decode(MEMO.encode(bom_codec)).text == MEMO


def test_one_broken_byte_costs_one_character(load_case):
    source = load_case("C007/one_broken_byte.txt")
    assert (source.encoding, source.encoding_certain) == ("utf-8", True)
    assert source.text.count("\ufffd") == 1
    assert "年額千二百円" in source.text
    assert "班長に聞いてください" in source.text
    assert "1か所" in source.notices[0].ja


def test_a_replacement_character_of_the_author_is_no_broken_byte():
    assert decode("前の人の保存で\ufffdになった".encode()).notices == ()


def test_jis_mail_keeps_half_width_kana_supplementary_kanji_and_row_13():
    jis = "件名 ".encode("iso2022_jp") + b"\x1b(I1\x1b(B " + "丂".encode("iso2022_jp_1") + b"\x1b$B-!\x1b(B"
    assert decode(jis).text == "件名 ｱ 丂①"


def test_jis_text_returns_to_ascii_at_the_end_of_a_line():
    assert decode(b"\x1b$B3R\nplain 3R").text == "械\nplain 3R".replace("械", b"\xb3\xd2".decode("euc_jp"))


def test_terminal_colours_are_not_taken_for_jis():
    assert decode(b"\x1b[31mred\x1b(B text").encoding == "utf-8"


def test_a_reading_that_cannot_be_told_is_marked():
    half_width = decode("ﾃﾞｰﾀ".encode("cp932"))  # as EUC-JP these bytes are two common kanji
    assert not half_width.certain
    assert "文字コードを確定できません" in half_width.notices[-1].ja


def test_western_text_is_read_but_marked_uncertain():
    decoded = decode("Le café est là où la réunion commence.".encode("cp1252"))
    assert (decoded.text, decoded.certain) == ("Le café est là où la réunion commence.", False)


def test_control_characters_make_a_legacy_reading_uncertain():
    assert not decode((MEMO * 3).encode("cp932") + b"\x01").certain


def test_the_given_encoding_wins_over_the_guess():
    assert decode("ﾃﾞｰﾀ".encode("cp932"), encoding="Shift_JIS").text == "ﾃﾞｰﾀ"
    assert decode("ﾃﾞｰﾀ".encode("cp932"), encoding="cp932").certain


@pytest.mark.parametrize("codec", ["utf-8", "cp932", "euc_jp"])
def test_tables_full_of_zeros_are_not_taken_for_wide_characters(codec):
    table = "".join(f"{n}000円,{n}0000円,0{n}000\n" for n in range(100))
    assert decode(table.encode(codec)).text == table


def test_an_unknown_encoding_is_wrong_use():
    with pytest.raises(SettingsError, match="klingon-8"):
        decode(b"abc", encoding="klingon-8")


@pytest.mark.parametrize(
    "content",
    [
        b"%PDF-1.7\n1 0 obj",
        b"PK\x03\x04rest",
        bytes(range(256)) * 4,
        b"\x00\x01\x02\x03" * 50,
        b"\x7fELF" + b"\x00\x00\x01\x02" * 20,
    ],
)
def test_binary_content_is_refused(content):
    with pytest.raises(UnreadableSource) as caught:
        decode(content)
    assert "バイナリ" in caught.value.ja


def test_a_stray_nul_is_removed_with_a_notice():
    decoded = decode(("値は七。\0" + "あとがき。" * 10).encode())
    assert decoded.text.startswith("値は七。あとがき。")
    assert [notice.ja for notice in decoded.notices] == ["NUL文字を1個取り除きました。"]


def test_lone_surrogates_are_replaced_and_the_rest_stays(cases):
    text = json.loads((cases / "C019/lone_surrogate.json").read_text())["text"]
    assert clean_text(text) == "壊れた絵文字 \ufffd の後ろに本文が続く。会場は南公園。"


def test_a_lone_surrogate_in_utf_16_is_replaced():
    content = codecs.BOM_UTF16_LE + "会場は南".encode("utf-16-le") + b"\x3d\xd8" + "公園".encode("utf-16-le")
    assert decode(content).text == "会場は南\ufffd公園"


def test_surrogates_written_as_utf_8_are_joined_or_replaced():
    content = "鍵は\ud83d\ude00、値は\ud83dです".encode(errors="surrogatepass")
    decoded = decode(content)
    assert (decoded.text, decoded.encoding) == ("鍵は😀、値は\ufffdです", "utf-8")


def test_legacy_text_with_bytes_like_surrogates_is_not_repaired():
    content = "秋刀魚".encode("euc_jp") + "鞄鞄、港の話です。".encode("euc_jp") + b"\xed\xa1\xb0"
    assert decode(content).encoding == "euc-jp"


def test_noise_of_high_bytes_is_refused():
    with pytest.raises(UnreadableSource):
        decode(b"\x80\xff\xfd\xa0" * 50)


def test_line_ends_become_line_feeds():
    assert clean_text("\ufeff一\r\n二\r三\n四") == "一\n二\n三\n四"


def test_empty_bytes_are_empty_text():
    assert decode(b"") == decode(codecs.BOM_UTF8)
    assert decode(b"").text == ""
