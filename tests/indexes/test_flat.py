import logging
import subprocess
import sys
import time

import numpy as np
import pytest

from fumikura.errors import MissingExtra
from fumikura.indexes import FaissIndex

AXES = np.eye(4, dtype=np.float32)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "faiss"


@pytest.fixture
def saved(notebook, folder):
    """A file written by an index over ten sources."""
    for number in range(10):
        notebook.put(f"{number}.md", AXES[number % 4 : number % 4 + 1])
    FaissIndex(notebook.store, folder).search("n", AXES[0], 3)
    (file,) = folder.iterdir()
    return file


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


def test_a_start_reads_the_file_and_only_new_rows_of_the_store(saved, notebook, folder):
    reader = CountingReader(notebook.store)
    index = FaissIndex(reader, folder)
    assert len(index.search("n", AXES[0], 99)) == 10 and reader.read_count == 0
    notebook.put("new.md", AXES[:2])
    assert len(index.search("n", AXES[0], 99)) == 12 and reader.read_count == 2


@pytest.mark.parametrize("size", [0, 5, -100, -1])
def test_c079_a_cut_file_is_made_again_from_the_store(saved, notebook, folder, size):
    content = saved.read_bytes()
    saved.write_bytes(content[:size])
    found = FaissIndex(notebook.store, folder).search("n", AXES[1], 3)
    assert notebook.texts(found) == ["1.md 0。", "5.md 0。", "9.md 0。"]
    assert len(saved.read_bytes()) == len(content)


def test_c079_a_file_with_changed_bytes_is_made_again(saved, notebook, folder):
    content = bytearray(saved.read_bytes())
    middle = content.index(AXES[1].tobytes())
    content[middle : middle + 16] = AXES[3].tobytes()
    saved.write_bytes(content)
    found = FaissIndex(notebook.store, folder).search("n", AXES[3], 99)
    assert sum(scored.score == 1 for scored in found) == 2


def test_c079_every_answer_fits_after_deletes_and_restarts(saved, notebook, folder):
    for number in (2, 3, 9):
        notebook.store.remove_source("n", f"{number}.md")
    notebook.put("10.md", AXES[2:3])
    notebook.put("11.md", AXES[3:4])
    index = FaissIndex(notebook.store, folder)
    assert notebook.texts(index.search("n", AXES[2], 2)) == ["6.md 0。", "10.md 0。"]
    assert notebook.texts(index.search("n", AXES[3], 2)) == ["7.md 0。", "11.md 0。"]


def test_c079_a_killed_save_leaves_a_file_that_loads(saved, notebook, folder, tmp_path):
    program = (
        "import sys, numpy as np\nfrom pathlib import Path\nfrom fumikura.japanese import Analyzer\n"
        "from fumikura.indexes import FaissIndex\nfrom fumikura.store import Store\n"
        "store = Store(Path(sys.argv[1]), Analyzer())\nindex = FaissIndex(store, Path(sys.argv[2]))\n"
        "index.search('n', np.eye(4, dtype=np.float32)[0], 3)\nflat = index._flats['n']\n"
        "print('saving', flush=True)\nwhile True: index._save('n', flat)\n"
    )
    arguments = [sys.executable, "-c", program, str(tmp_path / "fumikura.db"), str(folder)]
    for wait_s in (0.0, 0.003, 0.011):
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None and process.stdout.readline() == "saving\n"
        time.sleep(wait_s)
        process.kill()
        process.wait()
        process.stdout.close()
        reader = CountingReader(notebook.store)
        assert len(FaissIndex(reader, folder).search("n", AXES[0], 99)) == 10 and reader.read_count == 0


def test_a_file_of_another_store_is_not_trusted(saved, notebook, folder, tmp_path):
    backup = tmp_path / "restored.db"
    notebook.store.backup(backup)
    restored = type(notebook.store)(backup, notebook.store._keywords._analyzer)
    reader = CountingReader(restored)
    assert len(FaissIndex(reader, folder).search("n", AXES[0], 99)) == 10 and reader.read_count == 10
    restored.close()


def test_a_deletion_reaches_the_file(saved, notebook, folder):
    index = FaissIndex(notebook.store, folder)
    notebook.store.remove_source("n", "0.md")
    index.refresh("n")
    with np.load(saved) as file:
        assert len(file["ids"]) == 9
    notebook.store.remove_notebook("n")
    index.refresh("n")
    assert list(folder.iterdir()) == []


def held_ids(folder):
    """Every id in every file of the folder, whoever wrote it."""
    found = []
    for path in folder.iterdir():
        with np.load(path) as file:
            found += file["ids"].tolist()
    return found


def test_what_another_process_indexed_under_an_older_recipe_goes_with_its_text(saved, notebook, folder):
    notebook.store.use_recipe("other dimension=4")
    notebook.store.remove_source("n", "0.md")
    index = FaissIndex(notebook.store, folder)
    index.refresh("n")
    assert held_ids(folder) == []
    notebook.put("new.md", AXES[:1])
    index.refresh("n")
    assert held_ids(folder) == notebook.store.vector_ids("n").tolist() and len(held_ids(folder)) == 1


def test_what_another_process_saved_meanwhile_goes_with_its_text(notebook, folder):
    index = FaissIndex(notebook.store, folder)
    notebook.put("a.md", AXES[:1])
    index.refresh("n")
    notebook.put("b.md", AXES[1:])
    FaissIndex(notebook.store, folder).refresh("n")
    assert len(held_ids(folder)) == 4
    notebook.store.remove_source("n", "b.md")
    index.refresh("n")
    assert held_ids(folder) == notebook.store.vector_ids("n").tolist()


def test_a_damaged_file_and_a_half_written_one_do_not_outlive_their_texts(saved, notebook, folder):
    saved.write_bytes(saved.read_bytes()[:-100])
    saved.with_suffix(".4711.tmp").write_bytes(b"left by a killed process")
    notebook.store.remove_notebook("n")
    index = FaissIndex(notebook.store, folder)
    index.refresh("n")
    notebook.put("new.md", AXES[:1])
    index.refresh("n")
    assert [path.name for path in folder.iterdir()] == [saved.name] and len(held_ids(folder)) == 1


def test_a_folder_that_cannot_be_written_costs_no_answer(notebook, folder, caplog):
    folder.write_text("a file where the folder should be")
    notebook.put("a.md", AXES)
    with caplog.at_level(logging.WARNING):
        assert len(FaissIndex(notebook.store, folder).search("n", AXES[0], 9)) == 4
    assert str(folder) in caplog.text


def test_the_missing_package_is_named(notebook, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtra, match=r"fumikura\[faiss\]"):
        FaissIndex(notebook.store, folder)
