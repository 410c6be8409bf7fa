"""The optional half of a generator: the beginning of a prompt, computed before the question is asked."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from fumikura.generators.messages import wire_messages
from fumikura.protocols import Pieces
from fumikura.records import Message, Usage

Progress = Callable[[int, int], None]  # tokens that are ready, tokens in all
Generate = Callable[[Sequence[Message], int], Pieces]

POLL_S = 0.05  # between looks at `stop`: a person does not notice it, and it costs nothing


class PrefixCache(Protocol):
    """A generator that can make a prompt's beginning (`prefix`) ready ahead of its questions.

    A prefix is whole messages; where the last one is the user's, the question may still be written behind it.
    """

    @property
    def keeps_prefixes(self) -> bool:
        """Whether a computed prefix can be kept in a file; False: the server's own cache is all there is."""
        ...

    def warm(self, prefix: Sequence[Message], stop: threading.Event, progress: Progress | None = None) -> Usage:
        """Compute what all prompts with this prefix share. Finish "stopped": by `stop`, or by a person's question.

        What was computed until then is reused by the next call. Raises BackendError, ModelMissing.
        """
        ...

    def save_prefix(self, prefix: Sequence[Message]) -> bool:
        """Keep the computed prefix in a file (computing it first if it must); False: not kept, try again later.

        Raises BackendRefused when the file cannot be written (disk full), BackendError, ModelMissing.
        """
        ...

    def restore_prefix(self, prefix: Sequence[Message]) -> bool:
        """Put a kept prefix back; False: there is none that fits, or it was damaged and is gone.

        Loads no model when there is none. Raises BackendError, ModelMissing.
        """
        ...

    def generate_from(self, prefix: Sequence[Message], messages: Sequence[Message], max_tokens: int) -> Pieces:
        """Answer as `generate` does, the kept prefix put back first where the backend no longer holds it."""
        ...

    def forget_prefixes(self, keep: Iterable[Sequence[Message]] = ()) -> int:
        """Remove the files of all prefixes but these, as after a deletion; return how many had to go.

        Raises BackendRefused when a file cannot be removed.
        """
        ...


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
    """PrefixCache for a server that caches prefixes itself (Ollama, vLLM, SGLang): read ahead, nothing to keep."""

    keeps_prefixes = False

    def generate(self, messages: Sequence[Message], max_tokens: int) -> Pieces:
        """Stream the answer; the generator's own."""
        raise NotImplementedError

    def warm(self, prefix: Sequence[Message], stop: threading.Event, progress: Progress | None = None) -> Usage:
        """Have the server read the prefix, with the same parameters as a question; it reports no progress."""
        return warm_by_answer(self.generate, prefix, stop)

    def save_prefix(self, prefix: Sequence[Message]) -> bool:
        """Keep nothing."""
        return False

    def restore_prefix(self, prefix: Sequence[Message]) -> bool:
        """Find nothing."""
        return False

    def generate_from(self, prefix: Sequence[Message], messages: Sequence[Message], max_tokens: int) -> Pieces:
        """Stream the answer: the server looks for the prefix by itself."""
        return self.generate(messages, max_tokens)

    def forget_prefixes(self, keep: Iterable[Sequence[Message]] = ()) -> int:
        """Have nothing to remove."""
        return 0
