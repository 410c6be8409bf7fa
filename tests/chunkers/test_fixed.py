import json

import pytest
import regex

from fumikura.errors import SettingsError


def test_chunks_have_the_size_and_share_the_overlap(fixed, markdown):
    text = "".join(chr(0x4E00 + place) for place in range(1200))
    chunks = fixed(500, 100).chunk(markdown(text))
    assert [(chunk.start, chunk.end) for chunk in chunks] == [(0, 500), (400, 900), (800, 1200)]


def test_a_text_that_ends_with_a_window_gets_no_second_chunk_of_overlap_only(fixed, markdown):
    assert len(fixed(500, 100).chunk(markdown("あ" * 500))) == 1


def test_white_space_at_a_windows_end_gives_no_second_chunk_of_overlap_only(fixed, markdown):
    chunks = fixed(10, 4).chunk(markdown("港に船が着く" + "\n" * 40 + "山に雪"))
    assert [chunk.text for chunk in chunks] == ["港に船が着く", "山に雪"]


def test_a_chunk_never_crosses_a_section_and_leaves_the_heading_to_the_path(fixed, markdown):
    chunks = fixed(500, 100).chunk(markdown("# 一\n\n港。\n\n# 二\n\n山。\n"))
    assert [(chunk.heading_path, chunk.text) for chunk in chunks] == [(("一",), "港。"), (("二",), "山。")]


def test_graphemes_stay_whole(fixed, load_case):
    source = load_case("C021/grapheme_runs.txt")
    borders = {match.start() for match in regex.finditer(r"\X", source.text)} | {len(source.text)}
    chunks = fixed(101, 7).chunk(source)
    assert len(chunks) > 10
    assert all(chunk.start in borders and chunk.end in borders for chunk in chunks)
    assert not any(chunk.text[0] in "\u3099\u200d\ufe0f" for chunk in chunks)
    assert "みかん畑" in chunks[-1].text


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_size_below_one_grapheme_still_ends_and_keeps_it_whole(fixed, markdown, size):
    family = "👨‍👩‍👧‍👦"
    chunks = fixed(size, 0).chunk(markdown(f"{family}か\u3099{family}"))
    assert "".join(chunk.text for chunk in chunks) == f"{family}か\u3099{family}"
    assert chunks[0].text == family


def test_sizes_that_cannot_work_are_refused(fixed, markdown, cases):
    pairs = json.loads((cases / "C067/settings.json").read_text())
    refused = [pair for pair in pairs if pair["chunk_size"] != 1]
    assert len(refused) == 4
    for pair in refused:
        with pytest.raises(SettingsError) as caught:
            fixed(pair["chunk_size"], pair["overlap"])
        assert "chunk." in caught.value.ja and str(pair["chunk_size"]) in caught.value.en
    assert len(fixed(1, 0).chunk(markdown("あ" * 5000))) == 5000


def test_a_negative_overlap_is_refused(fixed):
    with pytest.raises(SettingsError, match="overlap"):
        fixed(100, -1)


def test_the_greatest_overlap_ends(fixed, markdown):
    assert len(fixed(10, 9).chunk(markdown("あいうえお" * 20))) == 91


def test_the_embedders_window_cuts_a_large_size(fixed, load_case):
    source = load_case("C069/dense_kanji_tail.txt")
    chunks = fixed(900, 0, max_tokens=302).chunk(source)
    assert all(len(chunk.embed_text) <= 300 for chunk in chunks)
    assert "ききょう" in chunks[-1].text


def test_a_long_heading_path_is_shortened_before_the_text_is_cut(fixed, markdown):
    (chunk,) = fixed(100, 0, max_tokens=90).chunk(markdown(f"# {'見出し' * 20}\n\n## 小見出し\n\n{'港' * 60}\n"))
    assert (chunk.heading_path, chunk.text) == (("小見出し",), "港" * 60)


def test_the_recipe_names_the_numbers(fixed):
    assert fixed(500, 100).recipe == "fixed size=500 overlap=100 v1"
