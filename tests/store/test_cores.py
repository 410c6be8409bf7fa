"""What the store knows of the resident core: whole texts in a stable order, prefixes that are still true, paces."""

import sqlite3

import pytest

from fumikura.errors import NotFound
from fumikura.records import CoreSource


@pytest.fixture
def three(store, make_source):
    """Three sources of one notebook, by name."""
    for name in "あうい":
        source, chunks = make_source(f"{name}.md", f"# {name}\n本文{name}。\n# 続き\n続きの{name}。\n", sha256=name * 3)
        store.put_source("n", source, chunks, "r")
    return {one.source: one for one in store.core_candidates("n")}


def test_candidates_stay_in_the_order_in_which_they_were_added(store, three, make_source):
    assert list(three) == ["あ.md", "う.md", "い.md"]
    source, chunks = make_source("あ.md", "# あ\n新しい本文。\n", sha256="b" * 64)
    store.put_source("n", source, chunks, "r")
    again = store.core_candidates("n")
    assert [one.source for one in again] == ["あ.md", "う.md", "い.md"]
    assert again[0].sha256 == "b" * 64 and again[0].length == len("# あ\n新しい本文。\n")


def test_only_sources_with_text_that_are_asked_for(store, three, make_source):
    empty, chunks = make_source("空.md", "")
    store.put_source("n", empty, chunks, "r")
    assert [one.source for one in store.core_candidates("n", [three["い.md"].source_id])] == ["い.md"]
    assert store.core_candidates("n", []) == store.core_candidates("ない") == []
    assert len(store.core_candidates("n")) == 3
    store.hide_source("n", "う.md")
    store.set_pinned("n", "い.md", True)
    assert [(one.source, one.pinned) for one in store.core_candidates("n")] == [("あ.md", False), ("い.md", True)]


def test_a_whole_text_is_the_sources_text(store, three):
    first, second = store.whole_texts([three["う.md"], three["あ.md"]])
    assert first.text == store.source_text("n", three["う.md"].source_id) == "# う\n本文う。\n# 続き\n続きのう。\n"
    assert (second.source, second.start, second.end, second.via) == ("あ.md", 0, len(second.text), "resident")


def test_a_source_deleted_meanwhile_is_left_out(store, three):
    store.remove_sources("n", [three["う.md"].source_id])
    assert [one.source for one in store.whole_texts(list(three.values()))] == ["あ.md", "い.md"]


def test_a_place_has_its_heading_and_page(store, three):
    source_id = three["あ.md"].source_id
    text = store.source_text("n", source_id)
    assert store.heading_at("n", source_id, 0) == (("あ",), 1)
    assert store.heading_at("n", source_id, text.index("続きの")) == (("続き",), 2)
    assert store.heading_at("n", source_id, len(text)) == store.heading_at("other", source_id, 0) == ((), None)


@pytest.mark.parametrize("change", ["changed", "hidden", "deleted"])
def test_a_prefix_is_forgotten_with_its_source_and_no_other(store, three, make_source, change):
    store.note_prefix("n", "both", [three["あ.md"].named, three["う.md"].named])
    store.note_prefix("n", "one", [three["い.md"].named])
    assert store.current_prefixes() == {"both", "one"}
    if change == "changed":
        source, chunks = make_source("う.md", "# う\n別の本文。\n", sha256="c" * 64)
        store.put_source("n", source, chunks, "r")
    elif change == "hidden":
        store.hide_source("n", "う.md")
    else:
        store.remove_sources("n", [three["う.md"].source_id])
    assert store.current_prefixes() == {"one"}
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("SELECT prefix_sha256 FROM prefixes").fetchall() == [("one",)]
    connection.close()


def test_the_last_prefixes_of_each_notebook_are_kept(store, three, make_source):
    assert store.last_prefix_notebook() is None
    source, chunks = make_source("他.md", "# 他\n本文。\n")
    store.put_source("m", source, chunks, "r")
    (other,) = store.core_candidates("m")
    store.note_prefix("m", "m1", [other.named])
    for number in range(4):
        store.note_prefix("n", f"n{number}", [three["あ.md"].named])
    store.note_prefix("n", "n0", [three["あ.md"].named])  # used again
    store.note_prefix("n", "n4", [three["あ.md"].named])
    assert store.current_prefixes() == {"m1", "n0", "n2", "n3", "n4"}
    assert store.last_prefix_notebook() == "n"
    with pytest.raises(NotFound):
        store.note_prefix("ない", "x", [CoreSource("1", "a", "b")])


def test_the_pace_is_the_best_seen_of_each_generator(store):
    assert store.prefill_pace("one") is None
    for seen in (40.0, 52.34, 12.0):
        store.note_prefill_pace("one", seen)
    store.note_prefill_pace("two", 9.0)
    assert (store.prefill_pace("one"), store.prefill_pace("two")) == (52.3, 9.0)
