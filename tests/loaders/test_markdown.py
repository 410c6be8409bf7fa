import time

import pytest

from fumikura.errors import UnreadableSource


def headings(source):
    return [section.heading_path for section in source.sections]


def kinds(source):
    return [block.kind for section in source.sections for block in section.blocks]


def block_texts(source, kind):
    blocks = [block for section in source.sections for block in section.blocks if block.kind == kind]
    return [source.text[block.start : block.end] for block in blocks]


def test_headings_of_both_styles_make_paths(load):
    source = load("# 案内\n\n前書き。\n\n東館\n----\n\n一階。\n\n### 備考 ###\n\n静かに。\n\n西館\n====\n\n二階。\n")
    assert headings(source) == [("案内",), ("案内", "東館"), ("案内", "東館", "備考"), ("西館",)]
    assert source.sections[1].text == "東館\n----\n\n一階。\n\n"


def test_a_skipped_level_keeps_its_parent(load):
    assert headings(load("# 上\n\n### 深い\n\n本文\n\n## 中\n\n本文\n")) == [("上",), ("上", "深い"), ("上", "中")]


def test_text_before_the_first_heading_has_its_own_section(load):
    source = load("\n\n前書き。\n# 見出し\n本文。\n")
    assert headings(source) == [(), ("見出し",)]
    assert source.sections[0].text == "\n\n前書き。\n"


def test_only_headings_outside_of_code_count(load_case):
    source = load_case("C059/code_fences.md")
    assert headings(source) == [("起動手順",), ("停止手順",)]
    first, second, third = block_texts(source, "code")
    assert "## これも見出しではない" in first and "4821" in first
    assert "retry: 7" in second
    assert third.startswith("```\n閉じ忘れの囲い") and third.endswith("# ここも見出しではない")


@pytest.mark.parametrize("code", ["    # 字下げ", "~~~\n# 波\n~~~", "``` \n# 囲い\n```", "> ```\n> # 引用\n> ```"])
def test_no_shape_of_code_opens_a_section(load, code):
    assert headings(load(f"# 見出し\n\n{code}\n\n本文\n")) == [("見出し",)]


@pytest.mark.parametrize("text", ["> # 引用の中", "- # 一覧の中", "#見出しではない", "####### 七つ", "\\# 逃がした印"])
def test_what_only_looks_like_a_heading_is_none(load, text):
    assert headings(load(f"{text}\n")) == [()]


def test_prose_above_a_rule_is_no_heading(load):
    source = load("会議は三時に始まった。\n---\n\n折り返した\n文章も続く\n---\n\n後半\n")
    assert headings(source) == [()]
    assert kinds(source) == ["paragraph", "paragraph", "paragraph"]


def test_a_very_long_heading_is_a_paragraph(load):
    assert headings(load("# " + "長" * 300)) == [()]


def test_heading_texts_lose_their_mark_up(load):
    text = (
        "# **「重要」**な`設定` {/*id*/}\n\n## [手引き](https://example.org) &amp; *図* ![地図](m.png) {#here}\n\n"
        "## 印<br>つき\n\n本文\n"
    )
    assert headings(load(text)) == [
        ("「重要」な設定",),
        ("「重要」な設定", "手引き & 図 地図"),
        ("「重要」な設定", "印つき"),
    ]


def test_an_empty_heading_ends_the_section_before_it(load):
    assert headings(load("# 一\n\n本文\n\n##\n\n続き\n")) == [("一",), ("一",)]


def test_the_same_sub_heading_keeps_its_full_path(load_case):
    source = load_case("C061/repeated_headings.md")
    found = {section.heading_path: section.text for section in source.sections}
    assert "六十五名" in found[("施設案内", "西館", "備考")]
    assert "火気注意" in found[("施設案内", "調理室", "備考")]
    assert len([path for path in found if path[-1] == "備考"]) == 4


