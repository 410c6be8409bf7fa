"""Spellings, encodings and shapes of text that broke other tools: the question finds its line among the first passages.

Each row names the case's files, a question, and what one of the first three passages must hold.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fumikura.library import Library, Places
from fumikura.records import SearchResult

SETTINGS = Path(__file__).parents[2] / "config" / "settings.json"

ROWS = [
    ("C001", "次回の会場は？", "次回の会場は第３会議室"),
    ("C001", "出席者は？", "髙橋、山﨑、㈱ひばり製作所 鵜飼"),
    ("C003", "倉庫のかぎはどこ？", "青い箱の二段目"),
    ("C004", "次回の点検日は？", "七月八日"),
    ("C005", "棚卸しの担当は？", "柏木さん"),
    ("C006", "ごみ袋は何枚？", "五十二枚"),
    ("C007", "会費は？", "年額千二百円"),
    ("C007", "振込先は誰に聞く？", "班長"),
    ("C009", "オーダー番号AB-123の担当は？", "ﾐﾔｻﾞｷ"),
    ("C009", "データセット一覧はどこ？", "ﾃﾞｰﾀｾｯﾄ一覧"),
    ("C009", "ETL処理は何時？", "毎朝６時"),
    ("C012", "8月10日～8月16日は何？", "8月10日〜8月16日"),
    ("C012", "9時〜17時は？", "9時～17時"),
    ("C012", "KX-200の在庫は？", "KX‐200"),
    ("C013", "高島さんの役は？", "髙島"),
    ("C013", "山崎さんは？", "山﨑"),
    ("C013", "渡辺さんは？", "渡邊"),
    ("C013", "沢田さんの旧姓は？", "廣瀬"),
    ("C014", "サーバーの保守は？", "サーバの保守"),
    ("C014", "ヴァイオリンの貸し出しは？", "バイオリンの貸し出し"),
    ("C014", "メインテナンスは誰に？", "メンテナンスは"),
    ("C015", "灯台の建て替えは5年前？", "五年前"),
    ("C015", "橋は123メートル？", "百二十三メートル"),
    ("C015", "2025年4月1日に何があった？", "令和七年四月一日"),
    ("C016", "株式会社あさひ商会に何を頼んだ？", "㈱あさひ商会"),
    ("C016", "重さは何キロ？", "５㌔"),
    ("C018", "霧笛が三度鳴ると？", "霧笛《むてき》が三度鳴る"),
    ("C019", "𩸽はいくら？", "三百円"),
    ("C020", "受付番号は？", "受付"),
    ("C020", "葛城市の案内は？", "葛󠄀城市の案内"),
    ("C020", "申請書はどこ？", "窓口に"),
    ("C034", "金庫の番号は？", "七七一二"),
    ("C034", "終わりの合図は？", "笛三回"),
    ("C036", "最後の合図は？", "緑の旗"),
    ("C056", "初回の議長は？", "浜口さん"),
    ("C057", "本文の鍵は？", "わかば"),
    ("C057", "合図は？", "手拍子二回"),
    ("C058", "棚47の最低在庫はいくつ？場所は？", "| 棚47 | 部品47 | 141 | 西倉庫 |"),
    ("C058", "部品33の場所は？", "| 部品33 | 99 | 南倉庫 |"),
    ("C059", "ポート番号は？", "MINATO_PORT=4821"),
    ("C059", "停止の方法は？", "停止は二回押す"),
    ("C060", "火曜の朝の持ち物は？", "懐中電灯"),
    ("C064", "合言葉は？ {context} {0}", "{さくら}"),
    ("C065", "倉庫の担当は？", "森下さん"),
    ("C068", "第61区は何時？", "第61区の水道は午後7時"),
    ("C069", "末尾の暗証は？", "ききょう"),
    ("C105", "水位計の色は？", "青い柱"),
]


def add_case(library: Library, folder: Path) -> None:
    reports = library.add("default", [folder])
    assert {report.status for report in reports} <= {"added", "no_text", "failed"}


@pytest.fixture(scope="module")
def library_of(cases: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Library]]:
    """The library that holds one case's files; each is added once, since embedding takes the time."""
    opened: dict[str, Library] = {}

    def find(case: str) -> Library:
        if case not in opened:
            opened[case] = Library.open(Places(SETTINGS, tmp_path_factory.mktemp(case)), environment={})
            add_case(opened[case], cases / case)
        return opened[case]

    yield find
    for library in opened.values():
        library.close()


