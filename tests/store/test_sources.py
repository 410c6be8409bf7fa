import sqlite3
import unicodedata
from dataclasses import replace

import numpy as np
import pytest

from fumikura.errors import BackendReplyInvalid, Conflict, IndexMismatch, NotFound, SourceError
from fumikura.records import Chunk, Notice, Section
from fumikura.store import content_sha256

RECIPE = "miniature dimension=3"
GUESSED = Notice("推定", "a guess")
TWO = "# 会議\n木曜に第二会議室で開きます。\n# 鍵\n鍵は事務室にあります。\n"


def test_a_source_comes_back_as_it_was_given(store, make_source):
    source, chunks = make_source(
        "notes/a.md", TWO, title="覚え書き", date="2026-01-05", metadata={"author": "架空"}, notices=(GUESSED,)
    )
    summary = store.put_source("n", source, chunks, "structure 256")
    assert (summary.name, summary.origin, summary.title, summary.date) == (
        "a.md",
        "notes/a.md",
        "覚え書き",
        "2026-01-05",
    )
    assert (summary.chunk_count, summary.notices, summary.chunk_recipe) == (2, (GUESSED,), "structure 256")
    assert (summary.pinned, summary.included) == (False, True)
    assert store.source_text("n", summary.source_id) == TWO
    assert store.sections("n", summary.source_id) == list(source.sections)
    assert store.source_metadata("n", summary.source_id) == {"author": "架空"}
    assert store.sources("n") == [summary] == [store.find_source("n", "notes/a.md")]


def test_replacing_keeps_the_public_id_and_leaves_nothing_old(store, make_source, vectors_of):
    first = store.put_source("n", *make_source("a.md", TWO), "c")
    changed, chunks = make_source("a.md", "# 鍵\n鍵は受付に移しました。\n")
    second = store.put_source("n", changed, chunks, "c", vectors_of(chunks))
    assert second.source_id == first.source_id and second.added_at == first.added_at
    assert (second.chunk_count, second.status) == (1, "ready")
    assert store.source_text("n", "a.md") == changed.text
    assert store.lexical_search("n", "木曜 事務室", 10) == []
    assert store.check() == []


def test_unchanged_chunks_are_not_embedded_again(store, make_source, vectors_of):
    source, chunks = make_source("a.md", TWO)
    store.put_source("n", source, chunks, "c", vectors_of(chunks))
    before = store.read_vectors("n")
    changed, new_chunks = make_source("a.md", TWO + "# 傘\n傘は三本あります。\n")
    assert store.put_source("n", changed, new_chunks, "c").status == "keyword_ready"
    assert [chunk.embed_text for chunk in store.pending_chunks("n", RECIPE, 10)] == ["傘\n\n傘は三本あります。\n"]
    after = store.read_vectors("n")
    np.testing.assert_array_equal(before.vectors, after.vectors)
    assert not set(before.ids) & set(after.ids), "a chunk id must never be used twice"


def test_a_copy_under_another_name_takes_its_vectors_from_the_first(store, make_source, vectors_of):
    source, chunks = make_source("a.md", TWO)
    store.put_source("n", source, chunks, "c", vectors_of(chunks))
    assert store.put_source("n", *make_source("b.md", TWO), "c").status == "ready"
    assert store.put_source("other", *make_source("b.md", TWO), "c").status == "keyword_ready"


def test_ids_are_not_reused_after_the_newest_source_was_deleted(store, make_source, vectors_of):
    source, chunks = make_source("a.md", TWO)
    store.put_source("n", source, chunks, "c", vectors_of(chunks))
    old = set(store.vector_ids("n").tolist())
    store.remove_source("n", "a.md")
    store.put_source("n", source, chunks, "c", vectors_of(chunks))
    assert not old & set(store.vector_ids("n").tolist())


def test_names_that_two_sources_share_must_be_told_apart(store, make_source):
    store.put_source("n", *make_source("2024/invoice.md", "# 請求\n四万円\n"), "c")
    second = store.put_source("n", *make_source("2025/invoice.md", "# 請求\n五万円\n"), "c")
    with pytest.raises(Conflict, match=r"2024/invoice.md .*2025/invoice.md") as caught:
        store.get_source("n", "invoice.md")
    assert "2 件" in caught.value.ja
    assert store.get_source("n", second.source_id) == store.get_source("n", "2025/invoice.md") == second
    for number in range(6):
        store.put_source("n", *make_source(f"{number}/invoice.md", "# 請求\n一円\n"), "c")
    with pytest.raises(Conflict, match="8 sources .*…"):
        store.remove_source("n", "invoice.md")


def test_what_does_not_exist_is_not_found(store, make_source):
    store.put_source("n", *make_source("a.md", TWO), "c")
    with pytest.raises(NotFound, match="nowhere.md"):
        store.get_source("n", "nowhere.md")
    with pytest.raises(NotFound, match="'m'"):
        store.source_text("m", "a.md")
    assert store.sources("m") == [] and store.find_source("m", "a.md") is None


