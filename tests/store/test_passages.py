import pytest

from fumikura.errors import NotFound

TEXT = "前書き。\n# 会議\n木曜\0に開きます。\n# 鍵\n鍵は𠮷野さんへ。\n"


@pytest.fixture
def ids(store, make_source):
    store.put_source("n", *make_source("notes/a.md", TEXT, title="題", date="2026"), "c")
    return [hit.chunk_id for word in ("前書き", "木曜", "鍵") for hit in store.lexical_search("n", word, 1)]


def test_chunks_carry_what_a_hit_must_show(store, ids):
    last, first = store.read_chunks("n", [ids[2], 999, ids[0]])
    assert (first.text, last.text) == ("前書き。\n", "\n鍵は𠮷野さんへ。\n")
    assert all(TEXT[chunk.start : chunk.end] == chunk.text for chunk in (first, last))
    assert (last.heading_path, last.page, last.title, last.date) == (("鍵",), 3, "題", "2026")
    assert last.source_id == store.sources("n")[0].source_id and last.source == "a.md"
    assert store.source_rows("n", [last.source_id]) == [last.source_row]


def test_a_section_gives_its_chunks_and_any_slice_of_its_text(store, ids):
    (chunk,) = store.read_chunks("n", [ids[1]])
    assert "木曜\0に" in chunk.text
    assert store.section_chunks("n", chunk.section_id) == [chunk]
    start = TEXT.index("# 会議")
    assert store.section_text("n", chunk.section_id, start, start + 4) == "# 会議"


@pytest.mark.parametrize("span", [(0, 4), (6, 999), (9, 8)])
def test_slices_beyond_the_section_are_not_found(store, ids, span):
    (chunk,) = store.read_chunks("n", [ids[1]])
    with pytest.raises(NotFound, match="search again"):
        store.section_text("n", chunk.section_id, *span)


def test_walls_between_notebooks(store, ids, make_source):
    store.put_source("m", *make_source("b.md", "# 昼食\n木曜に集まる。\n"), "c")
    (chunk,) = store.read_chunks("n", [ids[1]])
    assert store.read_chunks("m", ids) == [] and store.section_chunks("m", chunk.section_id) == []
    assert store.source_rows("m", [chunk.source_id]) == []
    assert store.lexical_search("m", "鍵", 5) == []
    with pytest.raises(NotFound):
        store.section_text("m", chunk.section_id, chunk.start, chunk.end)
    for refused in (store.get_source, store.source_text, store.sections, store.source_metadata, store.remove_source):
        with pytest.raises(NotFound):
            refused("m", chunk.source_id)
    assert [source.name for source in store.sources("m")] == ["b.md"]
