"""The one slot of the child's server: its computed state filled ahead of a question, written to a file, read back."""

import os
import threading
from collections.abc import Sequence
from pathlib import Path

from fumikura.backends import Json, Server, Words, ask, parse
from fumikura.errors import BackendError, BackendRefused, BackendReplyInvalid
from fumikura.generators.exchange import SHORTEN, Exchange, Timeouts
from fumikura.generators.openai import OpenAIGenerator
from fumikura.generators.prefix import closed_by
from fumikura.protocols import PrefixProgress
from fumikura.records import Message, Usage

RESTART = Words("もう一度質問すると起動し直します。", "ask again to restart it")


class Slot:
    """Speaks with the slot; `client` shares its server. Its methods wait while the server answers a question."""

    def __init__(self, address: str, api_key: str, client: OpenAIGenerator, timeouts: Timeouts) -> None:
        self._server = Server("llama.cpp", address, RESTART, RESTART, SHORTEN, api_key=api_key)
        self._client = client
        self._timeouts = timeouts
        self._lock = threading.Lock()
        self._computing: set[Exchange] = set()

    def compute(
        self, prefix: Sequence[Message], stop: threading.Event, progress: PrefixProgress | None = None
    ) -> Usage:
        """Fill the slot with what all prompts with this prefix share. Raises BackendError.

        llama.cpp always generates one token; it is not shown, and not part of the state.
        """
        text = self._shared_text(prefix)
        # prompt_progress comes once a batch, so `idle_s` is the limit for one batch
        body: Json = {"prompt": text, "n_predict": 0, "stream": True, "return_progress": True, "cache_prompt": True}
        exchange = Exchange(self._server, "/completion", body, self._timeouts)
        with self._lock:
            self._computing.add(exchange)
        try:
            with closed_by(stop, exchange.close):
                return self._followed(exchange, progress)
        finally:
            with self._lock:
                self._computing.discard(exchange)

    def interrupt(self) -> None:
        """End every computation: the server is free after the batch it is at, and keeps what it has computed."""
        with self._lock:
            computing = list(self._computing)
        for exchange in computing:
            exchange.close()

    def save(self, path: Path) -> int:
        """Write the state into the child's folder; return how many tokens it holds. Raises BackendError."""
        try:
            written = self._act("save", path)
        except BackendRefused as error:  # on a full disk it only says "Unable to save slot"
            raise _not_written(path, error.en) from error
        if written.get("n_written") != path.stat().st_size:
            raise _not_written(path, f"{path.stat().st_size} / {written.get('n_written')} bytes")
        return int(written.get("n_saved") or 0)

    def restore(self, path: Path) -> int:
        """Read a state back; return how many tokens it holds. The file must be whole. Raises BackendError."""
        return int(self._act("restore", path).get("n_restored") or 0)

    def _act(self, action: str, path: Path) -> Json:
        body: Json = {"filename": path.name}
        return ask(self._server, "POST", f"/slots/0?action={action}", body, self._timeouts.short, dict)

    def _shared_text(self, prefix: Sequence[Message]) -> str:
        """Return the beginning that two prompts have in common which go on differently: no template need be known."""
        one, other = (self._client.render(_continued(prefix, ending)) for ending in "Aあ")
        return os.path.commonprefix([one, other])

    def _followed(self, exchange: Exchange, progress: PrefixProgress | None) -> Usage:
        for line in exchange.lines():
            exchange.token_arrived()
            event = _event(self._server, line)
            if (batch := event.get("prompt_progress")) and progress:
                progress(int(batch.get("processed") or 0), int(batch.get("total") or 0))
            if event.get("stop"):
                return self._usage(event)
        if exchange.closed_by_caller:
            return Usage(finish="stopped")
        raise _broken_off()

    def _usage(self, event: Json) -> Usage:
        timings = event.get("timings") or {}
        counts = (event.get("tokens_evaluated"), timings.get("cache_n"), event.get("tokens_predicted"))
        if any(not isinstance(count, int) for count in counts):
            raise BackendReplyInvalid(
                ja=f"{self._server.name} の応答にトークン数がありません。{self._server.check.ja}",
                en=f"The reply of {self._server.name} has no token counts: {self._server.check.en}",
            )
        return Usage("complete", *counts)


def _continued(prefix: Sequence[Message], ending: str) -> list[Message]:
    if prefix and prefix[-1].role == "user":
        return [*prefix[:-1], Message("user", prefix[-1].content + ending)]
    return [*prefix, Message("user", ending)]


def _event(server: Server, line: str) -> Json:
    """Return one event; the server sends an error as a line of its own, or as the reply's whole body."""
    content = line.removeprefix("error:").removeprefix("data:").strip()
    if not content.startswith("{"):
        return {}
    event: Json = parse(server, content, dict)
    return event


def _not_written(path: Path, reason: str) -> BackendRefused:
    return BackendRefused(
        ja=f"計算済みの資料を {path.parent} に保存できません。ディスクの空きを確かめてください（{reason}）。",
        en=f"Cannot keep the computed prefix in {path.parent}: check free disk space ({reason})",
    )


def _broken_off() -> BackendError:
    return BackendError(
        ja="資料の計算が途中で切れました。もう一度実行すると続きから計算します。",
        en="The computation of the prefix broke off: run it again, it goes on from there",
    )
