"""What the doctor finds, and that the remedy it names really helps."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from fumikura import build
from fumikura.doctor import Finding, examine
from fumikura.embedders import HashingEmbedder
from fumikura.errors import BackendUnavailable, StoreLocked
from fumikura.indexes import ExactIndex
from fumikura.library import Library, Places
from fumikura.store import Store

SETTINGS = Path(__file__).parents[1] / "config" / "settings.json"
ENVIRONMENT = {"FUMIKURA__LLM__BACKEND": "ollama", "FUMIKURA__LLM__MODEL": "stub"}
Examine = Callable[[], dict[str, list[Finding]]]


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A data folder with one source; the embedder has nothing to load."""
    monkeypatch.setattr(build, "make_embedder", lambda *_: HashingEmbedder())
    note = tmp_path / "図書室.md"
    note.write_text("# 図書室\n\n開館は九時です。\n", encoding="utf-8")
    library = Library.open(Places(SETTINGS, tmp_path / "data"), None, ENVIRONMENT)
    assert [report.status for report in library.add("default", [note])] == ["added"]
    yield library
    library.close()


@pytest.fixture
def found(library: Library) -> Examine:
    """The findings by check, without starting the model."""

    def find() -> dict[str, list[Finding]]:
        by_check: dict[str, list[Finding]] = {}
        for finding in examine(Places(SETTINGS, library.data), None, quick=True, environment=ENVIRONMENT):
            by_check.setdefault(finding.check, []).append(finding)
        return by_check

    return find


def break_by(library: Library, statement: str) -> None:
    connection = sqlite3.connect(library.store.path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_all_is_well(found: Examine) -> None:
    findings = found()
    assert findings.keys() == {"settings", "disk", "journal", "store", "index", "embedder"}
    findings.pop("embedder")  # the stand-in knows no meaning
    assert {one.severity for entries in findings.values() for one in entries} == {"ok"}
    assert findings["index"][0].en == "exact: in step with 1 notebooks"


@pytest.mark.parametrize(
    ("statement", "severity"),
    [
        ("DELETE FROM keyword", "fail"),
        ("UPDATE meta SET value = 'another dictionary' WHERE key = 'keyword_recipe'", "warn"),
        ("DELETE FROM vectors", "warn"),
    ],
)
def test_reindex_mends_what_it_is_named_for(library: Library, found: Examine, statement: str, severity: str) -> None:
    break_by(library, statement)
    problems = found()["store"]
    assert [(one.severity, "fumikura reindex" in one.remedy_en) for one in problems] == [(severity, True)]
    assert "fumikura reindex" in problems[0].remedy_ja
    library.reindex()
    assert [one.severity for one in found()["store"]] == ["ok"]


def test_missing_vectors_come_with_another_add(library: Library, found: Examine, tmp_path: Path) -> None:
    break_by(library, "DELETE FROM vectors")
    assert "fumikura add" in found()["store"][0].remedy_en
    library.add("default", [tmp_path / "図書室.md"])
    assert [one.severity for one in found()["store"]] == ["ok"]


def test_rows_without_a_parent_need_a_backup_of_the_named_file(library: Library, found: Examine) -> None:
    break_by(library, "DELETE FROM sources")
    (orphans,) = [one for one in found()["store"] if "fumikura reindex" not in one.remedy_en]
    assert orphans.severity == "fail"
    assert str(library.store.path) in orphans.remedy_en
    assert "バックアップ" in orphans.remedy_ja


def test_a_damaged_file_needs_a_backup(library: Library, found: Examine, tmp_path: Path) -> None:
    long = tmp_path / "会議.md"
    long.write_text("".join(f"# 会議{n}\n\n木曜に第{n}会議室で開きます。\n\n" for n in range(200)), encoding="utf-8")
    library.add("default", [long])
    path = library.store.path
    library.store.checkpoint()
    library.close()
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 8192] = b"\xff" * 8192
    path.write_bytes(content)
    damaged = found()["store"][-1]
    assert damaged.severity == "fail"
    assert str(path) in damaged.remedy_en


def test_a_locked_store_leaves_the_other_findings(found: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(store: Store) -> None:
        raise StoreLocked("書き込み中です。", "another process is writing")

    monkeypatch.setattr(Store, "check", locked)
    findings = found()
    assert [(one.severity, one.en) for one in findings["store"]] == [("fail", "another process is writing")]
    assert findings.keys() >= {"settings", "disk", "journal", "index", "embedder"}


def test_the_chosen_index_is_tried(found: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(index: ExactIndex, notebook: str) -> None:
        raise BackendUnavailable(f"索引が応答しません: {notebook}", f"the index does not answer: {notebook}")

    monkeypatch.setattr(ExactIndex, "refresh", down)
    findings = found()
    assert [(one.severity, one.en) for one in findings["index"]] == [("fail", "the index does not answer: default")]
    assert findings["store"][0].severity == "ok"


def test_a_refusing_disk_is_a_finding(found: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(index: ExactIndex, notebook: str) -> None:
        raise PermissionError(13, "Permission denied", "/data/index")

    monkeypatch.setattr(ExactIndex, "refresh", refused)
    assert "Permission denied" in found()["index"][0].en


def test_wrong_settings_leave_the_disk_finding(tmp_path: Path) -> None:
    findings = examine(Places(SETTINGS, tmp_path), None, environment={"FUMIKURA__SEARCH__TOP_K": "0"})
    assert [one.check for one in findings][0] == "disk"
    assert (findings[-1].severity, "search.top_k" in findings[-1].en) == ("fail", True)
