import numpy as np
import pytest

from fumikura.indexes import ExactIndex, exact
from fumikura.indexes.ranking import best

AXES = np.eye(4, dtype=np.float32)


class CountingReader:
    """The store, counting how many vectors are read from it."""

    def __init__(self, store):
        self._store = store
        self.read_count = 0

    def __getattr__(self, name):
        return getattr(self._store, name)

    def read_vectors(self, notebook, ids=None):
        rows = self._store.read_vectors(notebook, ids)
        self.read_count += len(rows.ids)
        return rows


def test_only_new_rows_are_read(notebook):
    reader = CountingReader(notebook.store)
    index = ExactIndex(reader)
    notebook.put("a.md", AXES)
    index.search("n", AXES[0], 3)
    index.search("n", AXES[1], 3)
    assert reader.read_count == 4
    notebook.put("b.md", AXES[:1])
    index.refresh("n")
    assert reader.read_count == 5
    notebook.store.remove_source("n", "a.md")
    assert notebook.texts(index.search("n", AXES[0], 3)) == ["b.md 0。"] and reader.read_count == 5


def test_a_chunk_embedded_late_takes_its_place_among_equal_scores(notebook):
    notebook.put("a.md", AXES[:1])
    notebook.put("b.md", AXES[:1])
    recipe = "late dimension=4"
    first, second = notebook.store.pending_chunks("n", recipe, 2)
    notebook.store.use_recipe(recipe)
    index = ExactIndex(notebook.store)
    notebook.store.put_vectors("n", recipe, [second], AXES[:1])
    assert notebook.texts(index.search("n", AXES[0], 2)) == ["b.md 0。"]
    notebook.store.put_vectors("n", recipe, [first], AXES[:1])
    assert notebook.texts(index.search("n", AXES[0], 1)) == ["a.md 0。"]


def test_ties_at_the_last_place_go_by_id():
    ids = np.array([7, 3, 9, 1], np.int64)
    scores = np.array([0.5, 0.5 + 1e-8, 0.9, 0.5], np.float32)
    assert [scored.chunk_id for scored in best(ids, scores, 3)] == [9, 1, 3]


def test_every_row_is_scored_when_the_rows_fill_several_blocks(notebook, monkeypatch):
    monkeypatch.setattr(exact, "BLOCK_SIZE", 12)
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((11, 4), dtype=np.float32)
    notebook.put("a.md", vectors)
    found = ExactIndex(notebook.store).search("n", vectors[10], 99)
    ids = notebook.store.vector_ids("n")
    expected = dict(zip(ids.tolist(), (vectors @ vectors[10]).tolist(), strict=True))
    assert {scored.chunk_id: scored.score for scored in found} == pytest.approx(expected, abs=1e-5)
