"""The real application on a real port, for tests and screenshots: in this process, or as `fumikura serve`."""

import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fumikura.generators import ScriptedGenerator
from fumikura.models import ModelStore
from fumikura.records import Message, Usage
from fumikura.web.app import create_app
from fumikura.web.server import WebServer, listen
from fumikura.web.service import Service

START_S = 20


class RunningServer:
    """A server in a thread of its own."""

    def __init__(self, service: Service, token: str | None = None, port: int = 0) -> None:
        self._socket = listen("127.0.0.1", port)
        self.port = self._socket.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self._server = WebServer(create_app(service, token), service)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    def __enter__(self) -> "RunningServer":
        self._thread.start()
        until = time.monotonic() + START_S
        while not self._server.started and time.monotonic() < until:
            time.sleep(0.01)
        assert self._server.started
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(START_S)
        assert not self._thread.is_alive()


class AnswersByQuestion(ScriptedGenerator):
    """Gives the answer whose question is asked; while `go_on` is clear it waits after the first piece."""

    def __init__(self, answers: dict[str, str]) -> None:
        super().__init__(list(answers.values()))
        self.go_on = threading.Event()
        self.go_on.set()
        self._by_question = answers

    def generate(self, messages: Sequence[Message], max_tokens: int) -> Iterator[str | Usage]:  # type: ignore[override]
        """Yield the first character, wait, then the rest and its Usage."""
        asked = messages[-1].content
        text = next(text for question, text in self._by_question.items() if question in asked)
        yield text[:1]
        self.go_on.wait(START_S)
        yield text[1:]
        yield Usage("complete", self.count_tokens(messages), 0, len(text))


def models_folder() -> Path:
    """Return the folder of the language model, which is fetched when it is absent."""
    folder = Path(os.environ.get("FUMIKURA_TEST_MODELS") or Path.home() / ".cache" / "fumikura" / "models")
    store = ModelStore(folder)
    store.fetch(store.default_name)
    return folder


@contextmanager
def serving_process(data: Path, models: Path, *sources: Path) -> Iterator[str]:
    """Add sources to the notebook `sample` and run `fumikura serve`: with the embedded model and a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "FUMIKURA__PATHS__MODELS": str(models)}
    fumikura = [sys.executable, "-m", "fumikura", "--data", str(data)]
    add = [*fumikura, "add", "--notebook", "sample", *map(str, sources)]
    subprocess.run(add, env=environment, check=True, capture_output=True)
    with subprocess.Popen([*fumikura, "serve", "--port", str(port)], env=environment) as server:
        try:
            _wait_for(f"http://127.0.0.1:{port}", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/api/health", timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"fumikura serve does not answer on {address}")
