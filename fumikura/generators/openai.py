"""OpenAI-compatible servers: vLLM, SGLang, llama.cpp, LM Studio. Token counts by the server where it offers them."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from fumikura.backends import Json, Server, Words, ask, parse, refusal
from fumikura.errors import BackendRefused, BackendReplyInvalid
from fumikura.generators.answer_stream import AnswerStream
from fumikura.generators.exchange import SHORTEN, Exchange, Timeouts
from fumikura.generators.messages import wire_messages
from fumikura.generators.prefix import ServersOwnCache
from fumikura.generators.thinking import TemplateHabits, ThinkingFilter
from fumikura.generators.token_estimate import TokenEstimate
from fumikura.records import Finish, Message, Usage

FINISHES: dict[str, Finish] = {"stop": "complete", "length": "length", "abort": "stopped"}
FALLBACK_CONTEXT_TOKENS = 4096  # where neither the settings nor the server name a size

Tokenizer = Literal["vllm", "llamacpp", "none"]
Found = TypeVar("Found")


class OpenAIGenerator(ServersOwnCache):
    """Generator over POST /v1/chat/completions. `extra_body` reaches the server untouched (say: thinking off)."""

    loaded = True

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        context_tokens: int | None = None,
        temperature: float = 0.0,
        extra_body: Mapping[str, Any] | None = None,
        timeouts: Timeouts | None = None,
        habits: TemplateHabits | None = None,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        self.name = model
        self._server = _server(url, model, api_key)
        self._wanted_context_tokens = context_tokens
        self._parameters = {"temperature": temperature, **(extra_body or {})}
        self._timeouts = timeouts or Timeouts()
        self._estimate = TokenEstimate()
        self._habits = habits or TemplateHabits()
        self._lock = threading.Lock()
        self._context_tokens: int | None = None
        self._tokenizer = tokenizer  # None: ask the server which it has

    @property
    def exact_counts(self) -> bool:
        """Tell whether `count_tokens` asks the server's own tokenizer (known after the first count)."""
        return self._tokenizer in ("vllm", "llamacpp")

    def context_tokens(self) -> int:
        """Return the server's context size, or the setting where that is smaller. Raises BackendError."""
        with self._lock:
            if self._context_tokens is None:
                sizes = [size for size in (self._served_context_tokens(), self._wanted_context_tokens) if size]
                self._context_tokens = min(sizes, default=FALLBACK_CONTEXT_TOKENS)
            return self._context_tokens

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Return the count by vLLM's or llama.cpp's tokenizer endpoint, else an upper estimate."""
        with self._lock:
            if self._tokenizer is None:
                self._tokenizer = self._find_tokenizer()
        if self._tokenizer == "vllm":
            return self._vllm_count(messages)
        if self._tokenizer == "llamacpp":
            return self._llamacpp_count(messages)
        return self._estimate.count(messages)

    def generate(self, messages: Sequence[Message], max_tokens: int) -> AnswerStream:
        """Stream the answer; see protocols.Generator."""
        body: Json = {
            "model": self.name,
            "messages": wire_messages(messages),
            "max_tokens": max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
            **self._parameters,
        }

        def events(exchange: Exchange) -> Iterator[str | Usage]:
            for event in server_events(exchange):
                if isinstance(event, Usage):
                    self._estimate.learn(messages, event.prompt_tokens)
                yield event

        exchange = Exchange(self._server, "/v1/chat/completions", body, self._timeouts)
        return AnswerStream(exchange, events, ThinkingFilter(self._habits))

    def close(self) -> None:
        """Nothing to end: every request has a connection of its own."""

    def _served_context_tokens(self) -> int | None:
        try:
            listed = ask(self._server, "GET", "/v1/models", None, self._timeouts.short, dict).get("data") or []
        except BackendRefused:
            return None  # a server that lists no models still answers
        served = [entry for entry in listed if entry.get("id") == self.name] or listed[:1]
        for entry in served:
            size = entry.get("max_model_len") or (entry.get("meta") or {}).get("n_ctx")
            if isinstance(size, int):
                return size
        return None

    def _find_tokenizer(self) -> Tokenizer:
        probe = [Message("user", "文庫")]
        try:
            self._vllm_count(probe)
            return "vllm"
        except (BackendRefused, BackendReplyInvalid):
            pass  # no such endpoint, or llama.cpp's, which is asked next
        try:
            self._llamacpp_count(probe)
            return "llamacpp"
        except (BackendRefused, BackendReplyInvalid):
            return "none"

    def _vllm_count(self, messages: Sequence[Message]) -> int:
        body: Json = {"model": self.name, "messages": wire_messages(messages), "add_generation_prompt": True}
        return self._post("/tokenize", body, "count", int)

    def _llamacpp_count(self, messages: Sequence[Message]) -> int:
        prompt = self.render(messages)
        body: Json = {"content": prompt, "add_special": True, "parse_special": True}
        return len(self._post("/tokenize", body, "tokens", list))

    def render(self, messages: Sequence[Message]) -> str:
        """Return the prompt that llama.cpp makes by the model's chat template. Raises BackendError elsewhere."""
        body: Json = {"messages": wire_messages(messages)}
        return self._post("/apply-template", body, "prompt", str)

    def _post(self, path: str, body: Json, key: str, kind: type[Found]) -> Found:
        """Return the value at `key` of the reply. Raises BackendReplyInvalid when it is missing or of another kind."""
        value = ask(self._server, "POST", path, body, self._timeouts.short, dict).get(key)
        if isinstance(value, kind):
            return value
        raise BackendReplyInvalid(
            ja=f"{self._server.name} の応答に「{key}」がありません。{self._server.check.ja}",
            en=f"The reply of {self._server.name} has no '{key}': {self._server.check.en}",
        )


