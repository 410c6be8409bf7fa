"""The server as a person meets it: start, page, passages after Enter; and its memory after hundreds of questions.

python -m bench.server DATA    serves that folder before a scripted model; `run` starts it as a process of its own
"""

import asyncio
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx2

from bench.page_load import page_figures
from bench.report import Figure, at_most
from fumikura.generators import ScriptedGenerator
from fumikura.library import Library, Places
from fumikura.records import Message, Usage
from fumikura.web.app import create_app
from fumikura.web.server import WebServer, listen
from fumikura.web.service import Service

AT_ONCE = 50
COUNTS = (100, 500, 1000)  # page caches and the allocator fill until about 500, then memory must stay
TRIES = 20
QUESTION = "{}号室の定員は何名ですか？"
STREAM = {"Accept": "text/event-stream"}


def run() -> list[Figure]:
    """Measure with a fresh data folder of 50 short chunks."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        library = _library(data)
        figures = [_start(data)]
        with _serving([sys.executable, "-m", "bench.server", str(data)]) as (address, process):
            figures += page_figures(address)
            figures += _passages(address, library)
            figures += _memory(address, process.pid)
        library.close()
    return figures


def _library(data: Path) -> Library:
    note = data / "rooms.md"
    note.write_text("\n\n".join(f"# {n}号室\n\n{n}号室の定員は{n + 100}名です。" for n in range(50)), encoding="utf-8")
    library = Library.open(Places(None, data), environment={})
    library.add("default", [note])
    return library


@contextmanager
def _serving(command: list[str]) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run a server on a free port and give its address once it is healthy."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [*command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True
    )
    address = f"http://127.0.0.1:{port}"
    try:
        with httpx2.Client(base_url=address, trust_env=False) as client:
            while process.poll() is None and not _is_healthy(client):
                time.sleep(0.005)
        yield address, process
    finally:
        process.terminate()
        process.wait(20)


def _is_healthy(client: httpx2.Client) -> bool:
    try:
        return client.get("/api/health").status_code == 200
    except httpx2.TransportError:
        return False


def _start(data: Path) -> Figure:
    command = [sys.executable, "-m", "fumikura", "--data", str(data), "serve"]
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        with _serving(command):
            times.append(time.perf_counter() - begun)
    return at_most("start to healthy, model not loaded", statistics.median(times), "s", 1.5)


def _passages(address: str, library: Library) -> list[Figure]:
    """Time from the request to the passages beside a bare search, in turns."""
    notebook = library.notebook("default")
    notebook.search("号室")
    served, bare = [], []
    with httpx2.Client(base_url=address, timeout=30, trust_env=False) as client:
        for number in range(TRIES):
            question = QUESTION.format(number)
            begun = time.perf_counter()
            notebook.search(question)
            bare.append(time.perf_counter() - begun)
            served.append(_until_hits(client, question))
    wait, search = statistics.median(served), statistics.median(bare)
    return [
        Figure("bare search", search * 1000, "ms"),
        at_most("passages after the request", wait * 1000, "ms", 150),
        Figure("passages after the request, by the bare search", wait / search, "×"),
    ]


def _until_hits(client: httpx2.Client, question: str) -> float:
    begun, took = time.perf_counter(), 0.0
    body = {"question": question}
    with client.stream("POST", "/api/notebooks/default/ask", json=body, headers=STREAM) as reply:
        for line in reply.iter_lines():
            if line == "event: hits":
                took = time.perf_counter() - begun
    return took


def _memory(address: str, process_id: int) -> list[Figure]:
    """Ask 1,000 questions, 50 at a time; every one must get the passages of its own question."""
    figures = [Figure("memory before", _resident_mb(process_id), "MB")]
    begun, right, asked = time.perf_counter(), 0, 0
    for count in COUNTS:
        right += asyncio.run(_ask_all(address, asked, count))
        asked = count
        figures.append(Figure(f"memory after {count} questions", _resident_mb(process_id), "MB"))
    took = time.perf_counter() - begun
    return [
        Figure("questions answered, each with its own hits", right, "", f"{asked}", right == asked),
        Figure("questions a second, 50 at once", asked / took, "1/s"),
        *figures,
        at_most("memory gained after 500 questions", figures[-1].value - figures[-2].value, "MB", 15),
    ]


async def _ask_all(address: str, start: int, end: int) -> int:
    """Return how many got an event `hits` that is about their own question, and an answer."""
    line = asyncio.Semaphore(AT_ONCE)

    async def ask(client: httpx2.AsyncClient, number: int) -> bool:
        question = QUESTION.format(number)
        async with line:
            reply = await client.post("/api/notebooks/default/ask", json={"question": question}, headers=STREAM)
        told = dict(re.findall(r"event: (hits|answer)\ndata: (.*)\n", reply.text))
        return json.loads(told["hits"])["completed"] == question and "answer" in told

    async with httpx2.AsyncClient(base_url=address, timeout=120, trust_env=False) as client:
        return sum(await asyncio.gather(*(ask(client, number) for number in range(start, end))))


def _resident_mb(process_id: int) -> float:
    pages = int(Path(f"/proc/{process_id}/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class _Forgetful(ScriptedGenerator):
    """Keeps no prompts: what grows must be the server's."""

    def generate(self, messages: Sequence[Message], max_tokens: int) -> Generator[str | Usage, None, None]:
        """Answer, and forget what was asked."""
        self.prompts.clear()
        return super().generate(messages, max_tokens)


def _serve(data: Path, port: int) -> None:
    library = Library.open(Places(None, data), environment={})
    library.generator = _Forgetful(["7号室の定員は107名です。[1]"])
    service = Service(library, Places(None, data), environment={})
    WebServer(create_app(service), service).run([listen("127.0.0.1", port)])


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), int(sys.argv[3]))
