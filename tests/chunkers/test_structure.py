import time

import pytest
import regex

from fumikura.errors import SettingsError

NEVER_FIRST = "。、」』）ぁぃぅぇぉっゃゅょァィゥェォッャュョ"


def texts(chunks):
    return [chunk.text for chunk in chunks]


def test_small_paragraphs_of_a_section_share_a_chunk(structure, markdown):
    chunks = structure().chunk(markdown("# 案内\n\n港の話。\n\n山の話。\n\n## 別\n\n市場の話。\n"))
    assert texts(chunks) == ["港の話。\n\n山の話。", "市場の話。"]
    assert chunks[1].heading_path == ("案内", "別")


def test_a_paragraph_that_fits_is_not_torn_to_fill_a_chunk(structure, markdown):
    first, second = "港の話。" * 12, "山の話。" * 12
    assert texts(structure(64).chunk(markdown(f"{first}\n\n{second}\n"))) == [first, second]


def test_sentences_stay_whole_and_chunks_end_after_the_full_stop(structure, load_case):
    chunks = structure(100).chunk(load_case("C068/sentences.md"))
    assert len(chunks) > 15
    assert all(chunk.text.endswith("。") and len(chunk.text) <= 100 for chunk in chunks)
    assert not any(chunk.text[0] in NEVER_FIRST for chunk in chunks)
    assert any("第61区の水道は午後7時" in chunk.text for chunk in chunks)


def test_a_sentence_above_the_size_is_cut_at_a_pause(structure, markdown):
    sentence = "港には木箱があり、" * 30 + "数は七である。"
    chunks = structure(64).chunk(markdown(sentence))
    assert all(text.endswith("、") for text in texts(chunks)[:-1])
    assert "".join(texts(chunks)) == sentence


@pytest.mark.parametrize("unit", ["きゃっしゅ", "データー", "「ああっ」", "か\u3099ーー"])
def test_without_a_pause_no_chunk_starts_with_a_small_kana_or_a_closing_mark(structure, markdown, unit):
    for size in range(11, 20):
        chunks = structure(size).chunk(markdown(unit * 60))
        assert not any(chunk.text[0] in NEVER_FIRST + "ー\u3099" for chunk in chunks)
        assert "".join(texts(chunks)) == unit * 60


def test_every_piece_of_a_table_carries_its_header_and_no_row_is_cut(structure, load_case):
    source = load_case("C058/long_table.md")
    chunks = structure(120).chunk(source)
    rows = {line for line in source.text.splitlines() if line.startswith("| 棚") and "棚番" not in line}
    assert len(rows) == 60
    for chunk in chunks[1:]:
        assert chunk.lead.startswith("| 棚番 | 品名 | 最低在庫 | 場所 |")
        assert set(chunk.text.split("\n")) <= rows
    assert sum(line in rows for chunk in chunks for line in chunk.text.split("\n")) == 60
    assert any("| 棚47 | 部品47 | 141 | 西倉庫 |" in chunk.text for chunk in chunks)


def test_a_row_above_the_size_stays_whole(structure, markdown):
    row = "| " + "長い値" * 40 + " | 七 |"
    chunks = structure(50).chunk(markdown(f"| 項目 | 数 |\n|---|---|\n| 一 | 二 |\n{row}\n| 三 | 四 |\n"))
    assert row in texts(chunks)


def test_a_table_that_goes_on_in_a_further_section_keeps_its_header(structure, markdown):
    chunks = structure().chunk(markdown("| 棚 | 数 |\n|---|---|\n" + "| 一番の棚 | 22 |\n" * 3_000))
    assert chunks[-1].section > 0
    assert all(chunk.lead == "| 棚 | 数 |\n|---|---|" for chunk in chunks[1:])


def test_a_table_of_a_header_only_is_kept_whole(structure, markdown):
    header = "| 長い見出しの列 | 別の列 |\n|---|---|"
    assert texts(structure(10).chunk(markdown(header))) == [header]


