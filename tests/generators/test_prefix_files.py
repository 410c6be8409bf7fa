"""Computed prefixes in a folder: what must never come back out, and what must never be left behind."""

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from fumikura.errors import BackendRefused
from fumikura.generators.prefix_files import Fingerprint, PrefixFiles

PRINT = Fingerprint("tiny.gguf", 100, 1, 2048, "engine 1", "f16", "a" * 64)


@pytest.fixture
def files(tmp_path: Path) -> PrefixFiles:
    made = PrefixFiles(tmp_path / "prefixes", limit_bytes=2500)
    assert made.prepare()
    return made


def keep(files: PrefixFiles, fingerprint: Fingerprint = PRINT, content: bytes = b"state" * 200) -> None:
    with files.part() as part:
        part.write_bytes(content)
        files.keep(fingerprint, part, 7)


def names(files: PrefixFiles) -> list[str]:
    return sorted(path.suffix for path in files.folder.iterdir())


def test_kept_state_comes_back_whole_and_only_for_its_owner(files: PrefixFiles) -> None:
    keep(files)
    found = PrefixFiles(files.folder).find(PRINT)
    assert found and found.token_count == 7 and found.path.read_bytes() == b"state" * 200
    assert files.folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in files.folder.iterdir()} == {0o600}


@pytest.mark.parametrize(
    "other",
    [
        {"model_file": "other.gguf"},
        {"model_bytes": 101},
        {"model_mtime_ns": 2},
        {"context_tokens": 4096},
        {"engine": "engine 2"},
        {"cache_type": "q8_0"},
        {"prefix_sha256": "b" * 64},
    ],
    ids=lambda other: next(iter(other)),
)
def test_state_that_does_not_fit_is_not_found(files: PrefixFiles, other: dict[str, object]) -> None:
    keep(files)
    assert files.find(replace(PRINT, **other)) is None
    assert files.find(PRINT), "and the fitting one stays"


@pytest.mark.parametrize("damage", ["cut", "flipped", "gone", "sidecar cut", "sidecar a list", "of another"])
def test_damaged_state_is_refused_and_removed(files: PrefixFiles, damage: str) -> None:
    keep(files)
    [state] = files.folder.glob("*.state")
    [sidecar] = files.folder.glob("*.json")
    content = state.read_bytes()
    if damage == "cut":
        state.write_bytes(content[:-1])
    elif damage == "flipped":
        state.write_bytes(b"S" + content[1:])
    elif damage == "gone":
        state.unlink()
    elif damage == "of another":
        sidecar.write_text(sidecar.read_text().replace("engine 1", "engine 9"))
    else:
        sidecar.write_text("[]" if damage == "sidecar a list" else sidecar.read_text()[:20])
    assert PrefixFiles(files.folder).find(PRINT) is None
    assert names(files) == []


def test_least_recently_used_go_above_the_limit(files: PrefixFiles) -> None:
    first, second, third = (replace(PRINT, prefix_sha256=letter * 64) for letter in "abc")
    keep(files, first)
    keep(files, second)
    for at, each in ((100, first), (200, second)):
        os.utime(files.folder / f"{each.key}.json", (at, at))
    assert files.find(first), "used just now"
    keep(files, third)
    assert files.find(second) is None
    assert files.find(first) and files.find(third)


def test_full_disk_leaves_nothing_half(files: PrefixFiles) -> None:
    with pytest.raises(BackendRefused, match="No space left") as caught, files.part() as part:
        part.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert "再起動のあとに計算し直します" in caught.value.ja
    assert names(files) == []


def test_full_disk_for_the_sidecar_takes_the_state_back(files: PrefixFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object, **named: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("fumikura.generators.prefix_files.os.open", full)
    with pytest.raises(BackendRefused, match="No space left"):
        keep(files)
    assert names(files) == []


def test_forgetting_leaves_only_what_is_wanted(files: PrefixFiles) -> None:
    other = replace(PRINT, prefix_sha256="b" * 64)
    keep(files)
    keep(files, other)
    (files.folder / "dead.part").touch()
    assert files.forget({"b" * 64}.__contains__) == 1
    assert files.find(other) and files.find(PRINT) is None
    assert names(files) == [".json", ".state"]


def test_two_processes_keep_the_same_prefix(files: PrefixFiles) -> None:
    other = PrefixFiles(files.folder)
    keep(files, content=b"one" * 100)
    keep(other, content=b"two" * 100)
    for each in (files, other):
        found = each.find(PRINT)
        assert found and found.path.read_bytes() == b"two" * 100


def test_part_of_a_process_that_is_writing_stays(files: PrefixFiles) -> None:
    writing = files.folder / "x.part"
    writing.touch()
    keep(files)
    assert writing.exists()
    os.utime(writing, (1, 1))
    files.prune()
    assert not writing.exists()


def test_folder_that_cannot_be_made_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not PrefixFiles(tmp_path / "file" / "prefixes").prepare()
