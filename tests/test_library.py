"""The library: where things lie, what is opened when, and what a removal or a reindex tells."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from fumikura import library as library_module
from fumikura.embedders import HashingEmbedder
from fumikura.errors import BackendUnavailable, NotFound, SettingsError, StoreError
from fumikura.generators import ScriptedGenerator
from fumikura.japanese import Analyzer
from fumikura.library import Library, Places, find_places
from fumikura.records import SourceFile
from fumikura.store import Store

Open = Callable[..., Library]


@pytest.fixture
def open_library(tmp_path: Path) -> Iterator[Open]:
    """Open a data folder with settings given as environment variables; its embedder needs no model."""
    opened: list[Library] = []

    def make(**environment: str) -> Library:
        library = Library.open(Places(None, tmp_path / "data"), environment=environment)
        library.embedder = HashingEmbedder()
        opened.append(library)
        return library

    yield make
    for library in opened:
        library.close()


def add(library: Library, tmp_path: Path, *names: str) -> None:
    for name in names:
        (tmp_path / name).write_text(f"{name} の合言葉は、すずらんです。", encoding="utf-8")
    library.add("default", [tmp_path / name for name in names])


class DownIndex:
    """An index whose server does not answer; a refresh is counted."""

    name = "down"

    def __init__(self) -> None:
        self.refreshed: list[str] = []

    def search(self, *_: object) -> list[object]:
        raise AssertionError("not searched here")

    def refresh(self, notebook: str) -> None:
        self.refreshed.append(notebook)
        raise BackendUnavailable("Chroma が応答しません。", "Chroma does not answer")


def put(root: Path, *files: str) -> None:
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text("{}", encoding="utf-8")


@pytest.mark.parametrize(
    ("data", "settings", "home", "expected"),
    [
        # --data, --settings, FUMIKURA_HOME -> the settings file and the data folder, below a root
        (None, None, None, ("here/config/settings.json", "here/data")),
        (None, "s.json", None, ("s.json", "data")),
        (None, "far/s.json", None, ("far/s.json", "far/data")),
        (None, "far/config/s.json", None, ("far/config/s.json", "far/data")),
        ("d", None, None, ("here/config/settings.json", "d")),
        ("d", "far/s.json", None, ("far/s.json", "d")),
        (None, None, "home", ("home/config/settings.json", "home/data")),
        (None, None, "empty", (None, "empty/data")),
        ("d", None, "home", ("home/config/settings.json", "d")),
        (None, "far/s.json", "home", ("far/s.json", "home/data")),
    ],
)
def test_places(
    data: str | None,
    settings: str | None,
    home: str | None,
    expected: tuple[str | None, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put(tmp_path, "here/config/settings.json", "home/config/settings.json", "far/s.json", "far/config/s.json", "s.json")
    monkeypatch.chdir(tmp_path / "here")
    places = find_places(
        tmp_path / data if data else None,
        tmp_path / settings if settings else None,
        {"FUMIKURA_HOME": str(tmp_path / home)} if home else {},
    )
    assert places.settings_file == (tmp_path / expected[0] if expected[0] else None)
    assert places.data == tmp_path / expected[1]


def test_settings_at_the_root_of_the_disk_have_their_data_beside_them() -> None:
    assert find_places(None, Path("/s.json"), {}).data == Path("/data")


def test_removing_one_source_by_two_names_removes_it_once(open_library: Open, tmp_path: Path) -> None:
    library = open_library()
    add(library, tmp_path, "a.md", "b.md")
    a, b = library.store.sources("default")
    removal = library.remove("default", ["a.md", "a.md", a.source_id, a.origin])
    assert ([one.name for one in removal.sources], removal.notices) == (["a.md"], ())
    assert library.store.sources("default") == [b]


def test_a_wrong_name_among_several_removes_nothing(open_library: Open, tmp_path: Path) -> None:
    library = open_library()
    add(library, tmp_path, "a.md")
    with pytest.raises(NotFound):
        library.remove("default", ["a.md", "無い.md"])
    assert len(library.store.sources("default")) == 1


def test_removing_a_source_tells_which_quotes_of_it_stay(open_library: Open, tmp_path: Path) -> None:
    library = open_library()
    add(library, tmp_path, "a.md", "b.md")
    quoted = library.store.get_source("default", "a.md").source_id
    library.store.add_note("default", "合言葉", "すずらん", [{"n": 1, "source_id": quoted, "quote": "すずらん"}])
    (notice,) = library.remove("default", ["a.md"]).notices
    assert "メモ 1 件" in notice.ja and "0 answers and 1 notes" in notice.en
    assert library.remove("default", ["b.md"]).notices == ()


def test_a_file_may_be_kept_from_making_its_notebook(open_library: Open) -> None:
    library = open_library()
    file = SourceFile("upload:a.md", "a.md", "合言葉は、すずらんです。".encode())
    with pytest.raises(NotFound):
        library.add_bytes("家", file, create=False)
    assert library.store.notebooks() == []
    assert library.add_bytes("家", file).status == "added"
    assert [source.name for source in library.store.sources("家")] == ["a.md"]


def test_text_left_in_the_log_by_a_reader_is_told(
    open_library: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_module.build, "Store", partial(Store, busy_timeout_s=0.1))
    library = open_library()
    add(library, tmp_path, "a.md")
    reader = sqlite3.connect(library.store.path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM sources").fetchall()
    removal = library.remove("default", ["a.md"])
    reader.close()
    assert [one.name for one in removal.sources] == ["a.md"]
    (notice,) = removal.notices
    assert "ログ" in notice.ja and "write-ahead log" in notice.en
    assert library.store.sources("default") == []


def test_an_index_that_is_down_does_not_make_a_removal_fail(open_library: Open, tmp_path: Path) -> None:
    library = open_library()
    add(library, tmp_path, "a.md")
    library.index = DownIndex()  # type: ignore[assignment]
    removal = library.remove("default", ["a.md"])
    assert [one.name for one in removal.sources] == ["a.md"]
    (notice,) = removal.notices
    assert "Chroma が応答しません" in notice.ja and "Chroma does not answer" in notice.en
    assert library.store.sources("default") == []


def test_reindex_brings_every_index_in_step(
    open_library: Open, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    library = open_library()
    add(library, tmp_path, "a.md")
    library.index = index = DownIndex()  # type: ignore[assignment]
    assert [report.status for report in library.reindex()] == ["updated"]
    assert index.refreshed == ["default"]
    assert "Chroma" in caplog.text


def test_reindex_lets_others_write_while_it_finds_words(
    open_library: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = open_library()
    add(library, tmp_path, "a.md", "b.md")
    path = library.store.path

    class Watching(Analyzer):
        seen = 0

        def words(self, text: str) -> list[str]:
            other = sqlite3.connect(path, timeout=0, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
            other.close()
            self.seen += 1
            return super().words(text)

    other = sqlite3.connect(path)
    other.execute("UPDATE meta SET value = 'older' WHERE key = 'keyword_recipe'")
    other.commit()
    other.close()
    library.close()
    watching = Watching()
    monkeypatch.setattr(library_module.build, "Analyzer", lambda: watching)
    library = open_library()
    counts = library.store.term_document_counts("default", ["合言葉"])
    assert library.store.keywords_outdated
    library.reindex()
    assert watching.seen >= 2
    assert not library.store.keywords_outdated
    assert library.store.term_document_counts("default", ["合言葉"]) == counts
    assert {hit.source for hit in library.notebook("default").search("合言葉").hits} == {"a.md", "b.md"}
    assert library.store.check() == []


EXTRAS = {
    "FUMIKURA__INDEX__KIND": "faiss",
    "FUMIKURA__EMBEDDING__BACKEND": "sentence-transformers",
    "FUMIKURA__EMBEDDING__MODEL": "cl-nagoya/ruri-v3-310m",
}


@pytest.mark.parametrize("arguments", [["sources"], ["models", "list"]])
def test_lists_need_neither_extras_nor_a_right_model(arguments: list[str], tmp_path: Path) -> None:
    without = "import sys; sys.modules.update({name: None for name in ('faiss', 'sentence_transformers')})"
    code = f"{without}; sys.argv = ['fumikura', *sys.argv[1:]]; from fumikura.cli import main; main()"
    command = [sys.executable, "-c", code, "--data", str(tmp_path), *arguments, "--json"]
    environment = {**os.environ, **EXTRAS, "FUMIKURA__LLM__MODEL": "qwen3:8b"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout).keys() == {arguments[0]}


def test_a_wrong_embedded_model_is_named_when_it_is_needed(open_library: Open, tmp_path: Path) -> None:
    library = open_library(FUMIKURA__LLM__MODEL="qwen3:8b")
    add(library, tmp_path, "a.md")
    with pytest.raises(SettingsError, match="models list"):
        library.notebook("default").ask("合言葉は？")


def test_closing_ends_what_was_made_and_starts_nothing(open_library: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(*_: object) -> None:
        raise AssertionError("made without need")

    for name in ("make_generator", "make_index", "make_embedder"):
        monkeypatch.setattr(library_module.build, name, unwanted)
    library = open_library()
    library.close()
    with pytest.raises(StoreError):
        library.store.sources("default")


def test_closing_closes_the_store_even_if_a_part_fails(open_library: Open) -> None:
    class Stubborn(ScriptedGenerator):
        def close(self) -> None:
            raise BackendUnavailable("止まりません。", "it does not stop")

    library = open_library()
    library.generator = Stubborn(["…"])
    with pytest.raises(BackendUnavailable):
        library.close()
    del library.generator
    with pytest.raises(StoreError):
        library.store.sources("default")


def test_asking_may_be_limited_to_sources(open_library: Open, tmp_path: Path) -> None:
    library = open_library()
    add(library, tmp_path, "a.md", "b.md")
    library.generator = ScriptedGenerator(["b.md の合言葉は、すずらんです。[1]"])
    source = library.store.get_source("default", "b.md")
    answer = library.notebook("default").ask("合言葉は？", source_ids=[source.source_id])
    assert {hit.source for hit in answer.receipt.hits} == {"b.md"}