def test_pinning_and_including_survive_an_update(store, make_source):
    store.put_source("n", *make_source("a.md", TWO), "c")
    assert store.set_pinned("n", "a.md", True).pinned
    assert not store.set_included("n", "a.md", False).included
    again = store.put_source("n", *make_source("a.md", TWO + "追記\n"), "c")
    assert (again.pinned, again.included) == (True, False)


def test_a_source_without_text_is_listed_as_such(store, make_source):
    assert store.put_source("n", *make_source("empty.md", ""), "c").status == "no_text"
    assert store.source_text("n", "empty.md") == ""


@pytest.mark.parametrize(
    "chunk", [Chunk(0, 0, 99, ""), Chunk(1, 0, 2, ""), Chunk(-1, 0, 2, ""), Chunk(0, 3, 3, "")], ids=repr
)
def test_chunks_outside_their_section_are_refused(store, make_source, chunk):
    source, _ = make_source("a.md", "本文です。")
    with pytest.raises(SourceError, match="a.md"):
        store.put_source("n", source, [chunk], "c")
    assert store.sources("n") == []


@pytest.mark.parametrize(
    "sections",
    [(), (Section((), 1, 5, "文です。"),), (Section((), 0, 5, "別の文章。"),), (Section((), 0, 2, "本文"),)],
    ids=["none", "gap", "other text", "cut"],
)
def test_sections_must_cover_the_text(store, make_source, sections):
    source, _ = make_source("a.md", "本文です。")
    with pytest.raises(SourceError, match="please report"):
        store.put_source("n", replace(source, sections=sections), [], "c")


def test_a_failed_update_leaves_the_old_version_answering(store, make_source, vectors_of):
    source, chunks = make_source("a.md", TWO)
    before = store.put_source("n", source, chunks, "c", vectors_of(chunks))
    hits = store.lexical_search("n", "第二会議室", 5)
    changed, new_chunks = make_source("a.md", "# 会議\n中止です。\n")
    bad = {content_sha256(new_chunks[0].embed_text): np.array([np.nan, 0, 1], np.float32)}
    with pytest.raises(BackendReplyInvalid):
        store.put_source("n", changed, new_chunks, "c", bad)
    assert store.sources("n") == [before] and store.source_text("n", "a.md") == TWO
    assert hits and store.lexical_search("n", "第二会議室", 5) == hits
    assert store.check() == []


def test_vectors_need_a_recipe(path, store, make_source, vectors_of, analyzer):
    source, chunks = make_source("a.md", TWO)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE recipes SET present = 0")
    connection.commit()
    connection.close()
    with pytest.raises(IndexMismatch, match="use_recipe"):
        store.put_source("n", source, chunks, "c", vectors_of(chunks))
    assert store.put_source("n", source, chunks, "c", vectors_of(chunks), RECIPE).vector_count == 0
    store.use_recipe(RECIPE)
    assert store.get_source("n", "a.md").status == "ready"


def test_a_chunk_may_be_embedded_under_a_shorter_heading_path(store, make_source):
    source, chunks = make_source("a.md", "# とても長い見出し\n本文\n")
    store.put_source("n", source, [replace(chunks[0], heading_path=("短い",), lead="表の見出し")], "c")
    (pending,) = store.pending_chunks("n", RECIPE, 5)
    assert pending.embed_text == "短い\n表の見出し\n\n本文\n"
    assert pending.content_sha256 == content_sha256(pending.embed_text)
    (stored,) = store.read_chunks("n", [pending.chunk_id])
    assert stored.heading_path == ("とても長い見出し",) and stored.lead == "表の見出し"


def test_notebooks_are_listed_renamed_and_removed(store, make_source):
    store.add_notebook("仕事")
    store.add_notebook(unicodedata.normalize("NFD", "ガーデン"))
    store.add_notebook("ガーデン")
    store.put_source("家", *make_source("a.md", TWO), "c")
    assert store.notebooks() == ["ガーデン", "仕事", "家"]
    with pytest.raises(Conflict, match="仕事"):
        store.rename_notebook("家", "仕事")
    store.rename_notebook("家", "家")
    store.rename_notebook("家", "自宅")
    assert [source.name for source in store.sources("自宅")] == ["a.md"]
    with pytest.raises(NotFound):
        store.rename_notebook("家", "庭")
    assert store.remove_notebook("自宅") is True
    assert store.notebooks() == ["ガーデン", "仕事"] and store.lexical_search("自宅", "会議", 5) == []
    assert store.check() == []


def test_a_notebook_that_was_deleted_or_renamed_does_not_come_back_with_a_source(store, make_source):
    store.add_notebook("n")
    store.put_source("n", *make_source("a.md", TWO), "c", create=False)
    store.rename_notebook("n", "仕事")
    with pytest.raises(NotFound, match="notebook 'n'"):
        store.put_source("n", *make_source("b.md", TWO), "c", create=False)
    assert store.notebooks() == ["仕事"] and [source.name for source in store.sources("仕事")] == ["a.md"]
    store.remove_notebook("仕事")
    with pytest.raises(NotFound):
        store.put_source("仕事", *make_source("b.md", TWO), "c", create=False)
    assert store.notebooks() == []
