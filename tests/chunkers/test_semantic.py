import pytest

from fumikura.chunkers import SemanticChunker
from fumikura.errors import SettingsError

HARBOUR = ["港に船が着く。", "港の倉庫は三つ。", "港では朝に荷を下ろす。"]
HILL = ["山に雪が残る。", "山の小屋は二つ。", "山では水が冷たい。"]


def test_a_chunk_ends_where_the_topic_turns(embedder, markdown):
    text = "".join(HARBOUR + HILL)
    chunks = SemanticChunker(embedder, target=40).chunk(markdown(text))
    assert [chunk.text for chunk in chunks] == ["".join(HARBOUR), "".join(HILL)]


def test_no_cut_below_half_of_the_target(embedder, markdown):
    text = HARBOUR[0] + "".join(HILL)
    assert [chunk.text for chunk in SemanticChunker(embedder, target=40).chunk(markdown(text))] == [text]


def test_no_chunk_above_one_and_a_half_of_the_target(embedder, markdown):
    text = "港に船が着く。" * 60
    chunks = SemanticChunker(embedder, target=40).chunk(markdown(text))
    assert len(chunks) > 5
    assert all(20 <= len(chunk.text) <= 60 for chunk in chunks)
    assert "".join(chunk.text for chunk in chunks) == text


def test_a_short_rest_joins_the_chunk_before_it(embedder, markdown):
    text = "".join(HARBOUR) + "山が見える。"
    assert [chunk.text for chunk in SemanticChunker(embedder, target=40).chunk(markdown(text))] == [text]


def test_headings_and_paragraphs_always_cut(embedder, markdown):
    chunks = SemanticChunker(embedder).chunk(markdown("# 一\n\n港の話。\n\n港の続き。\n\n# 二\n\n港の終わり。\n"))
    assert [chunk.text for chunk in chunks] == ["港の話。", "港の続き。", "港の終わり。"]


def test_tables_and_lists_follow_their_structure(embedder, load_case):
    chunks = SemanticChunker(embedder, target=120).chunk(load_case("C058/long_table.md"))
    assert chunks[-1].lead.startswith("| 棚番 |")
    assert all(chunk.text.endswith("|") for chunk in chunks[1:])


def test_sentences_beyond_the_window_are_cut_before_they_are_embedded(embedder, load_case):
    embedder.max_tokens = 200
    chunks = SemanticChunker(embedder, target=400).chunk(load_case("C069/dense_kanji_tail.txt"))
    assert 0 < embedder.longest <= 200
    assert max(embedder.count_tokens(chunk.embed_text) for chunk in chunks) <= 200
    assert "ききょう" in chunks[-1].text


def test_a_heading_alone_is_still_findable(embedder, markdown):
    assert [chunk.text for chunk in SemanticChunker(embedder).chunk(markdown("# 夜間窓口は北門\n"))] == [
        "# 夜間窓口は北門"
    ]


def test_a_target_below_one_is_refused(embedder):
    with pytest.raises(SettingsError, match="0"):
        SemanticChunker(embedder, target=0)


def test_the_recipe_names_the_numbers_and_the_embedder(embedder):
    assert SemanticChunker(embedder).recipe == "semantic target=256 percentile=25 embedder=topics v1"
