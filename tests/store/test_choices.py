import time

import pytest

from fumikura.errors import Conflict, NotFound, QuestionError

RECIPE = "miniature dimension=3"
MEETING = "# 会議\n会議は木曜。\n"
KEY = "# 鍵\n鍵は棚の上。\n"


@pytest.fixture
def filled(store, make_source, vectors_of):
    for origin, text in (("a.md", MEETING), ("folder/b.md", KEY)):
        source, chunks = make_source(origin, text)
        store.put_source("n", source, chunks, "c", vectors_of(chunks), original=text.encode())
    return store


def names(store):
    return [source.name for source in store.sources("n")]


def grows(store, change):
    """Do something and tell whether the listing grew by it."""
    before = store.listing("n")
    change()
    return store.listing("n") > before


def test_another_name_is_shown_wherever_the_source_is(filled):
    renamed = filled.rename_source("n", "a.md", "  定例の\n議事録 ")
    assert (renamed.name, renamed.file_name, renamed.renamed) == ("定例の 議事録", "a.md", True)
    assert names(filled) == ["b.md", "定例の 議事録"]
    assert filled.get_source("n", "定例の 議事録") == filled.find_source("n", "a.md") == renamed
    (hit,) = filled.lexical_search("n", "会議", 5)
    assert filled.read_chunks("n", [hit.chunk_id])[0].source == "定例の 議事録"
    filled.remove_source("n", "定例の 議事録")
    assert names(filled) == ["b.md"]


def test_a_given_name_survives_a_new_version_of_the_file(filled, make_source):
    filled.rename_source("n", "a.md", "議事録")
    again = filled.put_source("n", *make_source("a.md", MEETING + "追記\n"), "c")
    assert (again.name, again.file_name, again.renamed) == ("議事録", "a.md", True)


def test_the_files_own_name_can_be_given_back(filled):
    filled.rename_source("n", "a.md", "議事録")
    back = filled.rename_source("n", "議事録", "a.md")
    assert (back.name, back.renamed) == ("a.md", False)


@pytest.mark.parametrize("name", ["", " \n\u3000", "\x00\u202e", "長" * 201])
def test_names_that_say_nothing_or_too_much_are_refused(filled, name):
    with pytest.raises(QuestionError) as caught:
        filled.rename_source("n", "a.md", name)
    assert "名前" in caught.value.ja and names(filled) == ["a.md", "b.md"]


def test_the_longest_name_and_unseen_characters(filled):
    assert filled.rename_source("n", "a.md", "長" * 200).name == "長" * 200
    assert filled.rename_source("n", "b.md", "請求\u202efdp.exe").name == "請求fdp.exe"


def test_a_taken_name_is_refused(filled):
    with pytest.raises(Conflict, match=r"b\.md"):
        filled.rename_source("n", "a.md", "b.md")
    assert filled.rename_source("n", "a.md", "a.md").name == "a.md"
    filled.rename_source("n", "b.md", "鍵の話")
    assert filled.rename_source("n", "a.md", "b.md").name == "b.md"


def test_all_at_once_into_the_questions_and_out(filled):
    assert grows(filled, lambda: filled.include_all("n", False))
    assert [source.included for source in filled.sources("n")] == [False, False]
    assert not grows(filled, lambda: filled.include_all("n", False))
    filled.include_all("n", True)
    assert all(source.included for source in filled.sources("n"))
    filled.include_all("nowhere", False)
    assert filled.notebooks() == ["n"]


def test_which_sources_questions_use(filled):
    a, b = filled.sources("n")
    assert filled.usable_source_ids("n") is None and filled.usable_source_ids("nowhere") is None
    filled.set_included("n", "a.md", False)
    assert filled.usable_source_ids("n") == [b.source_id]
    filled.hide_source("n", "b.md")
    assert filled.usable_source_ids("n") == []
    filled.set_included("n", "a.md", True)
    assert filled.usable_source_ids("n") == [a.source_id]
    filled.restore_source("n", b.source_id)
    assert filled.usable_source_ids("n") is None


def test_a_hidden_source_is_found_nowhere(filled):
    hidden = filled.hide_source("n", "a.md")
    assert names(filled) == ["b.md"] and filled.find_source("n", "a.md") is None
    for name in ("a.md", hidden.source_id):
        for call in (filled.get_source, filled.source_text, filled.sections, filled.original, filled.hide_source):
            with pytest.raises(NotFound, match=name):
                call("n", name)
    assert filled.lexical_search("n", "会議", 5) == [] and len(filled.lexical_search("n", "鍵", 5)) == 1
    assert filled.term_document_counts("n", ["会議", "鍵"]) == {"会議": 0, "鍵": 1}
    assert filled.source_rows("n", [hidden.source_id]) == []
    assert filled.chunk_count("n") == 1 and filled.chunk_count("n", [hidden.source_id]) == 0
    (row,) = filled.notebook_rows()
    assert (row.source_count, row.chunk_count) == (1, 1)


def test_a_hidden_source_goes_on_being_embedded_so_that_it_comes_back_ready(store, make_source, vectors_of):
    source, chunks = make_source("a.md", MEETING)
    store.put_source("n", source, chunks, "c")
    hidden = store.hide_source("n", "a.md")
    assert store.embedding("n") == []
    pending = store.pending_chunks("n", RECIPE, 10)
    store.put_vectors("n", RECIPE, pending, list(vectors_of(chunks).values()))
    assert store.restore_source("n", hidden.source_id).status == "ready"


