"""Ollama's native API: thinking off, the context size sent with every request, NDJSON stream."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fumikura.backends import Json, Server, Words, ask, parse
from fumikura.errors import BackendRefused, InputTooLong
from fumikura.generators.answer_stream import AnswerStream
from fumikura.generators.exchange import SHORTEN, Exchange, Timeouts
from fumikura.generators.messages import wire_messages
from fumikura.generators.prefix import ServersOwnCache
from fumikura.generators.thinking import TemplateHabits, ThinkingFilter
from fumikura.generators.token_estimate import TokenEstimate
from fumikura.records import Finish, Message, Usage

FINISHES: dict[str, Finish] = {"stop": "complete", "length": "length", "load": "complete", "unload": "stopped"}


class OllamaGenerator(ServersOwnCache):
    """Generator over POST /api/chat. num_ctx is sent: beyond it Ollama drops the front in silence."""

    exact_counts = False
    loaded = True

    def __init__(
        self,
        url: str,
        model: str,
        *,
        context_tokens: int = 8192,
        temperature: float = 0.0,
        keep_alive: str | int = "30m",
        timeouts: Timeouts | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = model
        self._server = Server(
            "Ollama",
            url.rstrip("/"),
            start=Words(
                "ollama serve で起動し、設定 ollama.url を確かめてください。",
                "start it with `ollama serve` and check the setting ollama.url",
            ),
            model=Words(f"ollama pull {model} を実行してください。", f"run `ollama pull {model}`"),
            shorten=SHORTEN,
        )
        self._wanted_context_tokens = context_tokens
        self._options = {"temperature": temperature, **(options or {})}
        self._keep_alive = keep_alive
        self._timeouts = timeouts or Timeouts()
        self._estimate = TokenEstimate()
        self._habits = TemplateHabits()
        self._lock = threading.Lock()
        self._context_tokens: int | None = None
        self._knows_think = True

    def context_tokens(self) -> int:
        """Return the size that is sent as num_ctx: the setting, at most what the model was made for."""
        with self._lock:
            if self._context_tokens is None:
                limit = self._model_context_tokens() or self._wanted_context_tokens
                self._context_tokens = min(limit, self._wanted_context_tokens)
            return self._context_tokens

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Return an upper estimate: Ollama has no tokenizer endpoint."""
        return self._estimate.count(messages)

    def generate(self, messages: Sequence[Message], max_tokens: int) -> AnswerStream:
        """Stream the answer; see protocols.Generator."""
        body = self._body(messages, max_tokens)

        def events(exchange: Exchange) -> Iterator[str | Usage]:
            for event in self._events(exchange, body):
                if isinstance(event, Usage):
                    self._estimate.learn(messages, event.prompt_tokens)
                yield event

        exchange = Exchange(self._server, "/api/chat", body, self._timeouts)
        return AnswerStream(exchange, events, ThinkingFilter(self._habits))

    def pull(self, progress: Callable[[str, int, int], None] | None = None) -> None:
        """Have the server download the model; `progress` receives (status, done bytes, total bytes).

        Raises BackendError.
        """
        exchange = Exchange(self._server, "/api/pull", {"model": self.name}, self._timeouts)
        status = ""
        for line in exchange.lines():
            exchange.token_arrived()
            reply = parse(self._server, line, dict)
            status = str(reply.get("status", status))
            if progress:
                progress(status, int(reply.get("completed") or 0), int(reply.get("total") or 0))
        if status != "success":
            raise BackendRefused(
                ja=f"{self.name} のダウンロードが途中で終わりました（{status}）。もう一度 {self._server.model.ja}",
                en=f"The download of {self.name} ended early ({status}): {self._server.model.en} again",
            )

    def close(self) -> None:
        """Nothing to end: Ollama unloads the model itself after keep_alive."""

    def _body(self, messages: Sequence[Message], max_tokens: int) -> Json:
        options = {**self._options, "num_ctx": self.context_tokens(), "num_predict": max_tokens}
        body: Json = {
            "model": self.name,
            "messages": wire_messages(messages),
            "stream": True,
            "keep_alive": self._keep_alive,
            "options": options,
        }
        if self._knows_think:
            body["think"] = False
        return body

    def _events(self, exchange: Exchange, body: Json) -> Iterator[str | Usage]:
        try:
            yield from self._replies(exchange)
        except BackendRefused as error:
            if isinstance(error, InputTooLong) or "think" not in error.en.lower() or "think" not in body:
                raise
            self._knows_think = False
            yield from self._replies(exchange.again({key: body[key] for key in body if key != "think"}))

    def _replies(self, exchange: Exchange) -> Iterator[str | Usage]:
        for line in exchange.lines():
            reply = parse(self._server, line, dict)
            message = reply.get("message") or {}
            yield str(message.get("content") or "")
            if reply.get("done"):
                yield Usage(
                    finish=FINISHES.get(str(reply.get("done_reason") or "stop"), "complete"),
                    prompt_tokens=reply.get("prompt_eval_count"),
                    answer_tokens=reply.get("eval_count"),
                )
                return

    def _model_context_tokens(self) -> int | None:
        try:
            shown = ask(self._server, "POST", "/api/show", {"model": self.name}, self._timeouts.short, dict)
        except BackendRefused as error:
            if "ollama pull" in error.en:
                raise
            return None  # an old server without this endpoint
        sizes = shown.get("model_info") or {}
        found = [size for key, size in sizes.items() if key.endswith(".context_length") and isinstance(size, int)]
        return min(found, default=None)
