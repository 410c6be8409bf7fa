"""Which prefix the child's slot holds, and the files that bring it back: nothing here streams an answer."""

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from fumikura.errors import BackendError, BackendUnavailable
from fumikura.generators.llamacpp_process import LlamaCppProcess
from fumikura.generators.llamacpp_slot import Slot
from fumikura.generators.prefix import begins_with, prefix_sha256
from fumikura.generators.prefix_files import Fingerprint, PrefixFiles
from fumikura.protocols import PrefixProgress
from fumikura.records import Message, Usage

CACHE_TYPE = "f16"  # the child sets none, and this is llama.cpp's default
TURN_POLL_S = 0.1


class LlamaCppPrefixes:
    """Prefixes of one generator. `process` and `slot` are those of the child that runs now."""

    def __init__(self, locate_model: Callable[[], Path], context_tokens: int, files: PrefixFiles | None) -> None:
        self._locate_model = locate_model
        self._context_tokens = context_tokens
        self._files = files
        self._turn = threading.Lock()
        self._question_count = 0
        self._in_slot: tuple[int, str] | None = None  # process id of the child, prefix hash

    @property
    def kept(self) -> bool:
        """Tell whether there is a folder for files."""
        return self._files is not None

    def folder(self) -> Path | None:
        """Return the folder that a child may write to; None: nothing can be kept."""
        return self._files.folder if self._files is not None and self._files.prepare() else None

    def warm(
        self, slot: Slot, prefix: Sequence[Message], stop: threading.Event, progress: PrefixProgress | None = None
    ) -> Usage:
        """Compute the prefix; a question ends it."""
        if stop.is_set():
            return Usage(finish="stopped")
        self._in_slot = None
        return slot.compute(prefix, stop, progress)

    def save(self, process: LlamaCppProcess, slot: Slot, prefix: Sequence[Message]) -> bool:
        """Compute the prefix (one token where it is in the slot) and write it; False when a question came between."""
        if self._files is None or not process.prefix_folder:
            return False
        fingerprint = self._fingerprint(prefix)
        asked_before = self._question_count
        ready = self.warm(slot, prefix, threading.Event())
        if ready.finish != "complete" or ready.prompt_tokens is None:
            return False
        with self._files.part() as part:
            token_count = slot.save(part)
            if token_count != ready.prompt_tokens or self._question_count != asked_before:
                return False  # the slot went to a question before it was written
            self._files.keep(fingerprint, part, token_count)
        self._in_slot = (process.pid, fingerprint.prefix_sha256)
        return True

    def is_kept(self, prefix: Sequence[Message]) -> bool:
        """Tell whether a whole file of this prefix is there."""
        return self._files is not None and self._files.find(self._fingerprint(prefix)) is not None

    def is_in_slot(self, pid: int | None, prefix: Sequence[Message]) -> bool:
        """Tell whether the slot of this child holds the prefix."""
        return self._in_slot is not None and self._in_slot == (pid, prefix_sha256(prefix))

    def restore(self, process: LlamaCppProcess, slot: Slot, prefix: Sequence[Message]) -> bool:
        """Put the kept prefix into the slot; a file that llama.cpp refuses, or dies of, is removed."""
        if self._files is None or not process.prefix_folder:
            return False
        fingerprint = self._fingerprint(prefix)
        found = self._files.find(fingerprint)
        if found is None:
            return False
        self._in_slot = None
        try:
            whole = slot.restore(found.path) == found.token_count
        except BackendUnavailable:
            process.stop()  # it is dying of the file; until it has died it would take another question
            whole = False
        except BackendError:
            whole = False
        if whole:
            self._in_slot = (process.pid, fingerprint.prefix_sha256)
        else:
            self._files.remove(fingerprint)
        return whole

    def forget(self, keep: Collection[str]) -> int:
        """Remove the files of all prefixes but those of these hashes, of whatever model."""
        return 0 if self._files is None else self._files.forget(keep.__contains__)

    @contextmanager
    def turn(self, given_up: Callable[[], bool]) -> Iterator[bool]:
        """Let one question at a time put its prefix back and reach the slot; gives False once the caller gave up."""
        while not (mine := self._turn.acquire(timeout=TURN_POLL_S)):
            if given_up():
                break
        try:
            yield mine
        finally:
            if mine:
                self._turn.release()

    def before_answer(
        self, process: LlamaCppProcess, slot: Slot, prefix: Sequence[Message] | None, messages: Sequence[Message]
    ) -> None:
        """Make way for a question: end a warm-up, and put its prefix back unless the slot still holds it."""
        self._question_count += 1
        slot.interrupt()
        if prefix is None:
            self._in_slot = None
            return
        extends = begins_with(messages, prefix)
        holds = extends and self._in_slot == (process.pid, prefix_sha256(prefix))
        if not holds:
            self.restore(process, slot, prefix)
        if not extends:
            self._in_slot = None  # passages of a library: the answer leaves their selection in the slot

    def _fingerprint(self, prefix: Sequence[Message]) -> Fingerprint:
        model = self._locate_model()
        status = model.stat()
        return Fingerprint(
            model_file=model.name,
            model_bytes=status.st_size,
            model_mtime_ns=status.st_mtime_ns,
            context_tokens=self._context_tokens,
            engine=_engine(),
            cache_type=CACHE_TYPE,
            prefix_sha256=prefix_sha256(prefix),
        )


def _engine() -> str:
    try:
        return f"xllamacpp {version('xllamacpp')}"
    except PackageNotFoundError:
        return "unknown"