def test_restoring_brings_everything_back(filled):
    before = filled.sources("n")
    hidden = filled.hide_source("n", "a.md")
    assert filled.restore_source("n", hidden.source_id) == before[0] == filled.restore_source("n", hidden.source_id)
    assert filled.sources("n") == before and len(filled.lexical_search("n", "会議", 5)) == 1
    assert filled.chunk_count("n") == 2
    with pytest.raises(NotFound):
        filled.restore_source("n", "0123456789abcdef")


def test_adding_the_same_file_again_shows_it_again(filled, make_source):
    hidden = filled.hide_source("n", "a.md")
    again = filled.put_source("n", *make_source("a.md", MEETING), "c")
    assert again.source_id == hidden.source_id and again.status == "ready"
    assert names(filled) == ["a.md", "b.md"] and filled.purge_hidden(0) == []


def test_hidden_sources_are_deleted_after_their_time(filled, monkeypatch):
    hidden = filled.hide_source("n", "a.md")
    assert filled.purge_hidden(20) == []
    later = time.time() + 21
    monkeypatch.setattr(time, "time", lambda: later)
    assert filled.purge_hidden(20) == [("n", hidden)]
    with pytest.raises(NotFound):
        filled.restore_source("n", hidden.source_id)
    assert names(filled) == ["b.md"] and filled.check() == []


def test_the_listing_grows_with_every_change_of_the_list(store, make_source, vectors_of):
    assert store.listing("n") == 0
    source, chunks = make_source("a.md", MEETING + KEY)
    assert grows(store, lambda: store.put_source("n", source, chunks, "c"))
    first, second = store.pending_chunks("n", RECIPE, 10)
    vectors = list(vectors_of(chunks).values())
    assert not grows(store, lambda: store.put_vectors("n", RECIPE, [first], vectors[:1]))
    assert [(one.vector_count, one.chunk_count) for one in store.embedding("n")] == [(1, 2)]
    assert grows(store, lambda: store.put_vectors("n", RECIPE, [second], vectors[1:]))
    assert store.embedding("n") == [] and store.sources("n")[0].status == "ready"
    source_id = store.sources("n")[0].source_id
    for change in (
        lambda: store.rename_source("n", "a.md", "議事録"),
        lambda: store.set_included("n", source_id, False),
        lambda: store.set_pinned("n", source_id, True),
        lambda: store.hide_source("n", source_id),
        lambda: store.restore_source("n", source_id),
        lambda: store.use_recipe("larger dimension=4"),
        lambda: store.remove_source("n", source_id),
    ):
        assert grows(store, change)
    assert not grows(store, lambda: store.sources("n"))


def test_another_recipe_makes_ready_sources_wait_again(filled):
    filled.use_recipe("larger dimension=4")
    assert {source.status for source in filled.sources("n")} == {"keyword_ready"}
    assert len(filled.embedding("n")) == 2 and len(filled.embedding("n", limit=1)) == 1
    filled.use_recipe(RECIPE)
    assert {source.status for source in filled.sources("n")} == {"ready"} and filled.embedding("n") == []


def test_the_file_as_it_was_added(filled, make_source):
    filled.rename_source("n", "b.md", "鍵の話")
    file = filled.original("n", "鍵の話")
    assert (file.origin, file.name, file.content) == ("folder/b.md", "b.md", KEY.encode())
    filled.put_source("n", *make_source("folder/b.md", KEY), "other recipe")
    assert filled.original("n", "鍵の話").content == KEY.encode()
    filled.put_source("n", *make_source("folder/b.md", KEY), "c", original=b"")
    assert filled.original("n", "鍵の話").content == b""
    filled.put_source("n", *make_source("c.md", KEY), "c")
    assert filled.original("n", "c.md") is None
    assert filled.has_original("n", "鍵の話") and not filled.has_original("n", "c.md")


def test_counts_of_some_sources_only(filled, make_source):
    filled.put_source("n", *make_source("c.md", "# 会議\n会議の記録。\n# 二\n会議は火曜、New York で。\n"), "c")
    a, b, c = filled.sources("n")
    assert filled.term_document_counts("n", ["会議", "鍵"], [b.source_id]) == {"会議": 0, "鍵": 1}
    assert filled.term_document_counts("n", ["会議"], [a.source_id, c.source_id]) == {"会議": 3}
    assert filled.term_document_counts("n", ["会議"]) == {"会議": 3}
    odd = ['"', "new york", "\0", "a\0b", "無い語", ""]
    everything = filled.term_document_counts("n", odd)
    assert filled.term_document_counts("n", odd, [a.source_id, b.source_id, c.source_id]) == everything
    assert (
        filled.term_document_counts("n", ["会議"], []) == {"会議": 0} == filled.term_document_counts("m", ["会議"], [])
    )
    assert filled.chunk_count("n") == 4 and filled.chunk_count("n", [c.source_id, "unknown"]) == 2
    assert filled.chunk_count("m", [c.source_id]) == filled.chunk_count("m") == 0


def test_notebooks_with_their_sizes(filled):
    filled.add_notebook("empty")
    empty, full = filled.notebook_rows()
    assert (empty.name, empty.source_count, empty.chunk_count) == ("empty", 0, 0)
    assert (full.name, full.source_count, full.chunk_count) == ("n", 2, 2)
    assert filled.notebook_name(full.notebook_id) == "n"
    with pytest.raises(NotFound, match="4711"):
        filled.notebook_name(4711)
