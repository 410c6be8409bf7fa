"""A scripted stand-in for Ollama, vLLM and llama.cpp: their protocols over HTTP, no model.

Tests use it through the fixture `stub`; by hand: `python tests/stub_llm.py --port 18434 --script FILE`.

Chat replies follow a script whatever protocol is spoken: POST /api/chat and /api/generate (Ollama, NDJSON) and
POST /v1/chat/completions (server-sent events or JSON). Keys of a script: `pieces`, `piece_delay`, `first_byte_delay`,
`done_reason`, `prompt_eval_count`, `error_after` with `error_text`, `drop_after`, `dribble` (bytes a write), `status`
with `error_body`, and `by_prompt`: scripts with `contains`; the first whose text is in the request is played.
Vectors are hashed character pairs: the same text, dimension and seed give the same vector.
GET /stub/log lists the requests; POST /stub/script and /stub/options change the script and the options.
"""

import argparse
import hashlib
import json
import math
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Json = dict[str, Any]


@dataclass
class StubOptions:
    """What the stand-in pretends to be; every field can be changed while it runs."""

    model: str = "stub"
    ctx: int = 4096
    dim: int = 256
    seed: int = 1
    embed_fail_after: int | None = None
    embed_down: bool = False
    embed_delay_per_text: float = 0.0
    embed_max_chars: int | None = None
    nan_marker: str | None = None
    nan_style: str = "nan"  # "nan" or "500"
    log: str | None = None
    tokenizer: str = "none"  # "llamacpp" or "vllm": a token is a character
    opens_thinking: bool = False  # the chat template ends in an opening tag


@dataclass
class StubState:
    """Options, script and counters, shared by the request threads."""

    options: StubOptions = field(default_factory=StubOptions)
    script: Json = field(default_factory=dict)
    requests: list[Json] = field(default_factory=list)
    embedded: int = 0
    aborted_streams: int = 0
    open_streams: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)


