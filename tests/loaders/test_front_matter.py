import pytest

from fumikura.loaders.front_matter import read_front_matter


def test_values_stay_the_text_that_was_written(load_case):
    source = load_case("C056/date_frontmatter.md")
    assert source.title == "打ち合わせ"
    assert source.date == "2025-04-07"
    assert dict(source.metadata) == {
        "title": "打ち合わせ",
        "date": "2025-04-07",
        "updated": "2025-04-08T09:30:00+09:00",
        "rating": "4.5",
        "draft": "yes",
        "aliases": "初回会合",
        "version": "1.10",
        "time": "12:30",
    }
    assert source.text.strip() == "初回の議長は浜口さんです。"


def test_a_bom_does_not_hide_front_matter(load_case):
    source = load_case("C006/bom_frontmatter.md")
    assert (source.title, source.date, source.metadata["tags"]) == ("町内清掃の記録", "2025-05-18", "清掃, 記録")
    assert "tags:" not in source.text
    assert "五十二枚" in source.text


def test_bad_yaml_costs_the_metadata_but_no_text(load_case):
    source = load_case("C057/bad_frontmatter.md")
    assert "本文の鍵は「わかば」です。" in source.text
    assert "題: 副題" in source.text
    assert dict(source.metadata) == {}
    assert "フロントマター" in source.notices[0].ja
    assert source.sections[-1].heading_path == ("本文",)


def test_a_rule_that_looks_like_front_matter_is_body(load_case):
    source = load_case("C057/not_frontmatter.md")
    assert "合図は手拍子二回。" in source.text
    assert source.notices == ()
    assert [section.heading_path for section in source.sections] == [()]


@pytest.mark.parametrize(
    "text",
    [
        "---\nただの文章です。\n---\n続き",
        "---\n- 一\n- 二\n---\n続き",
        "---\n\ntitle: 題\n---\n",
        "---\n---\n本文",
        "---\ntitle: 閉じない\n本文",
        "本文\n---\ntitle: 題\n---\n",
        "--- \n: [\n---\n",
    ],
)
def test_what_is_no_mapping_at_the_start_stays_body(text):
    assert read_front_matter(text).body_start == 0
    assert read_front_matter(text).values == {}


def test_dots_may_close_it_and_the_file_may_end_there():
    assert read_front_matter("---\ntitle: 題\n...\n本文").values == {"title": "題"}
    assert read_front_matter("---\ntitle: 題\n---").values == {"title": "題"}


def test_tags_cannot_build_objects_and_deep_structure_is_left_out():
    text = "---\nrun: !!python/object/apply:os.getcwd []\nplace:\n  city: 港\ntags: [一, [二], 三]\nnone:\n---\n"
    assert read_front_matter(text).values == {"tags": "一, 三"}


def test_nested_aliases_do_not_grow():
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert read_front_matter("---\n" + "\n".join(lines) + "\n---\n").values == {"a0": "x, x"}


def test_bottomless_brackets_cost_the_metadata_only():
    front = read_front_matter("---\nkey: " + "[" * 15_000 + "\n---\n本文")
    assert (front.values, front.body_start) == ({}, 0)
    assert front.notices
