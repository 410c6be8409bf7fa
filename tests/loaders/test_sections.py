import pytest

from fumikura.loaders import MAX_SECTION_CHARACTERS

LIMIT = MAX_SECTION_CHARACTERS


def longest(source):
    return max(len(section.text) for section in source.sections)


def test_a_long_section_continues_at_a_paragraph_under_the_same_heading(load):
    paragraph = "港の倉庫に木箱がある。" * 500
    source = load("# 倉庫\n\n" + "\n\n".join([paragraph] * 9) + "\n")
    assert len(source.sections) > 2
    assert {section.heading_path for section in source.sections} == {("倉庫",)}
    assert longest(source) <= LIMIT
    assert all(section.text.rstrip().endswith(paragraph) for section in source.sections)


def test_a_long_paragraph_is_cut_between_sentences(load):
    source = load("第一の港の倉庫に木箱がある。" * 4_000)
    assert longest(source) <= LIMIT
    assert all(section.text.endswith("。") and section.text.startswith("第") for section in source.sections)


def test_a_heading_stays_with_the_paragraph_below_it(load):
    source = load("前。\n\n# 題\n\n" + "あ" * 50_000)
    assert source.sections[1].text.startswith("# 題\n\nああ")


def test_a_long_list_is_cut_at_top_level_entries(load):
    source = load("- 親の項目\n  - 子の項目\n  - 孫ではない項目\n" * 2_000)
    assert longest(source) <= LIMIT
    assert all(section.text.startswith("- 親") for section in source.sections)


def test_long_code_is_cut_at_lines(load):
    source = load("```\n" + "print('港の倉庫')\n" * 3_000 + "```\n")
    assert all(section.text.endswith("\n") for section in source.sections)
    assert {block.kind for section in source.sections for block in section.blocks} == {"code"}


def test_a_long_table_keeps_pointing_at_its_header(load):
    source = load("前置き。\n\n| 棚 | 数 |\n|---|---|\n" + "| 一番 | 22 |\n" * 6_000)
    tables = [block for section in source.sections for block in section.blocks if block.kind == "table"]
    first, *rest = tables
    assert len(rest) >= 3
    assert source.text[first.start : first.header_end] == "| 棚 | 数 |\n|---|---|"
    for block in rest:
        assert source.text[block.header_start : block.header_end] == "| 棚 | 数 |\n|---|---|"
        assert source.text[block.start :].startswith("| 一番")


@pytest.mark.parametrize("text", ["あ" * 45_000, "word " * 9_000, "👩🏽‍💻" * 12_000, "#" * 50_000, "e\u0301" * 23_000])
def test_text_without_any_border_is_still_bounded(load, text):
    source = load(text, name="a.txt")
    assert longest(source) <= LIMIT
    assert "".join(section.text for section in source.sections) == source.text
    assert not any(section.text[0] in "\u200d\u0301\U0001f3fd" for section in source.sections)


def test_blocks_lie_inside_their_section_in_order(load):
    source = load("# 題\n\n" + "段落。\n\n- 一\n\n" * 4_000)
    for section in source.sections:
        places = [place for block in section.blocks for place in (block.start, block.end)]
        assert places == sorted(places)
        assert section.start <= places[0] and places[-1] <= section.end
