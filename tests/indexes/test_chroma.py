import socket
import sys

import numpy as np
import pytest

from fumikura.errors import BackendRefused, BackendUnavailable, MissingExtra, SettingsError
from fumikura.indexes import ChromaIndex

pytestmark = [pytest.mark.chroma, pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb")]
AXES = np.eye(4, dtype=np.float32)


def test_a_folder_or_an_address_is_needed(notebook, tmp_path):
    for options in ({}, {"folder": tmp_path, "url": "http://127.0.0.1:8000"}):
        with pytest.raises(SettingsError, match="folder or a URL"):
            ChromaIndex(notebook.store, **options)


def test_the_missing_package_is_named(notebook, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "chromadb", None)
    with pytest.raises(MissingExtra, match=r"fumikura\[chroma\]"):
        ChromaIndex(notebook.store, folder=tmp_path)


def test_a_server_that_is_not_there_is_named(notebook):
    notebook.put("a.md", AXES)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    index = ChromaIndex(notebook.store, url=url)
    with pytest.raises(BackendUnavailable, match=url) as caught:
        index.search("n", AXES[0], 3)
    assert caught.value.transient and "起動" in caught.value.ja
    index.close()


def test_a_folder_that_cannot_be_used_is_named(notebook, tmp_path):
    (tmp_path / "file").write_text("no folder")
    notebook.put("a.md", AXES)
    with pytest.raises(BackendUnavailable, match="file"):
        ChromaIndex(notebook.store, folder=tmp_path / "file").search("n", AXES[0], 3)


def test_a_collection_deleted_by_others_is_made_again(notebook, tmp_path):
    notebook.put("a.md", AXES)
    index = ChromaIndex(notebook.store, folder=tmp_path / "chroma")
    assert len(index.search("n", AXES[0], 9)) == 4
    for collection in index._client.list_collections():
        index._client.delete_collection(collection.name)
    with pytest.raises(BackendRefused, match="try again"):
        index.search("n", AXES[0], 9)
    assert len(index.search("n", AXES[0], 9)) == 4
    index.close()


def test_nothing_stays_of_an_emptied_notebook_or_an_older_recipe(notebook, tmp_path):
    notebook.put("a.md", AXES)
    index = ChromaIndex(notebook.store, folder=tmp_path / "chroma")
    index.refresh("n")
    notebook.store.use_recipe("other dimension=4")
    notebook.put("b.md", AXES[:1])
    index.refresh("n")
    (collection,) = index._client.list_collections()
    assert collection.count() == 1
    notebook.store.remove_notebook("n")
    index.refresh("n")
    assert index._client.list_collections() == [] and index.search("n", AXES[0], 3) == []
    index.close()


def test_rows_go_in_batches_that_the_server_takes(notebook, tmp_path, monkeypatch):
    notebook.put("a.md", np.repeat(AXES, 3, axis=0))
    index = ChromaIndex(notebook.store, folder=tmp_path / "chroma")
    index.search("n", AXES[0], 1)
    monkeypatch.setattr(type(index._client), "get_max_batch_size", lambda client: 5)
    notebook.put("b.md", np.repeat(AXES, 3, axis=0))
    assert len(index.search("n", AXES[0], 99)) == 24
    notebook.store.remove_source("n", "a.md")
    assert len(index.search("n", AXES[0], 99)) == 12
    index.close()


def held_ids(index: ChromaIndex) -> list[str]:
    """Every id in every collection of the folder, whoever made it."""
    return [row for collection in index._client.list_collections() for row in collection.get(include=[])["ids"]]


def test_what_another_process_indexed_under_an_older_recipe_goes_with_its_text(notebook, tmp_path):
    notebook.put("a.md", AXES)
    notebook.put("b.md", AXES[:1])
    first = ChromaIndex(notebook.store, folder=tmp_path / "chroma")
    first.refresh("n")
    first.close()
    notebook.store.use_recipe("other dimension=4")
    notebook.store.remove_source("n", "a.md")
    later = ChromaIndex(notebook.store, folder=tmp_path / "chroma")
    later.refresh("n")
    assert held_ids(later) == []
    notebook.store.use_recipe("miniature dimension=4")
    later.refresh("n")
    assert held_ids(later) == [str(row) for row in notebook.store.vector_ids("n")]
    later.close()


def test_collections_of_other_notebooks_other_stores_and_other_programs_stay(notebook, tmp_path):
    notebook.put("a.md", AXES)
    index = ChromaIndex(notebook.store, folder=tmp_path / "chroma")
    index.refresh("n")
    client = index._client
    foreign = client.create_collection("fumikura-of-someone-else", embedding_function=None)
    foreign.add(ids=["1"], embeddings=AXES[:1])
    notebook.store.backup(tmp_path / "copy.db")
    copy = type(notebook.store)(tmp_path / "copy.db", notebook.store._keywords._analyzer)
    sharing = ChromaIndex(copy, folder=tmp_path / "chroma")
    sharing.refresh("n")
    notebook.store.use_recipe("other dimension=4")
    notebook.put("b.md", AXES[:2])
    index.refresh("n")
    counts = sorted(collection.count() for collection in index._client.list_collections())
    assert counts == [1, 2, 4]
    copy.close()
    sharing.close()
    index.close()
