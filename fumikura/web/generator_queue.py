"""One generator, many questions: each waits for its turn and is told its place.

Everything here happens on the event loop's thread, so nothing is locked.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from fumikura.web.errors import TooManyRequests

LONGEST_LINE = 100
THREAD_COUNT = 8  # one generates, the others search and keep turns; who waits in line holds none
RETRY_AFTER_S = 30


class OpenQuestion(Protocol):
    """A question on its way to its answer."""

    def leave(self) -> None:
        """Stop it: nobody waits for the answer any more."""
        ...

    async def ended(self) -> None:
        """Return when it has ended and what there is of it is kept."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class _Place:
    reached: asyncio.Future[None]
    on_position: Callable[[int], None]


def _unheard(_position: int) -> None:
    """Nobody watches this place."""


class GeneratorQueue:
    """First come, first served. Places count from 1: that one has only the answer in progress before it.

    `threads` are the questions' own: however many are asked, the threads of the other routes stay free.
    """

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self.threads = ThreadPoolExecutor(THREAD_COUNT, "question")
        self._longest = longest
        self._line: deque[_Place] = deque()
        self._taken = False
        self._open: set[OpenQuestion] = set()

    @property
    def waiting_count(self) -> int:
        """Return how many wait for the generator, the answer in progress not counted."""
        return len(self._line)

    @property
    def is_taken(self) -> bool:
        """Whether a question is being answered."""
        return self._taken

    def check_room(self) -> None:
        """Raise TooManyRequests when the line is as long as it may be."""
        if len(self._line) >= self._longest:
            count = len(self._line)
            raise TooManyRequests(
                f"いま {count} 件の質問が順番を待っています（上限 {self._longest}）。しばらくしてからもう一度どうぞ。",
                f"{count} questions are waiting (the limit is {self._longest}): ask again in a while",
                RETRY_AFTER_S,
            )

    @asynccontextmanager
    async def turn(self, on_position: Callable[[int], None] = _unheard) -> AsyncIterator[None]:
        """Wait for the generator and have it alone inside; `on_position` hears each new place.

        Raises TooManyRequests at once when the line is as long as it may be.
        """
        self.check_room()
        async with self._reached(on_position, at_front=False):
            yield

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Wait for the answer in progress only, and let none begin inside."""
        async with self._reached(_unheard, at_front=True):
            yield

    @contextmanager
    def following(self, question: OpenQuestion) -> Iterator[None]:
        """Know the question as open while inside, so that `close` can end it."""
        self._open.add(question)
        try:
            yield
        finally:
            self._open.discard(question)

    async def close(self) -> None:
        """Stop every question, in line or answered, and return when all of them are kept."""
        questions = tuple(self._open)
        for question in questions:
            question.leave()
        for question in questions:
            await question.ended()

    @asynccontextmanager
    async def _reached(self, on_position: Callable[[int], None], *, at_front: bool) -> AsyncIterator[None]:
        if self._taken:
            await self._wait(_Place(asyncio.get_running_loop().create_future(), on_position), at_front=at_front)
        self._taken = True
        try:
            yield
        finally:
            self._hand_on()

    async def _wait(self, place: _Place, *, at_front: bool) -> None:
        if at_front:
            self._line.appendleft(place)
            self._announce()
        else:
            self._line.append(place)
            place.on_position(len(self._line))
        try:
            await place.reached
        except asyncio.CancelledError:
            if place in self._line:
                self._line.remove(place)
                self._announce()
            elif not place.reached.cancelled():  # its turn came in the same moment
                self._hand_on()
            raise

    def _hand_on(self) -> None:
        """Give the generator to the next in line that still waits."""
        self._taken = False
        while self._line and not self._taken:
            place = self._line.popleft()
            if not place.reached.done():
                place.reached.set_result(None)
                self._taken = True
        self._announce()

    def _announce(self) -> None:
        for position, place in enumerate(self._line, 1):
            place.on_position(position)