def test_code_stays_with_its_section_and_whole(structure, load_case):
    first, second = structure().chunk(load_case("C059/code_fences.md"))
    assert first.heading_path == ("起動手順",) and second.heading_path == ("停止手順",)
    assert "export MINATO_PORT=4821\n````" in first.text and "retry: 7\n~~~" in first.text
    assert "停止は二回押す。" in second.text and second.text.endswith("# ここも見出しではない")


def test_long_code_is_cut_at_blank_lines_then_lines(structure, markdown):
    code = "```\n" + "\n".join(f"step_{n}()\nwait({n})\n" for n in range(30)) + "```"
    chunks = structure(100).chunk(markdown(code))
    assert all(text.startswith(("```", "step_")) for text in texts(chunks))


@pytest.mark.parametrize("size", [12, 20, 30, 45, 60, 90])
def test_a_list_entry_never_stands_without_its_parents(structure, load_case, size):
    parents = {
        "持ち物：鍵、名札": ["月曜", "朝：有田"],
        "夕：石井": ["月曜"],
        "持ち物：懐中電灯": ["火曜", "朝：上田"],
        "夕：江藤": ["火曜"],
        "机を並べる": ["準備"],
        "施錠する": ["片付け"],
    }
    chunks = structure(size).chunk(load_case("C060/nested_list.md"))
    for entry, above in parents.items():
        (chunk,) = [chunk for chunk in chunks if entry in chunk.text]
        read = f"{chunk.lead}\n{chunk.text}"
        assert all(parent in read[: read.index(entry)] for parent in above)


def test_a_lead_ends_with_the_entries_below_it(structure, load_case):
    chunks = structure(20).chunk(load_case("C060/nested_list.md"))
    assert [(chunk.lead, chunk.text) for chunk in chunks[:3]] == [
        ("", "- 月曜\n  - 朝：有田"),
        ("- 月曜\n  - 朝：有田", "- 持ち物：鍵、名札"),
        ("- 月曜", "- 夕：石井"),
    ]


def test_text_after_a_list_does_not_get_its_parents(structure, markdown):
    chunks = structure(24).chunk(markdown("- 親の項目\n  - 子の項目その一\n  - 子の項目その二\n\n後の段落。\n"))
    assert chunks[-1].text == "後の段落。"
    assert chunks[-1].lead == ""


def test_entries_in_code_inside_a_list_are_no_entries(structure, markdown):
    text = "- 手順\n\n  ```\n  - 印ではない\n  ```\n\n- 次\n" + "- 詰め物の項目\n" * 8
    assert "- 手順\n\n  ```\n  - 印ではない\n  ```" in texts(structure(45).chunk(markdown(text)))[0]


def test_a_long_entry_is_cut_at_sentences_below_its_parents(structure, markdown):
    entry = "港の倉庫に木箱がある。" * 10
    chunks = structure(50).chunk(markdown(f"- 倉庫\n  - {entry}\n"))
    assert all(chunk.lead.startswith("- 倉庫") for chunk in chunks[1:])
    assert all(text.endswith("。") for text in texts(chunks)[1:])


def test_a_very_long_parent_is_shortened_in_the_lead(structure, markdown):
    chunks = structure(60).chunk(
        markdown("- " + "長い親" * 60 + "\n  - 子の項目\n  - 次の子の項目は少し長く書いておく\n")
    )
    assert max(len(chunk.lead) for chunk in chunks) <= 81


def test_a_heading_without_text_is_found_through_what_is_below_or_by_itself(structure, load_case, markdown):
    chunks = structure().chunk(load_case("C061/repeated_headings.md"))
    assert ("施設案内", "西館", "備考") in [chunk.heading_path for chunk in chunks]
    assert not any(chunk.text.startswith("#") for chunk in chunks)
    alone = structure().chunk(markdown("# 案内\n\n本文。\n\n## 夜間窓口は北門\n\n---\n\n# 終わり\n"))
    assert texts(alone) == ["本文。", "## 夜間窓口は北門", "# 終わり"]
    assert alone[1].heading_path == ("案内", "夜間窓口は北門")


