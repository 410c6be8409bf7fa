"""The embedded default: llama.cpp in a child process, started when first needed and unloaded when idle."""

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from fumikura.errors import BackendError
from fumikura.generators.answer_stream import AnswerStream, noticed
from fumikura.generators.exchange import Timeouts
from fumikura.generators.llamacpp_prefixes import LlamaCppPrefixes
from fumikura.generators.llamacpp_process import CHILD, ChildParameters, LlamaCppProcess
from fumikura.generators.llamacpp_slot import Slot
from fumikura.generators.openai import OpenAIGenerator
from fumikura.generators.prefix_files import LIMIT_BYTES, PrefixFiles
from fumikura.generators.thinking import TemplateHabits, ends_in_opening_tag
from fumikura.protocols import Pieces, PrefixProgress
from fumikura.records import Message, Usage


@dataclass(frozen=True, slots=True)
class LlamaCppOptions:
    """How the model is held. `idle_unload_s` 0: never unloaded. `prefix_folder` None: computed prefixes are not kept.

    `reuse_chunk_tokens` 0: off. Else runs of at least so many tokens that the slot holds are shifted to their new place
    instead of computed. Five of twelve passages in library order, ten questions, 16: 19 to 22 tokens newly read instead
    of 312 to 418, a tenth of the processor time to the first token; eight answers the same, two worded differently.
    """

    context_tokens: int = 8192
    temperature: float = 0.0
    threads: int | None = None
    idle_unload_s: float = 600.0
    start_timeout_s: float = 180.0
    log_path: Path | None = None
    prefix_folder: Path | None = None
    prefix_bytes: int = LIMIT_BYTES
    reuse_chunk_tokens: int = 0
    child_command: tuple[str, ...] = CHILD
    timeouts: Timeouts = field(default_factory=Timeouts)


@dataclass(frozen=True, slots=True)
class _Running:
    """A child and the client that speaks with it."""

    process: LlamaCppProcess
    client: OpenAIGenerator
    slot: Slot


class LlamaCppGenerator:
    """Generator with exact token counts. `locate_model` returns the model file, or raises ModelMissing when asked."""

    exact_counts = True

    def __init__(self, name: str, locate_model: Callable[[], Path], options: LlamaCppOptions | None = None) -> None:
        self.name = name
        self._locate_model = locate_model
        self._options = options or LlamaCppOptions()
        folder = self._options.prefix_folder
        files = PrefixFiles(folder, self._options.prefix_bytes) if folder else None
        self.prefixes = LlamaCppPrefixes(locate_model, self._options.context_tokens, files)
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._use_count = 0
        self._unload_timer: threading.Timer | None = None

    @property
    def pid(self) -> int | None:
        """Return the child's process id while it runs."""
        running = self._running
        return running.process.pid if running and running.process.running() else None

    @property
    def loaded(self) -> bool:
        """Tell whether the child runs, its model in memory."""
        return self.pid is not None

    def context_tokens(self) -> int:
        """Return the context of the running model; starts it. Raises BackendError, ModelMissing."""
        with self._use() as running:
            return running.client.context_tokens()

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Return exactly the tokens of the prompt that the model's template makes of the messages."""
        with self._use() as running:
            return running.client.count_tokens(messages)

    def generate(self, messages: Sequence[Message], max_tokens: int) -> Pieces:
        """Stream the answer; see protocols.Generator."""
        return _HeldStream(self, messages, max_tokens)

    @property
    def keeps_prefixes(self) -> bool:
        """Tell whether there is a folder for computed prefixes; see protocols.Generator for this and the next six."""
        return self.prefixes.kept

    def has_prefix(self, prefix: Sequence[Message]) -> bool:
        """Tell whether the prefix is in a file or in the slot."""
        return self.prefixes.is_kept(prefix) or self.prefixes.is_in_slot(self.pid, prefix)

    def warm(self, prefix: Sequence[Message], stop: threading.Event, progress: PrefixProgress | None = None) -> Usage:
        """Compute the prefix until `stop` or a question."""
        with self._use() as running:
            return self.prefixes.warm(running.slot, prefix, stop, progress)

    def save_prefix(self, prefix: Sequence[Message]) -> bool:
        """Keep the prefix in a file."""
        with self._use() as running:
            return self.prefixes.save(running.process, running.slot, prefix)

    def restore_prefix(self, prefix: Sequence[Message]) -> bool:
        """Put the kept prefix back."""
        if not self.prefixes.is_kept(prefix):
            return False
        with self._use() as running:
            return self.prefixes.restore(running.process, running.slot, prefix)

    def generate_from(self, prefix: Sequence[Message], messages: Sequence[Message], max_tokens: int) -> Pieces:
        """Stream the answer, the kept prefix put back first where the slot no longer holds it."""
        return _HeldStream(self, messages, max_tokens, prefix)

    def forget_prefixes(self, keep: Collection[str] = ()) -> int:
        """Remove the files of all other prefixes."""
        return self.prefixes.forget(keep)

    def close(self) -> None:
        """End the child process; the next call would start it again."""
        with self._lock:
            self._stop()

    @contextmanager
    def _use(self) -> Iterator[_Running]:
        running = self.hold()
        try:
            yield running
        except BackendError as error:
            raise running.process.crash() or error from error
        finally:
            self.release()

    def hold(self) -> _Running:
        """Start the child where none runs, and keep it loaded until `release`."""
        with self._lock:
            self._cancel_unload()
            if self._running is None or not self._running.process.running():
                self._stop()
                self._running = self._start()
            self._use_count += 1
            return self._running

    def release(self) -> None:
        """Allow the child to be unloaded when nobody else holds it."""
        with self._lock:
            self._use_count -= 1
            if self._use_count == 0 and self._options.idle_unload_s > 0:
                self._unload_timer = threading.Timer(self._options.idle_unload_s, self._unload)
                self._unload_timer.daemon = True
                self._unload_timer.start()

    def _start(self) -> _Running:
        options = self._options
        parameters = ChildParameters(
            self._locate_model(), options.context_tokens, options.threads, self.prefixes.folder()
        )
        process = LlamaCppProcess(parameters, options.log_path, options.start_timeout_s, options.child_command)
        habits = TemplateHabits()
        client = OpenAIGenerator(
            process.address,
            self.name,
            api_key=process.api_key,
            temperature=options.temperature,
            extra_body={"cache_prompt": True, "n_cache_reuse": options.reuse_chunk_tokens},
            timeouts=options.timeouts,
            habits=habits,
            tokenizer="llamacpp",
        )
        try:
            habits.opened_by_template = ends_in_opening_tag(client.render([Message("user", "文庫")]))
        except BackendError:
            process.stop()
            raise
        return _Running(process, client, Slot(process.address, process.api_key, client, options.timeouts))

    def _unload(self) -> None:
        with self._lock:
            if self._use_count == 0:
                self._stop()

    def _stop(self) -> None:
        self._cancel_unload()
        if self._running is not None:
            self._running.process.stop()
            self._running = None

    def _cancel_unload(self) -> None:
        if self._unload_timer is not None:
            self._unload_timer.cancel()
            self._unload_timer = None


