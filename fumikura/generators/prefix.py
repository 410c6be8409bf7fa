"""The half of a generator that computes the beginning of a prompt before the question is asked."""

import hashlib
import json
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from fumikura.generators.messages import wire_messages
from fumikura.protocols import Pieces, PrefixProgress
from fumikura.records import Message, Usage

Generate = Callable[[Sequence[Message], int], Pieces]

POLL_S = 0.05  # between looks at `stop`: a person does not notice it, and it costs nothing


def prefix_sha256(prefix: Sequence[Message]) -> str:
    """Return the hash of the messages as a server gets them."""
    canonical = json.dumps(wire_messages(prefix), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def begins_with(messages: Sequence[Message], prefix: Sequence[Message]) -> bool:
    """Tell whether the prompt is the prefix and more; the prefix's last message may go on if it is the user's."""
    if not prefix or len(messages) < len(prefix):
        return False
    *whole, last = prefix
    at_last = messages[len(whole)]
    goes_on = last.role == at_last.role == "user" and at_last.content.startswith(last.content)
    return list(messages[: len(whole)]) == whole and (goes_on or at_last == last)


@contextmanager
def closed_by(stop: threading.Event, close: Callable[[], None]) -> Iterator[None]:
    """Call `close` as soon as `stop` is set, until the block ends."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.is_set():
            if stop.wait(POLL_S):
                close()
                return

    watcher = threading.Thread(target=watch, name="prefix-stop", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def warm_by_answer(generate: Generate, prefix: Sequence[Message], stop: threading.Event) -> Usage:
    """Have a server with a prefix cache of its own read the prefix: the shortest answer, thrown away.

    A question of one character is added after whole messages, since some chat templates refuse to end without one.
    """
    ended = Usage(finish="stopped")
    if stop.is_set():
        return ended
    asked = list(prefix) if prefix and prefix[-1].role == "user" else [*prefix, Message("user", "？")]
    answer = generate(asked, 1)
    with closed_by(stop, answer.close):
        for piece in answer:
            if isinstance(piece, Usage):
                ended = piece
    if ended.finish == "length":  # one token was all that was wanted
        return Usage("complete", ended.prompt_tokens, ended.cached_tokens, ended.answer_tokens)
    return ended


class ServersOwnCache:
    """The prefixes of a server that caches prefixes itself (Ollama, vLLM, SGLang): read ahead, nothing to keep."""

    keeps_prefixes = False

    def generate(self, messages: Sequence[Message], max_tokens: int) -> Pieces:
        """Stream the answer; the generator's own."""
        raise NotImplementedError

    _read_last: str | None = None

    def has_prefix(self, prefix: Sequence[Message]) -> bool:
        """Tell whether it was read last here; the server may have let it go since."""
        return self._read_last == prefix_sha256(prefix)

    def warm(self, prefix: Sequence[Message], stop: threading.Event, progress: PrefixProgress | None = None) -> Usage:
        """Have the server read the prefix, with the same parameters as a question; it reports no progress."""
        ended = warm_by_answer(self.generate, prefix, stop)
        if ended.finish == "complete":
            self._read_last = prefix_sha256(prefix)
        return ended

    def save_prefix(self, prefix: Sequence[Message]) -> bool:
        """Keep nothing."""
        return False

    def restore_prefix(self, prefix: Sequence[Message]) -> bool:
        """Find nothing."""
        return False

    def generate_from(self, prefix: Sequence[Message], messages: Sequence[Message], max_tokens: int) -> Pieces:
        """Stream the answer: the server looks for the prefix by itself."""
        self._read_last = prefix_sha256(prefix)
        return self.generate(messages, max_tokens)

    def forget_prefixes(self, keep: Collection[str] = ()) -> int:
        """Have nothing to remove."""
        return 0
