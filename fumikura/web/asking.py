"""One question on its way to its answer: searched at once, then in line for the generator, told in events, kept.

It runs as a task of its own and blocks only threads of its own. Who asked may leave at any moment: the generation ends
then, and what there is stays in the conversation, marked as stopped.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from fumikura.answering import Stop
from fumikura.errors import FumikuraError, NotFound, StoreError
from fumikura.notebook import AskEvent
from fumikura.protocols import Generator
from fumikura.records import Answer, Message, Mode, Notice, Prompt, SearchResult, Usage
from fumikura.resident import REUSED_SHARE, reused_share
from fumikura.web.errors import INTERNAL, error_body
from fumikura.web.events import Event
from fumikura.web.language import Language
from fumikura.web.schemas_answers import AnswerOut, HitOut
from fumikura.web.service import Service
from fumikura.web.turns import answer_kept, hit_values, trace_of

logger = logging.getLogger(__name__)

KEEP_EVERY_S = 2.0
STATES = {"complete": "complete", "length": "complete", "broken_off": "broken_off", "stopped": "stopped"}


class Stopped(FumikuraError):
    """The question was stopped before anything was written."""

    code = "stopped"
    status = 503
    transient = True

    def __init__(self) -> None:
        super().__init__("答える前に止めました。", "Stopped before anything was written")


class Unforeseen(FumikuraError):
    """Something failed that nobody foresaw; the log has the trace."""

    code = INTERNAL

    def __init__(self) -> None:
        super().__init__("答えを作る途中で思わぬエラーが起きました。", "Answering failed in a way nobody foresaw")


@dataclass(frozen=True)
class Wanted:
    """What is asked, and where its turn is kept (no conversation: nowhere)."""

    notebook: str
    question: str
    language: Language
    today: date | None = None
    source_ids: Sequence[str] | None = None
    mode: Mode = "auto"
    history: Sequence[Message] = ()
    conversation_id: str | None = None
    turn_id: str | None = None


class _StopAsking(Stop):
    """Ends the generation, and also the wait for it."""

    def __init__(self, then: Callable[[], object]) -> None:
        super().__init__()
        self._then = then

    def stop(self) -> None:
        """Stop from any thread."""
        super().stop()
        self._then()


class Asking:
    """Answers `wanted`; `events` ends with None. Made and read on the event loop's thread.

    The fields below are written by the one thread that is at work for this question, and read when it has ended.
    """

    def __init__(self, service: Service, wanted: Wanted) -> None:
        self.events: asyncio.Queue[Event | None] = asyncio.Queue()
        self.prompt: Prompt | None = None
        self.answer: Answer | None = None
        self.error: FumikuraError | None = None
        self._service = service
        self.wanted = wanted
        self._found: SearchResult | None = None
        self._text = ""
        self._kept_at = 0.0
        self._loop = asyncio.get_running_loop()
        self._stop = _StopAsking(lambda: self._loop.call_soon_threadsafe(self._interrupt))
        self._interruptible = True
        self.task = asyncio.create_task(self._run())

    def leave(self) -> None:
        """Stop: nobody waits for the answer any more."""
        if not self.task.done():  # in a thread: closing a connection may wait for a model that is being loaded
            self._loop.run_in_executor(None, self._stop.stop)

    async def ended(self) -> None:
        """Return when the answer, or what there is of it, is kept and told."""
        await asyncio.wait({self.task})

    def _interrupt(self) -> None:
        if self._interruptible:
            self._interruptible = False
            self.task.cancel()

    async def _run(self) -> None:
        with self._service.queue.following(self):
            failure = await self._failure_of(self._answered())
            self._interruptible = False
            self._warm_again()
            unkept = await self._failure_of(self._in_thread(self._keep, failure)) if self.wanted.turn_id else None
        if self.answer and not failure:
            self._tell("answer", self._answer_payload(self.answer))
        self.error = failure or unkept or (None if self.answer else Stopped())
        if self.error:
            self._tell("error", error_body(self.error, self.wanted.language))
        self._loop.call_soon(self.events.put_nowait, None)

    async def _failure_of(self, step: Coroutine[Any, Any, object]) -> FumikuraError | None:
        """Return what went wrong in this step; being stopped is no failure."""
        try:
            await step
        except asyncio.CancelledError:
            return None
        except FumikuraError as error:
            return error
        except Exception:
            logger.exception("a question failed")
            return Unforeseen()
        return None

    async def _answered(self) -> None:
        self._tell_stage("searching")
        while self.answer is None:
            generator = self._service.library.generator
            steps = await self._in_thread(self._search, generator)
            if self.answer:  # the sources hold nothing: no model, no line
                return
            async with self._service.queue.turn(lambda place: self._tell_stage("waiting", position=place)):
                self._service.warmer.give_way()
                if self._service.library.generator is generator:  # else another was chosen meanwhile: begin anew
                    await self._in_thread(self._generate, generator, steps)

    def _warm_again(self) -> None:
        """Have a core that was read anew kept for the next question, where the backend can keep one."""
        if self.answer and self._service.library.generator.keeps_prefixes:
            share = reused_share(self.answer.receipt)
            if share is not None and share < REUSED_SHARE:
                self._service.warmer.wake(self.wanted.notebook)

    async def _in_thread(self, work: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 - what `work` returns
        """Run `work` in a thread and, if stopped, wait until it has ended: only then is the generator free."""
        running = self._loop.run_in_executor(self._service.queue.threads, work, *arguments)
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError:
            await asyncio.wait({running})
            if error := running.exception():
                logger.info("stopped: %s", type(error).__name__)
            raise
        return running.result()

    # In a thread

    def _search(self, generator: Generator) -> Iterator[AskEvent]:
        """Search, and look one step ahead where that loads no model: it may be the answer already."""
        wanted = self.wanted
        steps = self._service.library.notebook(wanted.notebook).stream(
            wanted.question,
            source_ids=wanted.source_ids,
            history=wanted.history,
            today=wanted.today,
            mode=wanted.mode,
            stop=self._stop,
        )
        self._take(next(steps))
        if generator.loaded:
            self._take(next(steps))
        return steps

    def _generate(self, generator: Generator, steps: Iterator[AskEvent]) -> None:
        self._tell_stage("reading" if generator.loaded else "loading")
        for event in steps:
            if isinstance(event, Prompt):
                self._tell_stage("reading")
            self._take(event)

    def _take(self, event: AskEvent | Usage) -> None:
        match event:
            case SearchResult():
                self._found = event
                self._tell("hits", self._hits(event))
            case Prompt():
                self.prompt = event
            case str():
                self._take_text(event)
            case Usage():
                self._tell_stage("checking")
            case Answer():
                self.answer = event

    def _take_text(self, piece: str) -> None:
        if not self._text:
            self._tell_stage("writing")
        self._text += piece
        self._tell("token", {"text": piece})
        if self.wanted.turn_id and time.monotonic() - self._kept_at > KEEP_EVERY_S:
            self._kept_at = time.monotonic()
            try:
                self._update_turn(text=self._text)
            except StoreError as error:  # only a copy in case the process dies: the answer goes on
                logger.warning("what is written so far could not be kept: %s", error.en)

    def _keep(self, failure: FumikuraError | None) -> None:
        """Write down how it ended. The trace is for the receipt, the text for what has no answer."""
        wanted, library, found = self.wanted, self._service.library, self._found
        asked = (wanted.notebook, wanted.question)
        self._update_turn(
            state=self._state(failure),
            text=self._text,
            completed=found.completed if found else None,
            answer=answer_kept(self.answer) if self.answer and self.answer.text else None,
            trace=trace_of(library, *asked, found, self.prompt, self._text, self.answer) if found else None,
            error=Notice(failure.ja, failure.en) if failure else None,
        )

    def _state(self, failure: FumikuraError | None) -> str:
        if failure:
            return "failed"
        return STATES[self.answer.finish] if self.answer else "stopped"

    def _update_turn(self, **changes: Any) -> None:  # noqa: ANN401 - the columns' own types
        wanted = self.wanted
        assert wanted.turn_id
        try:
            self._service.library.store.update_turn(wanted.turn_id, **changes)
        except NotFound:
            logger.info("the conversation was removed while its question was answered")
            self.leave()

    # Telling

    def _tell(self, name: str, payload: dict[str, Any]) -> None:
        self._loop.call_soon_threadsafe(self.events.put_nowait, Event(name, payload))

    def _tell_stage(self, stage: str, **more: int) -> None:
        self._tell("stage", {"stage": stage, **more})

    def _hits(self, found: SearchResult) -> dict[str, Any]:
        return {
            "conversation_id": self.wanted.conversation_id,
            "turn_id": self.wanted.turn_id,
            "completed": found.completed,
            "hits": [HitOut.model_validate(hit_values(hit)).model_dump() for hit in found.hits],
            "embed_s": found.embed_s,
            "search_s": found.search_s,
            "notices": [notice.message(self.wanted.language) for notice in found.notices],
        }

    def _answer_payload(self, answer: Answer) -> dict[str, Any]:
        ids = {"conversation_id": self.wanted.conversation_id, "turn_id": self.wanted.turn_id}
        return {**AnswerOut.of(answer_kept(answer), self.wanted.language).model_dump(), **ids}