class _HeldStream(Iterator[str | Usage]):
    """An answer that keeps the child loaded until it ends, and tells a crash of the child from other failures."""

    def __init__(
        self,
        generator: LlamaCppGenerator,
        messages: Sequence[Message],
        max_tokens: int,
        prefix: Sequence[Message] | None = None,
    ) -> None:
        self._generator = generator
        self._prefix = prefix
        self._messages = messages
        self._max_tokens = max_tokens
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._answer: AnswerStream | None = None
        self._ended = False
        self._begun = False

    def __next__(self) -> str | Usage:
        if self._ended:
            raise StopIteration
        try:
            piece = self._next_piece()
        except BaseException:
            self._end()
            raise
        if isinstance(piece, Usage):
            self._end()
        return piece

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection: the child stops generating and its slot is free."""
        if self._answer is not None:
            self._answer.close()
        self._end()

    def _next_piece(self) -> str | Usage:
        opened = self._open()
        if opened is None:
            return Usage(finish="stopped")
        answer, running = opened
        try:
            piece = next(answer) if self._begun else self._first(running)
        except BackendError as error:
            running = self._running or running
            raise running.process.crash() or error from error
        if isinstance(piece, Usage) and piece.finish == "broken_off" and (crash := running.process.crash()):
            return replace(piece, error=noticed(crash))
        return piece

    def _first(self, running: _Running) -> str | Usage:
        """Return the first piece; until then no other question comes between the prefix and this one."""
        prefixes = self._generator.prefixes
        with prefixes.turn(lambda: self._ended) as mine:
            if mine:
                prefixes.before_answer(running.process, running.slot, self._prefix, self._messages)
                if not running.process.running():  # it died of a damaged file, which is gone now
                    self._let_go()
            opened = self._open() if mine else None
            if opened is None:
                return Usage(finish="stopped")
            self._begun = True
            return next(opened[0])

    def _let_go(self) -> None:
        with self._lock:
            if self._ended:
                return
            self._running = self._answer = None
        self._generator.release()

    def _open(self) -> tuple[AnswerStream, _Running] | None:
        """Return the answer and its child; None when `close` was called while the child started."""
        if self._running is not None and self._answer is not None:
            return self._answer, self._running
        running = self._generator.hold()
        with self._lock:
            if not self._ended:
                self._running = running
                self._answer = running.client.generate(self._messages, self._max_tokens)
                return self._answer, running
        self._generator.release()
        return None

    def _end(self) -> None:
        with self._lock:
            held = self._running is not None and not self._ended
            self._ended = True
        if held:
            self._generator.release()
