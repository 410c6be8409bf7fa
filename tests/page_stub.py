"""The page's static files, and a stand-in for its API whose answers a test writes: for what only a browser can show."""

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fumikura.web.guard import SECURITY_HEADERS
from fumikura.web.routes.pages import StaticFile, find_file

NOTEBOOK = "/api/notebooks/1"


class PageStub:
    """What the API answers, by "METHOD /path"; `script`: the events of the next question, a number waits (seconds)."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[tuple[str, Any]] = []
        self.script: list[Any] = []
        self.go_on = threading.Event()
        self.left = threading.Event()
        self.replies: dict[str, Any] = {
            "GET /api/notebooks": {"notebooks": [{"id": 1, "name": "sample", "source_count": 3, "chunk_count": 41}]},
            f"GET {NOTEBOOK}/progress": {"listing": 1, "jobs": [], "embedding": [], "notices": []},
            f"GET {NOTEBOOK}/sources": {
                "sources": [source("s1", "home-server.md"), source("s2", "memo.md")],
                "listing": 1,
            },
            f"GET {NOTEBOOK}/conversations": {"conversations": []},
            f"GET {NOTEBOOK}/notes": {"notes": []},
            "GET /api/health": {"status": "ok"},
        }

    def asked(self, key: str) -> list[Any]:
        """Return the bodies of the requests "METHOD /path" so far."""
        return [body for made, body in self.requests if made == key]


def source(source_id: str, name: str) -> dict[str, Any]:
    """Return a source as the API lists it."""
    return {
        "source_id": source_id,
        "name": name,
        "title": "",
        "kind": "markdown",
        "date": None,
        "size_bytes": 900,
        "status": "ready",
        "chunk_count": 4,
        "vector_count": 4,
        "included": True,
        "pinned": False,
        "encoding": "utf-8",
        "encoding_certain": True,
        "added_at": "2026-03-01T09:00:00Z",
        "updated_at": "2026-03-01T09:00:00Z",
        "notices": [],
    }


def citation(n: int, quote: str, source_id: str = "s1", heading: str = "機器", start: int = 20) -> dict[str, Any]:
    """Return a citation."""
    return {
        "n": n,
        "source_id": source_id,
        "source": "home-server.md",
        "heading": heading,
        "page": None,
        "start": start,
        "end": start + len(quote),
        "quote": quote,
        "via": "retrieved",
    }


def hit(rank: int, text: str) -> dict[str, Any]:
    """Return a passage found."""
    return {
        "rank": rank,
        "score": 0.03 / rank,
        "source_id": "s1",
        "source": "home-server.md",
        "heading": "機器",
        "page": None,
        "start": 10,
        "end": 10 + len(text),
        "text": text,
        "dense_score": 0.8,
        "lexical_rank": rank,
    }


def answer(text: str, citations: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """Return a checked answer."""
    receipt = {
        "model": "echo",
        "prompt_tokens": 812,
        "cached_tokens": 300,
        "answer_tokens": 40,
        "prompt_sha256": "",
        "settings_sha256": "",
        "embed_s": 0.021,
        "search_s": 0.008,
        "ttft_s": 1.4,
        "decode_s": 3.2,
        "total_s": 4.7,
        "hits": [],
    }
    given = {"status": "answered", "coverage": "searched", "finish": "complete", "notices": [], "unsupported": []}
    ids = {"conversation_id": "c1", "turn_id": "t1"}
    return {**given, **ids, "text": text, "citations": citations, "receipt": receipt, **changes}


def hits(*texts: str, completed: str = "") -> tuple[str, dict[str, Any]]:
    """Return the `hits` event."""
    found = [hit(rank, text) for rank, text in enumerate(texts, 1)]
    ids = {"conversation_id": "c1", "turn_id": "t1", "completed": completed}
    return "hits", {**ids, "hits": found, "embed_s": 0.02, "search_s": 0.01, "notices": []}


def turn(turn_id: str, question: str, **changes: Any) -> dict[str, Any]:
    """Return a kept turn."""
    return {
        "turn_id": turn_id,
        "question": question,
        "completed": question,
        "state": "complete",
        "text": "",
        "answer": None,
        "error": None,
        "asked_at": "2026-03-01T09:00:00Z",
        "ended_at": "2026-03-01T09:00:04Z",
        **changes,
    }


def keep_conversation(stub: PageStub, *turns: dict[str, Any], title: str = "サーバーのこと") -> None:
    """Let the notebook have one conversation, `c1`, with these turns."""
    kept = {"conversation_id": "c1", "title": title, "turn_count": len(turns), "created_at": "", "updated_at": ""}
    stub.replies[f"GET {NOTEBOOK}/conversations"] = {"conversations": [kept]}
    stub.replies[f"GET {NOTEBOOK}/conversations/c1"] = {**kept, "turns": list(turns)}


class _Reply(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stub: PageStub

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path.startswith("/api/"):
            self._answer()
        else:
            self._send_file(find_file(path.lstrip("/") or "index.html"))

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        key = f"{self.command} {self.path}"
        self.stub.requests.append((key, json.loads(body) if body else None))
        if key == f"POST {NOTEBOOK}/ask" and self.stub.script:
            return self._stream(self.stub.script)
        reply = self.stub.replies.get(key)
        if callable(reply):
            reply = reply(self.stub.requests[-1][1])
        status, reply = reply if isinstance(reply, tuple) else (200, reply)
        if reply is None:
            status, reply = 404, {"error": {"code": "not_found", "message": f"「{key}」はありません。", "hint": ""}}
        return self._send(status, "application/json", json.dumps(reply).encode())

    do_POST = do_PATCH = do_DELETE = _answer

    def _stream(self, script: list[Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for step in script:
            if step == "wait":
                self._wait()
            elif isinstance(step, (int, float)):
                time.sleep(step)
            else:
                self.wfile.write(f"event: {step[0]}\ndata: {json.dumps(step[1])}\n\n".encode())
                self.wfile.flush()

    def _wait(self) -> None:
        """Wait for the test, telling the stage again and again: so that it shows when the page has left."""
        while not self.stub.go_on.wait(0.05):
            try:
                self.wfile.write(b": still here\n\n")
            except OSError:
                self.stub.left.set()
                return

    def _send_file(self, file: StaticFile | None) -> None:
        if file is None:
            return self._send(404, "text/plain", b"")
        return self._send(200, file.kind, file.content)

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in SECURITY_HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page may leave in the middle of a reply; anything else is a fault of the test."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def running_page() -> Iterator[PageStub]:
    """Serve the page on a free port."""
    stub = PageStub()
    server = _Server(("127.0.0.1", 0), type("Reply", (_Reply,), {"stub": stub}))
    stub.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        stub.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join()
