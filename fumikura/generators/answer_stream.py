"""From the events of a backend to the pieces of an answer: thinking removed, failures told apart, closable.

An event is a text (empty: progress that shows nothing, such as thinking in a field of its own) or a Usage.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

from fumikura.errors import BackendError
from fumikura.generators.exchange import Exchange, dropped
from fumikura.generators.thinking import ThinkingFilter
from fumikura.records import Notice, Usage

Events = Callable[[Exchange], Iterator[str | Usage]]


class AnswerStream(Iterator[str | Usage]):
    """Pieces, then one Usage. `close` works from any thread and frees one that waits for the next piece."""

    def __init__(self, exchange: Exchange, events: Events, thinking: ThinkingFilter) -> None:
        self._exchange = exchange
        self._thinking = thinking
        self._pieces = self._answer(events)

    def __next__(self) -> str | Usage:
        return next(self._pieces)

    def __del__(self) -> None:
        self._exchange.close()

    def close(self) -> None:
        """Close the connection: the backend stops generating."""
        self._exchange.close()
        with suppress(ValueError):  # another thread waits inside; the closed exchange ends it
            self._pieces.close()  # type: ignore[attr-defined]

    def _answer(self, events: Events) -> Iterator[str | Usage]:
        ended: Usage | None = None
        shown = False
        error: BackendError | None = None
        try:
            for event in events(self._exchange):
                self._exchange.token_arrived()
                if isinstance(event, Usage):
                    ended = event
                elif piece := self._thinking.feed(event):
                    shown = True
                    yield piece
        except BackendError as failure:
            error = failure
        usage = self._usage(ended, error)
        if rest := self._thinking.finish(usage.finish):
            shown = True
            yield rest
        if usage.finish == "broken_off" and not shown:
            raise error or dropped(self._exchange.server)
        yield usage

    def _usage(self, ended: Usage | None, error: BackendError | None) -> Usage:
        if ended is not None and error is None:
            return ended
        if error is None and self._exchange.closed_by_caller:
            return Usage(finish="stopped")
        failure = error or dropped(self._exchange.server)
        return replace(ended or Usage(finish="broken_off"), finish="broken_off", error=noticed(failure))


def noticed(error: BackendError) -> Notice:
    """Return the error as a notice."""
    return Notice(error.ja, error.en)
