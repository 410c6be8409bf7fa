"""Computes the cores in the background, so that the first question does not have to wait for that."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from fumikura.errors import FumikuraError
from fumikura.protocols import Generator
from fumikura.records import Notice
from fumikura.resident.core import Core
from fumikura.resident.residence import Residence

logger = logging.getLogger(__name__)

WarmStage = Literal["none", "waiting", "computing", "ready", "failed"]

REST_S = 0.5  # between looks whether there is room for it
RETRY_S = 5.0
PACE_TOKENS = 256  # fewer say little about the pace
FAILURES = 3  # in a row, then it is left to the next change or question


@dataclass(frozen=True, slots=True)
class WarmState:
    """How far a notebook's core is computed; `notice` says why it failed, or what could not be kept."""

    stage: WarmStage = "none"
    done_tokens: int = 0
    total_tokens: int = 0
    notice: Notice | None = None


class Warmer:
    """One thread that computes the core of each notebook asked for, the last one first; a question goes before it."""

    def __init__(self, residence: Callable[[str], Residence], is_busy: Callable[[], bool]) -> None:
        """`is_busy` says that a question is being answered or sources are being read: then it waits."""
        self._residence = residence
        self._is_busy = is_busy
        self._lock = threading.Condition()
        self._wanted: list[str] = []
        self._states: dict[str, WarmState] = {}
        self._versions: dict[str, str] = {}
        self._stop = threading.Event()  # of the computation that runs
        self._newer = False  # a notebook was asked for since the present one was begun
        self._ending = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin."""
        self._thread = threading.Thread(target=self._run, name="warmer", daemon=True)
        self._thread.start()

    def stop(self, wait_s: float = 5.0) -> None:
        """End; a computation under way is broken off."""
        with self._lock:
            self._ending = True
            self._stop.set()
            self._lock.notify_all()
        if self._thread is not None:
            self._thread.join(wait_s)

    def wake(self, notebook: str) -> None:
        """Compute this notebook's core as it is now; what is computed of an older one is left off."""
        with self._lock:
            if notebook in self._wanted:
                self._wanted.remove(notebook)
            self._wanted.append(notebook)
            self._newer = True
            self._states[notebook] = WarmState("waiting")
            self._stop.set()
            self._lock.notify_all()

    def follow(self, notebook: str, version: str) -> None:
        """Wake for this notebook when it is another `version` of it than last time; cheap to call often."""
        with self._lock:
            known = self._versions.get(notebook) == version
            self._versions[notebook] = version
        if not known:
            self.wake(notebook)

    def give_way(self) -> None:
        """Break off the computation under way: a question has come. It goes on once that is answered."""
        self._stop.set()

    def state(self, notebook: str) -> WarmState:
        """Return how far this notebook's core is."""
        with self._lock:
            return self._states.get(notebook, WarmState())

    def _run(self) -> None:
        while True:
            with self._lock:
                while not self._wanted and not self._ending:
                    self._lock.wait()
                if self._ending:
                    return
                notebook, self._newer = self._wanted.pop(), False
            self._warm(notebook)

    def _warm(self, notebook: str) -> None:
        """Compute until it is ready, something newer is wanted, or it has failed too often."""
        for failure_count in range(1, FAILURES + 1):
            try:
                while not self._left_off():
                    self._stop = threading.Event()
                    if self._is_busy():
                        self._stop.wait(REST_S)
                    elif not self._left_off() and self._computed(notebook, self._residence(notebook)):
                        return
                return self._put_off(notebook)
            except FumikuraError as error:
                logger.info("the core of a notebook could not be computed: %s", error.en)
                self._tell(notebook, WarmState("failed", notice=Notice(error.ja, error.en)))
                if not error.transient or failure_count == FAILURES:
                    return
                self._stop.wait(RETRY_S)
        return None

    def _computed(self, notebook: str, residence: Residence) -> bool:
        """Compute the core as it is now; False when it was broken off."""
        core = residence.planned()
        if not core:
            self._tell(notebook, WarmState(notice=core.notice))
            return True
        total = core.token_count
        self._tell(notebook, WarmState("computing", 0, total))
        if residence.generator.restore_prefix(core.prefix):
            residence.note(core)
        elif not self._read(notebook, residence.generator, residence, core):
            return False
        notice = _kept(residence, core)
        self._tell(notebook, WarmState("ready", total, total, notice))
        return True

    def _read(self, notebook: str, generator: Generator, residence: Residence, core: Core) -> bool:
        begun = time.perf_counter()
        usage = generator.warm(core.prefix, self._stop, lambda done, total: self._told(notebook, done, total))
        new = (usage.prompt_tokens or 0) - (usage.cached_tokens or 0)
        if usage.finish == "stopped":
            return False
        if new >= PACE_TOKENS:
            residence.store.note_prefill_pace(generator.name, new / (time.perf_counter() - begun))
        return True

    def _left_off(self) -> bool:
        with self._lock:
            return self._ending or self._newer

    def _put_off(self, notebook: str) -> None:
        """Something newer is wanted first; this one afterwards, unless it is the same."""
        with self._lock:
            if not self._ending and notebook not in self._wanted:
                self._wanted.insert(0, notebook)

    def _told(self, notebook: str, done: int, total: int) -> None:
        self._tell(notebook, WarmState("computing", done, total))

    def _tell(self, notebook: str, state: WarmState) -> None:
        with self._lock:
            newer = notebook in self._wanted
            self._states[notebook] = replace(state, stage="waiting") if newer else state


def _kept(residence: Residence, core: Core) -> Notice | None:
    """Keep the state; a full disk is said, and answers work without."""
    try:
        residence.keep(core)
    except FumikuraError as error:
        return Notice(error.ja, error.en)
    return None