def _server(url: str, model: str, api_key: str | None) -> Server:
    return Server(
        "OpenAI-compatible server",
        url.rstrip("/").removesuffix("/v1"),
        start=Words(
            "サーバー（vLLM など）を起動し、URL の設定を確かめてください。",
            "start the server (vLLM or the like) and check the URL in the settings",
        ),
        model=Words(
            f"サーバーを {model} で起動するか、GET /v1/models にある名前を設定してください。",
            f"serve {model}, or set one of the names that GET /v1/models lists",
        ),
        shorten=SHORTEN,
        api_key=api_key,
    )


def server_events(exchange: Exchange) -> Iterator[str | Usage]:
    """Yield text events and one Usage from a stream of server-sent events. Raises BackendError."""
    finish: Finish | None = None
    counts: Json = {}
    other_lines: list[str] = []
    for line in exchange.lines():
        if not line.startswith("data:"):
            other_lines.append(line)
            continue
        content = line.removeprefix("data:").strip()
        if content == "[DONE]":
            finish = finish or "complete"
            break
        chunk = _chunk(exchange.server, content)
        counts = chunk.get("usage") or counts
        for choice in chunk.get("choices") or []:
            yield str((choice.get("delta") or {}).get("content") or "")
            if choice.get("finish_reason"):
                finish = FINISHES.get(choice["finish_reason"], "complete")
    _refuse_plain_reply(exchange.server, other_lines)
    if finish:
        yield _usage(finish, counts)


def _chunk(server: Server, content: str) -> Json:
    chunk = parse(server, content, dict)
    if chunk.get("object") == "error":  # the form of older vLLM
        raise refusal(server, 200, content)
    return chunk


def _refuse_plain_reply(server: Server, lines: list[str]) -> None:
    """Raise for an error object that came as a plain body under status 200 (llama.cpp, text-generation front ends)."""
    text = "\n".join(line for line in lines if not line.startswith((":", "event:", "id:", "retry:")))
    if text.strip():
        try:
            json.loads(text)
        except ValueError:
            return
        raise refusal(server, 200, text)


def _usage(finish: Finish, counts: Json) -> Usage:
    details = counts.get("prompt_tokens_details") or {}
    return Usage(
        finish=finish,
        prompt_tokens=counts.get("prompt_tokens"),
        cached_tokens=details.get("cached_tokens"),
        answer_tokens=counts.get("completion_tokens"),
    )
