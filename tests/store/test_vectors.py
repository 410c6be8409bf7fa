import numpy as np
import pytest

from fumikura.errors import BackendReplyInvalid, IndexMismatch, StoreError

RECIPE, OTHER = "miniature dimension=3", "larger dimension=4"
TWO = "# 会議\n木曜に開きます。\n# 鍵\n事務室にあります。\n"
AXES = np.eye(3, dtype=np.float32)


@pytest.fixture
def pending(store, make_source):
    store.put_source("n", *make_source("a.md", TWO), "c")
    return store.pending_chunks("n", RECIPE, 10)


def test_pending_chunks_become_ready(store, pending):
    assert [chunk.embed_text.split("\n")[0] for chunk in pending] == ["会議", "鍵"]
    assert store.pending_chunks("n", RECIPE, 1) == pending[:1] and store.pending_count("n", RECIPE) == 2
    revision = store.vector_revision("n")
    assert store.put_vectors("n", RECIPE, pending[:1], AXES[:1]) == 1
    assert store.sources("n")[0].status == "keyword_ready" and store.vector_revision("n") > revision
    assert store.put_vectors("n", RECIPE, pending, AXES[:2]) == 1
    assert store.sources("n")[0].status == "ready" and store.pending_chunks("n", RECIPE, 10) == []


def test_vectors_are_read_by_id_ascending(store, pending):
    store.put_vectors("n", RECIPE, pending[::-1], AXES[:2])
    rows = store.read_vectors("n")
    assert rows.ids.tolist() == store.vector_ids("n").tolist() == sorted(chunk.chunk_id for chunk in pending)
    np.testing.assert_array_equal(rows.vectors, AXES[[1, 0]])
    one = store.read_vectors("n", rows.ids[1:])
    assert one.ids.tolist() == rows.ids[1:].tolist() and one.vectors.dtype == np.float32
    assert rows.sources.tolist() == store.source_rows("n", [store.sources("n")[0].source_id]) * 2
    assert store.read_vectors("m").vectors.shape == (0, 0) and not len(store.vector_ids("m"))
    assert store.vector_revision("m") == 0


def test_a_stored_vector_never_changes(store, pending):
    store.put_vectors("n", RECIPE, pending, AXES[:2])
    assert store.put_vectors("n", RECIPE, pending, AXES[1:]) == 0
    np.testing.assert_array_equal(store.read_vectors("n").vectors, AXES[:2])


def test_vectors_of_chunks_replaced_meanwhile_are_passed_over(store, pending, make_source):
    store.put_source("n", *make_source("a.md", TWO.replace("木曜", "金曜")), "c")
    assert store.put_vectors("n", RECIPE, pending, AXES[:2]) == 0
    assert store.put_vectors("nowhere", RECIPE, pending, AXES[:2]) == 0


def test_vectors_are_known_by_content(store, pending):
    store.put_vectors("n", RECIPE, pending, AXES[:2])
    hashes = [pending[1].content_sha256, "0" * 64]
    known = store.vectors_by_hash("n", RECIPE, hashes)
    assert list(known) == hashes[:1] and known[hashes[0]].tolist() == [0, 1, 0]
    assert store.vectors_by_hash("n", OTHER, hashes) == store.vectors_by_hash("m", RECIPE, hashes) == {}


@pytest.mark.parametrize(
    "bad", [AXES[:1], AXES[0], np.array([[np.nan, 0, 0], [1, 0, 0]]), np.array([[np.inf, 0, 0], [1, 0, 0]])]
)
def test_invalid_vectors_are_refused_whole(store, pending, bad):
    with pytest.raises(BackendReplyInvalid, match="embedding server"):
        store.put_vectors("n", RECIPE, pending, bad)
    assert not len(store.vector_ids("n"))


def test_another_dimension_under_one_recipe_is_named(store, pending):
    store.put_vectors("n", RECIPE, pending[:1], AXES[:1])
    with pytest.raises(IndexMismatch, match="stored 3, given 2"):
        store.put_vectors("n", RECIPE, pending[1:], np.eye(2, dtype=np.float32)[:1])


def test_old_vectors_serve_until_the_new_ones_are_complete(store, pending, make_source):
    store.put_vectors("n", RECIPE, pending, AXES[:2])
    store.put_vectors("n", OTHER, pending[:1], np.eye(4, dtype=np.float32)[:1])
    assert store.vector_recipe() == RECIPE and store.read_vectors("n").vectors.shape == (2, 3)
    assert [finding.code for finding in store.check()] == ["other_recipes"]
    # both recipes survive an update of the source
    store.put_source("n", *make_source("a.md", TWO + "追記。\n"), "c")
    assert store.pending_count("n", OTHER) == 1
    revision = store.vector_revision("n")
    store.use_recipe(OTHER)
    assert store.vector_recipe() == OTHER and store.vector_revision("n") > revision
    assert store.read_vectors("n").vectors.shape == (1, 4)
    with pytest.raises(StoreError, match="in use"):
        store.drop_recipe(OTHER)
    assert store.recipes() == [RECIPE, OTHER]
    assert store.drop_recipe(RECIPE) == 1 and store.drop_recipe("unknown") == 0
    assert store.recipes() == [OTHER]