def test_blocks_say_what_they_are(load):
    source = load(
        "# 題\n\n段落。\n\n- 一\n- 二\n\n1. 三\n\n| 棚 | 数 |\n|---|---|\n| 一 | 2 |\n\n```\ncode\n```\n\n"
        "> 引用\n\n<div>\n印\n</div>\n\n---\n\n[名]: https://example.org\n"
    )
    assert kinds(source) == [
        "heading",
        "paragraph",
        "list",
        "list",
        "table",
        "code",
        "paragraph",
        "paragraph",
        "paragraph",
    ]
    assert block_texts(source, "list") == ["- 一\n- 二", "1. 三"]
    assert block_texts(source, "paragraph")[-1] == "[名]: https://example.org"


def test_a_table_knows_its_header_rows(load_case):
    source = load_case("C058/long_table.md")
    (table,) = [block for section in source.sections for block in section.blocks if block.kind == "table"]
    header = source.text[table.start : table.header_end].split("\n")
    assert header[0] == "| 棚番 | 品名 | 最低在庫 | 場所 |"
    assert set(header[1]) <= set("|-: ")
    assert source.text[table.start : table.end].count("\n") == 61


def test_a_table_at_the_end_of_the_file_without_rows(load):
    source = load("| 棚 | 数 |\n|---|---|")
    (table,) = source.sections[0].blocks
    assert (table.kind, table.header_end) == ("table", len(source.text))


@pytest.mark.parametrize("path", ["C064/braces.md", "C065/special_tokens.md", "C019/astral_and_emoji.md"])
def test_the_text_is_what_the_author_wrote(load_case, cases, path):
    assert load_case(path).text == (cases / path).read_text()


def test_titles_come_from_front_matter_then_heading_then_name(load):
    assert load("---\ntitle: 表\n---\n# 題\n").title == "表"
    assert load("## 副\n\n# 題\n").title == "題"
    assert load("本文", name="買い物メモ.md").title == "買い物メモ"


def test_names_are_nfc(load, cases):
    nfd = "か\u3099イド_ハ\u309aート.md"
    source = load((cases / "C022/body.md").read_bytes(), name=nfd)
    assert (source.name, source.origin) == ("がイド_パート.md", "notes/がイド_パート.md")
    assert load("本文", name=nfd).title == "がイド_パート"


def test_the_time_of_the_file_is_kept_but_is_not_the_date_of_the_text(load):
    source = load("本文", modified="2026-01-01")
    assert (source.date, source.metadata["modified"]) == (None, "2026-01-01")
    assert load("本文", name="2025-03-02 会議.md", modified="2026-01-01").date == "2025-03-02"


def test_a_date_at_the_end_of_a_name_is_no_suffix(load):
    source = load("本文", name="会議 2025.03.02")
    assert (source.title, source.date, source.kind) == ("会議 2025.03.02", "2025-03-02", "text")


@pytest.mark.parametrize("path", ["blank_only.txt", "bom_only.txt", "empty.md", "frontmatter_only.md"])
def test_a_file_without_text_has_no_sections(load_case, path):
    source = load_case(f"C031/{path}")
    assert (source.text, source.sections) == ("", ())


def test_a_title_without_a_body_is_kept(load_case):
    assert load_case("C031/frontmatter_only.md").title == "題だけ"


def test_hash_and_size_are_those_of_the_bytes(load):
    source = load("abc")
    assert source.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (source.size_bytes, source.kind, source.encoding) == (3, "markdown", "utf-8")


def test_binary_content_under_a_markdown_name_is_refused(load):
    with pytest.raises(UnreadableSource):
        load(b"%PDF-1.4 \x00\x01", name="a.md")


def test_a_giant_line_is_read_in_seconds(load):
    started = time.monotonic()
    source = load("港の倉庫には品番の木箱があり、" * 430_000 + "金庫の番号は七七一二である")
    assert time.monotonic() - started < 10
    assert source.size_bytes > 19_000_000
    assert source.sections[-1].text.endswith("七七一二である")