def test_rules_and_empty_headings_are_no_chunks(structure, markdown):
    assert structure().chunk(markdown("#\n\n---\n\n***\n")) == []


def test_chunks_fit_the_window_as_measured(structure, load_case):
    source = load_case("C069/dense_kanji_tail.txt")

    def three_tokens_each(text):
        return 3 * len(text) + 2

    chunks = structure(256, max_tokens=500, count_tokens=three_tokens_each).chunk(source)
    assert max(three_tokens_each(chunk.embed_text) for chunk in chunks) <= 500
    assert "".join(texts(chunks)) == source.text.strip()
    assert "ききょう" in chunks[-1].text


def test_a_long_heading_path_is_shortened_before_the_text_is_cut(structure, markdown):
    path = "".join(f"{'#' * level} {'見出し' * 20}{level}\n\n" for level in range(1, 7))
    body = "港の倉庫に木箱がある。" * 4
    (chunk,) = structure(256, max_tokens=120).chunk(markdown(f"{path}{body}\n"))
    assert chunk.text == body
    assert chunk.heading_path[0].startswith("見出し")
    assert len(chunk.embed_text) <= 118


def test_a_long_table_header_is_shortened_before_rows_are_cut(structure, markdown):
    header = "| " + " | ".join(f"列の名前{n}" for n in range(20)) + " |\n" + "|---" * 20 + "|\n"
    rows = "".join("| " + " | ".join(["値"] * 20) + f" {n} |\n" for n in range(10))
    chunks = structure(256, max_tokens=150).chunk(markdown(header + rows))
    assert all(len(chunk.embed_text) <= 148 for chunk in chunks)
    assert chunks[-1].lead.startswith("| 列の名前0") and chunks[-1].lead.endswith("…")
    assert sum(text.count("| 値 | 値") > 0 for text in texts(chunks)) >= 5


def test_a_window_that_holds_nothing_is_refused(structure, markdown):
    with pytest.raises(SettingsError, match="window of 2 tokens"):
        structure(256, max_tokens=2).chunk(markdown("本文"))
    with pytest.raises(SettingsError):
        structure(256, max_tokens=0)


def test_a_grapheme_above_the_window_is_cut_rather_than_lost(structure, markdown):
    pile = "が" + "\u0301" * 40
    chunks = structure(256, max_tokens=22).chunk(markdown(pile))
    assert "".join(texts(chunks)) == pile


@pytest.mark.parametrize("size", [0, -5])
def test_a_size_below_one_is_refused(structure, size):
    with pytest.raises(SettingsError, match=str(size)):
        structure(size)


def test_graphemes_stay_whole(structure, load_case):
    source = load_case("C021/grapheme_runs.txt")
    borders = {match.start() for match in regex.finditer(r"\X", source.text)} | {len(source.text)}
    for size in (7, 101):
        chunks = structure(size).chunk(source)
        assert all(chunk.start in borders and chunk.end in borders for chunk in chunks)
        assert "".join(texts(chunks)).replace("\n", "") == source.text.replace("\n", "")


def test_long_lines_and_blank_lines_take_seconds(structure, load_case):
    started = time.monotonic()
    line = structure().chunk(load_case("C034/one_line.txt"))
    emoji = structure().chunk(load_case("C034/emoji_run.txt"))
    blank = structure().chunk(load_case("C036/many_blank_lines.txt"))
    assert time.monotonic() - started < 5
    assert line[-1].text.endswith("金庫の番号は七七一二である")
    assert emoji[-1].text.endswith("終わりの合図は笛三回")
    assert texts(blank) == ["最初の行", "最後の行。合図は緑の旗。"]


def test_the_recipe_names_the_numbers(structure):
    assert structure(256).recipe == "structure size=256 v1"
