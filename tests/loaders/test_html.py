"""Web pages become readable text: what a reader of the page sees, in order, and nothing else."""

import time

import pytest

from fumikura.errors import UnreadableSource
from fumikura.loaders import HtmlLoader
from fumikura.records import SourceFile


def read(page: str | bytes, name: str = "page.html"):
    content = page.encode() if isinstance(page, str) else page
    return HtmlLoader().load(SourceFile(f"upload:{name}", name, content))


def test_headings_paragraphs_lists_and_tables_keep_their_order():
    source = read(
        """<!DOCTYPE html><html lang=ja><head><title>ひかり公園 案内</title>
        <meta property="article:published_time" content="2026-04-02T09:00:00+09:00"></head>
        <body><h1>ひかり公園</h1><p>開園は<b>九時</b>です。
        入口は北側。</p><h2>料金</h2>
        <ul><li>大人 300円<ul><li>市民 200円</ul><li>子ども 無料</ul>
        <ol><li>並ぶ<li>払う</ol>
        <table><tr><th>曜日<th>閉園<tr><td>土<td>18時</table>
        <pre>bus  =  3
wait = 2</pre></body></html>"""
    )
    assert source.text == (
        "# ひかり公園\n\n開園は九時です。入口は北側。\n\n## 料金\n\n- 大人 300円\n    - 市民 200円\n- 子ども 無料\n\n"
        "1. 並ぶ\n2. 払う\n\n| 曜日 | 閉園 |\n|---|---|\n| 土 | 18時 |\n\n```\nbus  =  3\nwait = 2\n```\n"
    )
    assert (source.kind, source.title, source.date) == ("html", "ひかり公園 案内", "2026-04-02")
    assert [section.heading_path for section in source.sections] == [("ひかり公園",), ("ひかり公園", "料金")]
    assert HtmlLoader().sections_of(source.text) == source.sections
    assert all(source.text[section.start : section.end] == section.text for section in source.sections)


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>秘密()</script>",
        "<style>.a{content:'秘密'}</style>",
        "<!-- 秘密 -->",
        "<p hidden>秘密</p>",
        "<p hidden>秘密",
        "<div style='color:red; Display : none'>秘密<div>秘密</div>秘密</div>",
        "<span aria-hidden=true>秘密</span>",
        "<nav><ul><li>秘密</ul></nav>",
        "<template>秘密</template>",
        "<button>秘密</button>",
        "<svg><title>秘密</title><text>秘密</text></svg>",
        "<textarea>秘密</textarea>",
        "<img src=x onerror='秘密()' alt=''>",
        "<a href=\"javascript:alert('秘密')\"></a>",
        "<noscript>秘密</noscript>",
    ],
)
def test_what_no_reader_sees_is_left_out(hidden):
    assert read(f"<title>題</title><p>前の文。</p>{hidden}<p>後の文。</p>").text == "前の文。\n\n後の文。\n"


def test_the_marked_main_part_is_taken_alone_unless_it_is_empty():
    around = "<header>店の名</header>{}<footer>宣伝</footer>"
    assert read(around.format("<main><p>本文です。</p></main>")).text == "本文です。\n"
    assert read(around.format("<main> </main><p>本文です。</p>")).text == "店の名\n\n本文です。\n\n宣伝\n"


def test_nothing_is_escaped_so_that_quotes_match():
    source = read("<h2>1. 背景</h2><p>64.1％ *印* と_下線_ &lt;b&gt; &amp; 10&nbsp;km #5 [a](b)</p>")
    assert source.text == "## 1. 背景\n\n64.1％ *印* と_下線_ <b> & 10 km #5 [a](b)\n"


def test_readings_stay_beside_their_kanji_and_breaks_stay_breaks():
    source = read("<p><ruby>綴坂<rp>（</rp><rt>つづれざか</rt><rp>）</rp></ruby>の家。<br>二行目。</p>")
    assert source.text == "綴坂（つづれざか）の家。\n二行目。\n"


def test_lists_inside_of_lists_and_tables_with_a_caption():
    source = read("<ul><li>一<div><ol><li>い<br>ろ</ol></div><ul><li>に</ul></ul><ul><ul><li hidden>秘<li>三</ul></ul>")
    assert source.text == "- 一\n    1. い ろ\n    - に\n\n    - 三\n"
    source = read("<table><caption>料金</caption><tr><td>大人<br>一人<td>a|b<tr><td><ruby>宿<rt>やど</ruby></table>")
    assert source.text == "料金\n\n| 大人 一人 | a\\|b |\n|---|---|\n| 宿（やど） |  |\n"


def test_a_table_that_only_arranges_the_page_is_no_table():
    source = read("<table><tr><td><h2>左</h2><p>一。</p><td><ul><li>右</ul></table>")
    assert source.text == "## 左\n\n一。\n\n- 右\n"


@pytest.mark.parametrize("missing", ["<html><head><title>t</title><body>", "<head><meta charset=utf-8><p>", ""])
def test_end_tags_that_html_lets_out_are_no_loss(missing):
    assert "会場は講堂です。" in read(f"{missing}会場は講堂です。<dl><dt>開始<dd>十時</dl>").text


@pytest.mark.parametrize(
    ("codec", "label"), [("cp932", "Shift_JIS"), ("euc_jp", "euc-jp"), ("utf-8", "UTF-8"), ("cp932", "utf-8")]
)
def test_the_declared_charset_is_used_where_the_bytes_bear_it_out(codec, label):
    page = f"<meta http-equiv=Content-Type content='text/html; charset={label}'><p>倉庫のかぎは青い箱の二段目。①</p>"
    if codec == "euc_jp":
        page = page.replace("①", "")
    assert read(page.encode(codec)).text.startswith("倉庫のかぎは青い箱の二段目。")


@pytest.mark.parametrize("codec", ["utf-16", "iso2022_jp", "cp932", "utf-8-sig"])
def test_undeclared_charsets_are_recognised(codec):
    page = "<html><body><p>倉庫のかぎは、青い箱の二段目に置いてあります。</p></body></html>"
    assert read(page.encode(codec)).text == "倉庫のかぎは、青い箱の二段目に置いてあります。\n"


def test_a_page_without_text_and_one_that_is_no_text():
    assert read("<html><body><script>x</script></body></html>").sections == ()
    with pytest.raises(UnreadableSource):
        read(bytes(range(256)) * 8)


@pytest.mark.parametrize(
    "piece",
    [
        "<a ",
        "<!--",
        "<![",
        "<a href='",
        '<a href="',
        "<p",
        "</",
        "<script>",
        "<",
        "&#",
        "<div>",
        "<li>",
        "<b><p>",
        "<td>",
    ],
)
def test_hostile_pages_take_no_time(piece):
    """The standard parser takes quadratic time for the first ones."""
    begun = time.monotonic()
    read("<p>前。</p>" + piece * (200_000 // len(piece)))
    assert time.monotonic() - begun < 10


def test_one_wide_row_does_not_fill_every_other_row():
    page = "<table>" + "<tr><td>a<td>b" * 300 + "<tr>" + "<td>c" * 2_000 + "</table>"
    assert len(read(page.encode()).text) < 20 * len(page)
