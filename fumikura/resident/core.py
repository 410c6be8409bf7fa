"""The core of one question: the whole texts of its sources, and the messages that they make."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from fumikura.records import CoreSource, Coverage, Message, Mode, Notice, Passage
from fumikura.store import Candidate

KEPT_COUNT = 8


@dataclass(frozen=True)
class Measured:
    """The passages of a core, and the messages they make with the rules."""

    passages: tuple[Passage, ...]
    prefix: tuple[Message, ...]
    count: Callable[[Sequence[Message]], int]

    @cached_property
    def token_count(self) -> int:
        """The messages' tokens; counted when first asked for, since that may load the model."""
        return self.count(self.prefix)

    @property
    def length(self) -> int:
        """Characters of the messages."""
        return sum(len(message.content) for message in self.prefix)


@dataclass(frozen=True, slots=True)
class Core:
    """What is resident for one question. `coverage` is "read_in_full" when that is all there is to be asked."""

    mode: Mode  # what was chosen: rag, resident or hybrid
    coverage: Coverage = "searched"
    sources: tuple[CoreSource, ...] = ()
    passages: tuple[Passage, ...] = ()
    prefix: tuple[Message, ...] = ()
    token_count: int = 0
    notice: Notice | None = None  # why it is not what was wanted

    def __bool__(self) -> bool:
        return bool(self.passages)


NO_CORE = Core("rag")


class Measures:
    """The cores that were measured last: counting 4,000 tokens anew takes about 30 ms of every question."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, ...], Measured] = OrderedDict()

    def of(self, name: str, candidates: Sequence[Candidate], measure: Callable[[], Measured]) -> Measured:
        """Return what `measure` gave for these sources and this `name` of generator and rules."""
        key = (name, *(f"{one.source_id} {one.source} {one.sha256}" for one in candidates))
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        measured = measure()
        with self._lock:
            self._kept[key] = measured
            while len(self._kept) > KEPT_COUNT:
                self._kept.popitem(last=False)
        return measured

    def clear(self) -> None:
        """Forget all of them, as after a deletion."""
        with self._lock:
            self._kept.clear()