def texts(found: SearchResult) -> list[str]:
    return ["\n".join((*hit.heading_path, hit.lead, hit.text)) for hit in found.hits]


@pytest.mark.parametrize(("case", "question", "expected"), ROWS, ids=[f"{row[0]}-{row[1][:12]}" for row in ROWS])
def test_question_finds_its_line(library_of: Callable[[str], Library], case: str, question: str, expected: str) -> None:
    found = library_of(case).notebook("default").search(question)
    assert any(expected in text for text in texts(found)[:3]), texts(found)


@pytest.mark.parametrize("case", ["C001", "C008", "C009", "C013", "C016", "C018", "C019", "C020", "C034"])
def test_hits_are_exact_slices_of_the_source(library_of: Callable[[str], Library], case: str) -> None:
    library = library_of(case)
    for hit in library.notebook("default").search("受付番号 会場 担当 鍵 重さ 番号").hits:
        assert library.store.source_text("default", hit.source_id)[hit.start : hit.end] == hit.text


def test_c008_decomposed_kana_meet_ordinary_questions(library: Library, cases: Path) -> None:
    add_case(library, cases / "C008")
    assert library.notebook("default").search("ボランティアの募集はどこで？").hits[0].lexical_rank == 1


def test_c010_odd_widths_in_the_question(library: Library, cases: Path) -> None:
    add_case(library, cases / "C010")
    for question in json.loads((cases / "C010" / "queries.json").read_text(encoding="utf-8")):
        found = library.notebook("default").search(question)
        assert any("データセット一覧" in " ".join(hit.heading_path) for hit in found.hits), question


@pytest.mark.parametrize("dense", [True, False])
def test_c076_short_words_find_their_section(library: Library, cases: Path, dense: bool) -> None:
    add_case(library, cases / "C076" / "short_words.md")
    wanted = {"雨": "雨", "熊": "熊", "鍵": "鍵", "霧は？": "霧", "会議": "会議"}
    assert list(wanted) == json.loads((cases / "C076" / "queries.json").read_text(encoding="utf-8"))
    for question, word in wanted.items():
        first = library.retriever.search("default", question, 3, dense=dense).hits[0]
        assert word in f"{first.heading_path} {first.text}"


def test_c077_no_question_breaks_the_keyword_index(library: Library, cases: Path) -> None:
    add_case(library, cases / "C076" / "short_words.md")
    notebook = library.notebook("default")
    for question in json.loads((cases / "C077" / "queries.json").read_text(encoding="utf-8")):
        if question.strip() and len(question) <= library.settings.limits.question_chars:
            notebook.search(question)
    assert "鍵を忘れた" in notebook.search("「鍵」は？").hits[0].text
    assert len(library.store.sources("default")) == 1


def test_c061_the_fourth_remark_is_found_under_its_own_heading(library: Library, cases: Path) -> None:
    add_case(library, cases / "C061")
    for question, path, text in [
        ("西館の定員は？", ("施設案内", "西館", "備考"), "六十五名"),
        ("調理室の注意は？", ("施設案内", "調理室", "備考"), "火気注意"),
    ]:
        first = library.notebook("default").search(question).hits[0]
        assert first.heading_path == path
        assert text in first.text


def test_c078_copies_take_one_place_and_are_named(library: Library, cases: Path) -> None:
    add_case(library, cases / "C078")
    hits = library.notebook("default").search("平日と休日の貸出は？").hits
    assert any(hit.source.endswith("holiday.md") for hit in hits)
    copies = [hit for hit in hits if "平日の午前九時" in hit.text]
    assert len(copies) == 1
    assert len(copies[0].also_in) == 6


def test_c021_no_chunk_begins_inside_a_character(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library = open_library(
        "", FUMIKURA__CHUNK__METHOD="fixed", FUMIKURA__CHUNK__SIZE="101", FUMIKURA__CHUNK__OVERLAP="7"
    )
    add_case(library, cases / "C021")
    found = library.notebook("default").search("合言葉は？")
    assert any("みかん畑" in text for text in texts(found))
    assert not [hit for hit in found.hits if hit.text[0] in "\u3099\u200d\ufe0f"]