def hashed_vector(text: str, dimension: int, seed: int) -> list[float]:
    """Return a vector of length 1 from the text's characters and character pairs."""
    vector = [0.0] * dimension
    letters = "".join(text.split())
    pairs = [letters[i : i + 2] for i in range(max(1, len(letters) - 1))]
    for gram in [*pairs, *letters]:
        digest = hashlib.blake2b(f"{seed}:{gram}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest, "big")
        vector[number % dimension] += 1.0 if number >> 63 else -1.0
    length = math.sqrt(sum(x * x for x in vector)) or 1.0
    return [x / length for x in vector]


class StubHandler(BaseHTTPRequestHandler):
    """Answers one connection; the state hangs on the server."""

    protocol_version = "HTTP/1.1"
    server: "StubHTTPServer"

    @property
    def state(self) -> StubState:
        return self.server.state

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test output quiet."""

    def send_json(self, reply: object, status: int = 200) -> None:
        body = json.dumps(reply, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        state, options = self.state, self.state.options
        seen = {"embedded": state.embedded, "aborted_streams": state.aborted_streams}
        replies: dict[str, Json] = {
            "/stub/log": {"requests": state.requests, **seen, "open_streams": state.open_streams},
            "/api/tags": {"models": [{"name": options.model, "model": options.model, "size": 1}]},
            "/api/version": {"version": "0.0-stub"},
            "/api/ps": {"models": [{"name": options.model, "context_length": options.ctx}]},
            "/v1/models": {"object": "list", "data": [{"id": options.model, "max_model_len": options.ctx}]},
            "/": {"status": "ok"},
            "/health": {"status": "ok"},
        }
        reply = replies.get(self.path.split("?")[0])
        self.send_json(reply or {"error": "not found"}, 200 if reply else 404)

    def do_POST(self) -> None:
        path = self.path.split("?")[0]
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body: Json = json.loads(raw or b"{}")
        except ValueError:
            body = {"_raw": raw.decode("utf-8", "replace")}
        if path.startswith("/stub/"):
            self.reconfigure(path, body)
            return
        self.record(path, body)
        if path == "/api/show":
            self.show()
        elif path in ("/api/embed", "/api/embeddings", "/v1/embeddings"):
            self.embed(path, body)
        elif path in ("/apply-template", "/tokenize") and self.state.options.tokenizer != "none":
            self.tokenize(path, body)
        elif path in ("/api/chat", "/api/generate", "/v1/chat/completions"):
            self.chat(path, body)
        else:
            self.send_json({"error": "not found"}, 404)

    def reconfigure(self, path: str, body: Json) -> None:
        if path == "/stub/script":
            self.state.script = body
        else:
            for name, value in body.items():
                setattr(self.state.options, name, value)
        self.send_json({"ok": True})

    def record(self, path: str, body: Json) -> None:
        entry = {"t": time.time(), "path": path, "body": body, "authorization": self.headers.get("Authorization")}
        with self.state.lock:
            self.state.requests.append(entry)
            if self.state.options.log:
                with open(self.state.options.log, "a", encoding="utf-8") as log:
                    log.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def show(self) -> None:
        options = self.state.options
        sizes = {"stub.context_length": options.ctx, "stub.embedding_length": options.dim}
        described = {"general.architecture": "stub", **sizes}
        self.send_json({"model_info": described, "parameters": f"num_ctx {options.ctx}"})

    def tokenize(self, path: str, body: Json) -> None:
        messages = body.get("messages", [])
        prompt = "".join(f"[{m['role']}]{m['content']}" for m in messages) + "[assistant]"
        if self.state.options.opens_thinking:
            prompt += "<think>\n"
        if self.state.options.tokenizer == "vllm":
            self.send_json({"count": len(prompt)} if path == "/tokenize" else {"error": "not found"})
        elif path == "/apply-template":
            self.send_json({"prompt": prompt})
        else:
            self.send_json({"tokens": list(range(len(body.get("content", ""))))})

    # embeddings

    def embed(self, path: str, body: Json) -> None:
        if self.state.options.embed_down:
            self.send_json({"error": "embedding server is down"}, 503)
            return
        given = body.get("input", body.get("prompt", ""))
        texts = given if isinstance(given, list) else [given]
        vectors: list[list[float]] = []
        for text in texts:
            refusal = self.refusal(text)
            if refusal:
                status, message = refusal
                self.send_json({"error": message}, status)
                return
            vectors.append(self.vector(text))
        self.send_json(self.embedding_reply(path, body, vectors, sum(map(len, texts))))

    def refusal(self, text: str) -> tuple[int, str] | None:
        state, options = self.state, self.state.options
        with state.lock:
            state.embedded += 1
            number = state.embedded
        if options.embed_fail_after is not None and number > options.embed_fail_after:
            return 500, "failed to generate embedding"
        if options.embed_max_chars and len(text) > options.embed_max_chars:
            return 400, "the input length exceeds the context length"
        if options.nan_marker and options.nan_marker in text and options.nan_style == "500":
            return 500, "failed to encode response: json: unsupported value: NaN"
        return None

    def vector(self, text: str) -> list[float]:
        options = self.state.options
        time.sleep(options.embed_delay_per_text)
        if options.nan_marker and options.nan_marker in text:
            return [float("nan")] * options.dim
        return hashed_vector(text, options.dim, options.seed)

    def embedding_reply(self, path: str, body: Json, vectors: list[list[float]], tokens: int) -> Json:
        if path == "/api/embed":
            return {"model": body.get("model"), "embeddings": vectors, "prompt_eval_count": tokens}
        if path == "/api/embeddings":
            return {"embedding": vectors[0] if vectors else []}
        rows = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "model": body.get("model"), "usage": usage, "data": rows}

    # chat

    def chat(self, path: str, body: Json) -> None:
        prompt = json.dumps(body, ensure_ascii=False)
        script = dict(self.state.script)
        for alternative in script.get("by_prompt", []):
            if alternative["contains"] in prompt:
                script.update(alternative)
                break
        self.state.closing.wait(script.get("first_byte_delay", 0))
        if "error_body" in script:
            self.send_json(script["error_body"], script.get("status", 400))
            return
        reply = ChatReply(path, body.get("model"), script, len(prompt))
        if body.get("stream", not reply.openai):
            self.stream(reply)
        elif "error_after" in script:
            self.send_json({"error": script.get("error_text", "model runner stopped")}, 500)
        else:
            self.send_json(reply.whole())

    def stream(self, reply: "ChatReply") -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if reply.openai else "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with self.state.lock:
            self.state.open_streams += 1
        try:
            self.stream_pieces(reply)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
            with self.state.lock:
                self.state.aborted_streams += 1
        finally:
            with self.state.lock:
                self.state.open_streams -= 1

    def stream_pieces(self, reply: "ChatReply") -> None:
        script = reply.script
        dribble = script.get("dribble")
        stop = script.get("error_after", script.get("drop_after"))
        for piece in reply.pieces[:stop]:
            self.put(reply.piece(piece), dribble)
            self.state.closing.wait(script.get("piece_delay", 0))
        if "drop_after" in script:
            self.close_connection = True
            self.connection.close()
            return
        self.put(reply.error() if "error_after" in script else reply.ending(), dribble)
        with suppress(BrokenPipeError, ConnectionResetError):  # a client may leave as soon as it has read the ending
            self.wfile.write(b"0\r\n\r\n")

    def put(self, content: bytes, dribble: int | None) -> None:
        step = dribble or len(content)
        for start in range(0, len(content), step):
            part = content[start : start + step]
            self.wfile.write(b"%x\r\n" % len(part) + part + b"\r\n")
            self.wfile.flush()
            if dribble:
                time.sleep(0.001)


class ChatReply:
    """One scripted answer in the words of the protocol that was spoken."""

    def __init__(self, path: str, model: str | None, script: Json, prompt_length: int) -> None:
        self.openai = path.startswith("/v1/")
        self.script = script
        self.pieces: list[str] = script.get("pieces", ["資料にありません。"])
        self._generate = path == "/api/generate"
        self._model = model
        self._reason = script.get("done_reason", "stop")
        self._prompt_tokens = script.get("prompt_eval_count", prompt_length)
        self._answer_tokens = sum(map(len, self.pieces))

    def piece(self, text: str) -> bytes:
        if self.openai:
            choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
            return self._event({"choices": [choice]})
        return self._line({**self._text(text), "done": False})

    def ending(self) -> bytes:
        if self.openai:
            choice = {"index": 0, "delta": {}, "finish_reason": self._reason}
            return self._event({"choices": [choice], "usage": self._usage()}) + b"data: [DONE]\n\n"
        return self._line({**self._text(""), **self._done()})

    def error(self) -> bytes:
        error = {"error": self.script.get("error_text", "model runner stopped")}
        return self._event(error) if self.openai else self._line(error)

    def whole(self) -> Json:
        text = "".join(self.pieces)
        if self.openai:
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": self._reason}
            return {"id": "x", "object": "chat.completion", "choices": [choice], "usage": self._usage()}
        return {"model": self._model, **self._text(text), **self._done()}

    def _text(self, text: str) -> Json:
        return {"response": text} if self._generate else {"message": {"role": "assistant", "content": text}}

    def _done(self) -> Json:
        counts = {"prompt_eval_count": self._prompt_tokens, "eval_count": self._answer_tokens}
        return {"done": True, "done_reason": self._reason, **counts}

    def _usage(self) -> Json:
        return {"prompt_tokens": self._prompt_tokens, "completion_tokens": self._answer_tokens}

    def _event(self, content: Json) -> bytes:
        chunk = {"id": "x", "object": "chat.completion.chunk", "model": self._model, **content}
        shown = content if "error" in content else chunk
        return b"data: " + json.dumps(shown, ensure_ascii=False).encode() + b"\n\n"

    def _line(self, content: Json) -> bytes:
        shown = content if "error" in content else {"model": self._model, **content}
        return json.dumps(shown, ensure_ascii=False).encode() + b"\n"


class StubHTTPServer(ThreadingHTTPServer):
    """The HTTP server with the state that its handlers share."""

    daemon_threads = True

    def __init__(self, port: int, state: StubState) -> None:
        super().__init__(("127.0.0.1", port), StubHandler)
        self.state = state

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is part of the tests, not an error."""


class StubServer:
    """The stand-in as tests see it: `url`, `options`, `script`, `requests` and counters."""

    def __init__(self, state: StubState, port: int = 0) -> None:
        self.state = state
        self.http = StubHTTPServer(port, state)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    @property
    def options(self) -> StubOptions:
        return self.state.options

    @property
    def requests(self) -> list[Json]:
        return self.state.requests

    def play(self, script: Json | Path) -> None:
        """Answer the next chats by this script, or by the script file of a case."""
        self.state.script = json.loads(script.read_text(encoding="utf-8")) if isinstance(script, Path) else script

    def bodies(self, path: str) -> list[Json]:
        """Return the bodies of the requests to one path, in order."""
        return [request["body"] for request in self.requests if request["path"] == path]


@contextmanager
def running_stub(port: int = 0) -> Iterator[StubServer]:
    """Serve in a thread until the block ends; waiting answers are released then."""
    server = StubServer(StubState(), port)
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.state.closing.set()
        server.http.shutdown()
        server.http.server_close()
        thread.join()


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=18434)
    parser.add_argument("--script", type=Path)
    for option in fields(StubOptions):
        flag = "--" + option.name.replace("_", "-")
        if option.type is bool:
            parser.add_argument(flag, action="store_true")
        else:
            kind = {"embed_delay_per_text": float}.get(option.name) or (int if "int" in str(option.type) else str)
            parser.add_argument(flag, type=kind, default=option.default)
    arguments = vars(parser.parse_args())
    port, script = arguments.pop("port"), arguments.pop("script")
    server = StubServer(StubState(options=StubOptions(**arguments)), port)
    if script:
        server.play(script)
    sys.stdout.write(f"stub on {server.url}\n")
    sys.stdout.flush()
    server.http.serve_forever()


if __name__ == "__main__":
    main()
