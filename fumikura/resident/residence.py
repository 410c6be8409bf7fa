"""Decides for one notebook what is resident: everything if it fits, else what is pinned, else nothing."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import TypeVar

from fumikura.errors import BackendError, Conflict, CoreTooLarge, ModelFileError
from fumikura.generators import prefix_sha256
from fumikura.prompting import core_prefix, estimate_messages
from fumikura.protocols import Generator, PrefixProgress
from fumikura.records import Coverage, Message, Mode, Notice, SourceSummary
from fumikura.resident.budget import Budget
from fumikura.resident.core import NO_CORE, Core, Measured, Measures
from fumikura.store import Candidate, Store, check_mode

T = TypeVar("T")

# Tokens of a character: below the first no text is, so what is longer need not be read; Japanese has 0.55 to 0.95.
LEAST_TOKENS, USUAL_TOKENS = 0.2, 0.75
AT_ONCE_S = 30.0  # a prompt with five retrieved passages has about 1,000 tokens, which two cores read in 25 s
NOTHING_PINNED = Core(
    "rag",
    notice=Notice(
        "ピン留めした資料がないので、検索だけで答えます。",
        "No source is pinned, so questions are answered by search only.",
    ),
)


@dataclass(frozen=True, slots=True)
class Share:
    """A source in the gauge: about how many tokens it has, by its length."""

    source_id: str
    source: str
    token_count: int
    pinned: bool
    resident: bool


@dataclass(frozen=True, slots=True)
class Gauge:
    """How full the core is; tokens. Not `exact`: estimated.

    `room_tokens` is what rules and core may have in `mode`; of `used_tokens`, `rules_tokens` are no source's.
    """

    mode: Mode
    coverage: Coverage
    window_tokens: int
    room_tokens: int
    used_tokens: int
    rules_tokens: int
    exact: bool
    shares: tuple[Share, ...]
    notice: Notice | None = None

    @property
    def free_tokens(self) -> int:
        """What would still fit."""
        return max(0, self.room_tokens - self.used_tokens)


@dataclass(frozen=True)
class Residence:
    """The resident core of one notebook."""

    notebook: str
    store: Store
    generator: Generator
    window: Callable[[], int]  # tokens of the backend's context; asks the backend, which may load the model
    count: Callable[[Sequence[Message]], int]  # tokens, by the backend's tokenizer; so may this
    largest_window: int  # tokens that the settings allow, known without asking
    budget: Callable[[int], Budget]  # of the window
    measures: Measures
    rules: str
    wanted_mode: Mode
    counter: str = "backend"  # tells two ways of counting apart

    def estimating(self) -> "Residence":
        """Return one that asks no backend and loads no model: it counts by an upper estimate."""
        window = self.largest_window
        return replace(self, window=lambda: window, count=lambda sent: int(estimate_messages(sent)), counter="estimate")

    def core(self, mode: Mode | None = None, source_ids: Collection[str] | None = None) -> Core:
        """Return what is resident for a question now (to these sources, None: all).

        In mode auto, what nobody pinned is read in full only once that makes nobody wait: until it is computed the
        question is answered by search. Raises CoreTooLarge when `mode` forces more than fits, BackendError.
        """
        return self._core_for(mode, source_ids, self._is_at_once)

    def planned(self) -> Core:
        """Return what is resident once it is computed. Raises as `core`."""
        return self._core_for(None, self.store.usable_source_ids(self.notebook), lambda _: True)

    def prepare(self, progress: PrefixProgress | None = None) -> Core:
        """Compute what is planned to be resident, or put it back, and keep it. Raises as `core`, and BackendError."""
        planned = self.planned()
        if planned and not self.generator.restore_prefix(planned.prefix):
            self.generator.warm(planned.prefix, Event(), progress)
        self.keep(planned)
        return planned

    def _core_for(
        self, mode: Mode | None, source_ids: Collection[str] | None, may_be_whole: Callable[[Measured], bool]
    ) -> Core:
        wanted = mode if mode and mode != "auto" else self._chosen_mode()
        candidates = [] if wanted == "rag" else self.store.core_candidates(self.notebook, source_ids)
        pinned = [one for one in candidates if one.pinned]
        if not candidates:
            return NO_CORE
        if not (wanted == "hybrid" and pinned):
            asked_for = wanted != "auto" or len(pinned) == len(candidates)
            allowed = None if asked_for else may_be_whole
            whole = self._fitting(candidates, with_passages=wanted == "hybrid", allowed=allowed)
            if whole:
                return _core("hybrid" if wanted == "hybrid" else "resident", candidates, whole, "read_in_full")
        if pinned:
            return self._pinned_core(wanted, candidates, pinned)
        if wanted == "resident":
            raise self._too_large(candidates, with_passages=False)
        return NOTHING_PINNED if wanted == "hybrid" else NO_CORE

    def _is_at_once(self, whole: Measured) -> bool:
        """Whether the core is computed, or is read about as fast as a prompt with retrieved passages."""
        pace = self.budget(self.largest_window).pace
        if pace is None or self.generator.has_prefix(whole.prefix):
            return True
        most = AT_ONCE_S * pace
        return LEAST_TOKENS * whole.length <= most and whole.token_count <= most

    def pin(self, names: Sequence[str]) -> list[SourceSummary]:
        """Put sources into the core, all or none. Raises NotFound, Conflict, CoreTooLarge with the numbers."""
        chosen = [self.store.get_source(self.notebook, name) for name in names]
        wanted = {source.source_id for source in chosen}
        everything = self.store.core_candidates(self.notebook)
        _check_text(chosen, everything)
        candidates = [one for one in everything if one.pinned or one.source_id in wanted]
        self._asked_or_estimated(lambda counting: counting._check_fits(candidates))
        return [self.store.set_pinned(self.notebook, source.source_id, True) for source in chosen]

    def check_mode(self, mode: str) -> None:
        """Raise CoreTooLarge when this mode forces more than fits, QuestionError for one that there is not."""
        wanted = check_mode(mode)
        source_ids = self.store.usable_source_ids(self.notebook)
        self._asked_or_estimated(lambda counting: counting._core_for(wanted, source_ids, lambda _: True))

    def unpin(self, names: Sequence[str]) -> list[SourceSummary]:
        """Take sources out of the core. Raises NotFound and Conflict, and then changes nothing."""
        chosen = [self.store.get_source(self.notebook, name) for name in names]
        return [self.store.set_pinned(self.notebook, source.source_id, False) for source in chosen]

    def gauge(self) -> Gauge:
        """Return how full the core is; estimated while no model is loaded or no backend answers."""
        if not self.generator.loaded:
            return self.estimating()._gauge()
        return self._asked_or_estimated(lambda counting: counting._gauge())

    def _asked_or_estimated(self, step: Callable[["Residence"], T]) -> T:
        """Take a step that counts; where there is nobody to ask, by the estimate: a question checks it again."""
        try:
            return step(self)
        except (BackendError, ModelFileError):
            return step(self.estimating())

    def _gauge(self) -> Gauge:
        candidates = self.store.core_candidates(self.notebook, self.store.usable_source_ids(self.notebook))
        core = self._shown_core()
        window = self.window()
        room = self.budget(window).room(with_passages=core.mode != "resident")
        resident = {one.source_id for one in core.sources}
        length = sum(one.length for one in candidates if one.source_id in resident)
        rules = self.count(core_prefix(self.rules, ())) if core else 0
        a_character = (core.token_count - rules) / length if length else USUAL_TOKENS
        shares = tuple(
            Share(one.source_id, one.source, round(a_character * one.length), one.pinned, one.source_id in resident)
            for one in candidates
        )
        exact = self.counter != "estimate" and self.generator.exact_counts
        return Gauge(core.mode, core.coverage, window, room, core.token_count, rules, exact, shares, core.notice)

    def _shown_core(self) -> Core:
        """Return the planned core; where a forced mode cannot be had, none and the reason."""
        try:
            return self.planned()
        except CoreTooLarge as error:
            return Core(self._chosen_mode(), notice=Notice(error.ja, error.en))

    def note(self, core: Core) -> None:
        """Remember that this core's prefix was computed, so that its file may stay until a source changes."""
        if core:
            self.store.note_prefix(self.notebook, prefix_sha256(core.prefix), core.sources)

    def keep(self, core: Core) -> bool:
        """Keep the core's computed state for the next start, where the backend can; states of old texts go.

        Raises BackendError.
        """
        if not core or not self.generator.keeps_prefixes:
            return False
        self.note(core)
        kept = self.generator.save_prefix(core.prefix)
        self.generator.forget_prefixes(self.store.current_prefixes())
        return kept

    def _chosen_mode(self) -> Mode:
        chosen = self.store.mode(self.notebook)
        return self.wanted_mode if chosen == "auto" else chosen

    def _pinned_core(self, wanted: Mode, candidates: Sequence[Candidate], pinned: Sequence[Candidate]) -> Core:
        measured = self._fitting(pinned, with_passages=wanted != "resident")
        if measured:
            kind: Mode = "resident" if wanted == "resident" else "hybrid"
            return _core(kind, pinned, measured, "read_in_full" if len(pinned) == len(candidates) else "searched")
        if wanted != "auto":
            raise self._too_large(pinned, with_passages=wanted != "resident")
        used, room = self._count(pinned), self._room(with_passages=True)
        return Core(
            "rag",
            notice=Notice(
                f"ピン留めした資料（{used:,} トークン）が枠（{room:,} トークン）に入らないので、検索だけで答えます。"
                "ピン留めを減らしてください。",
                f"The pinned sources ({used:,} tokens) do not fit into {room:,} tokens, so questions are answered by "
                "search only: unpin some.",
            ),
        )

    def _fitting(
        self,
        candidates: Sequence[Candidate],
        *,
        with_passages: bool,
        allowed: Callable[[Measured], bool] | None = None,
    ) -> Measured | None:
        """Return the core of these sources if it is allowed and fits; far too long texts are not even read.

        Counting comes last, as it may load the model.
        """
        length = sum(one.length for one in candidates)
        if LEAST_TOKENS * length > self.largest_window:
            return None
        measured = self._measured(candidates)
        if not measured.passages or (allowed and not allowed(measured)):
            return None
        return measured if measured.token_count <= self._room(with_passages=with_passages) else None

    def _measured(self, candidates: Sequence[Candidate]) -> Measured:
        def measure() -> Measured:
            passages = tuple(self.store.whole_texts(candidates))
            return Measured(passages, core_prefix(self.rules, passages), self.count)

        return self.measures.of(f"{self.counter} {self.generator.name} {self.rules}", candidates, measure)

    def _count(self, candidates: Sequence[Candidate]) -> int:
        """Return the tokens of these sources, estimated where they are too long to be measured."""
        length = sum(one.length for one in candidates)
        if LEAST_TOKENS * length > self.largest_window:
            return int(USUAL_TOKENS * length)
        return self._measured(candidates).token_count

    def _room(self, *, with_passages: bool) -> int:
        return self.budget(self.window()).room(with_passages=with_passages)

    def _check_fits(self, candidates: Sequence[Candidate]) -> None:
        if candidates and not self._fitting(candidates, with_passages=True):
            raise self._too_large(candidates, with_passages=True)

    def _too_large(self, candidates: Sequence[Candidate], *, with_passages: bool) -> CoreTooLarge:
        used, room = self._count(candidates), self._room(with_passages=with_passages)
        return CoreTooLarge(
            f"常駐させる資料 {len(candidates)} 件は {used:,} トークンで、入るのは {room:,} トークンまでです。"
            "ピン留めか質問に使う資料を減らすか、モードを自動にするか、llm.context_tokens を増やしてください。",
            f"the {len(candidates)} resident sources have {used:,} tokens, but only {room:,} fit: pin or tick fewer, "
            "set the mode to auto, or raise llm.context_tokens",
        )


def _check_text(chosen: Sequence[SourceSummary], candidates: Sequence[Candidate]) -> None:
    """Raise Conflict for a source without text: there is nothing of it to read."""
    with_text = {one.source_id for one in candidates}
    for source in chosen:
        if source.source_id not in with_text:
            raise Conflict(
                f"「{source.name}」には読める文章がないので、ピン留めできません。",
                f"'{source.name}' has no text, so it cannot be pinned",
            )


def _core(mode: Mode, candidates: Sequence[Candidate], measured: Measured, coverage: Coverage) -> Core:
    named = tuple(one.named for one in candidates)
    return Core(mode, coverage, named, measured.passages, measured.prefix, measured.token_count)
