"""From a question to a grounded answer: search, decide whether to ask the model, prompt, generate, ground.

Knows no settings and no servers; every part is handed to it.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Generator as Steps
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import date

from fumikura.answer_checks import Draft, check_not_cut, notices_of
from fumikura.errors import BackendError, InputTooLong
from fumikura.generators import prefix_sha256
from fumikura.grounding import content_words, ground, nothing_there, refused
from fumikura.prompting import Language, PromptBuilder, language_of
from fumikura.protocols import Generator, Pieces
from fumikura.records import (
    Answer,
    Citation,
    Grounded,
    Hit,
    Message,
    Mode,
    Notice,
    Prompt,
    Receipt,
    ReceiptHit,
    SearchResult,
    Usage,
)
from fumikura.resident import NO_CORE, PACE_TOKENS, Core, Residence
from fumikura.store import Store

NOTHING_WRITTEN = Grounded("partly", "", ())


class Stop:
    """Ends an answer from any thread, also before its first piece. One for each answer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopped = False
        self._pieces: Pieces | None = None

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped

    def stop(self) -> None:
        """End the generation now, or keep it from starting."""
        with self._lock:
            self._stopped = True
            pieces = self._pieces
        if pieces is not None:
            with suppress(ValueError):  # a plain generator at work in its own thread: it is left after its next piece
                pieces.close()

    def watch(self, pieces: Pieces) -> None:
        """Make `stop` close these pieces."""
        with self._lock:
            self._pieces = pieces
            stopped = self._stopped
        if stopped:
            pieces.close()


@dataclass(frozen=True)
class Question:
    """A question as it was asked and as it was understood, with the turns before it and today's date.

    `source_ids` are the sources that may answer it (None: all), `mode` how they are to be read (None: as is set).
    """

    asked: str
    completed: str
    history: Sequence[Message] = ()
    today: date | None = None
    source_ids: Collection[str] | None = None
    mode: Mode | None = None
    stop: Stop = field(default_factory=Stop)

    @property
    def language(self) -> Language:
        """The language to answer in."""
        return language_of(self.asked)


@dataclass(frozen=True)
class Answering:
    """Answers questions to one notebook from the passages that were found.

    `standout_cosine` is the embedder's number for "this hit stands out" (None: unknown for this model).
    """

    notebook: str
    store: Store
    generator: Generator
    prompts: Callable[[], PromptBuilder]  # called when first needed: it asks the backend for its context size
    residence: Residence
    answer_tokens: int
    standout_cosine: float | None
    settings_sha256: str

    def stream(self, question: Question, found: SearchResult) -> Iterator[Prompt | str | Usage | Answer]:
        """Yield the prompt before the model is asked, the pieces, their Usage, and the checked answer last.

        A stopped answer ends with what was written by then, checked, and finish "stopped" (text "" when nothing was).
        Raises InputTooLong and BackendError. Closing the iterator ends the generation.
        """
        begun = time.perf_counter()
        core = self.residence.core(question.mode, question.source_ids)
        if self._is_nothing_there(question, found, core):
            refusal = refused(language=question.language)
            yield self._answer(question, refusal, found, replace(NO_CORE, notice=core.notice), None, begun)
            return
        draft = yield from self._draft(question, found.hits, core, begun)
        self._learn(draft, core)
        yield self._answer(question, self._grounded(question, draft), found, core, draft, begun)

    def _is_nothing_there(self, question: Question, found: SearchResult, core: Core) -> bool:
        """Whether to refuse unasked. Never with a resident core: the search must not lose what is read in full."""
        if core:
            return False
        words = content_words(question.completed)
        counts = self.store.term_document_counts(self.notebook, words, question.source_ids)
        all_given = self.store.chunk_count(self.notebook, question.source_ids) <= len(found.hits)
        return nothing_there(counts, found.hits, self.standout_cosine, all_given=all_given)

    def _learn(self, draft: Draft, core: Core) -> None:
        """Note how fast the backend read, and that it has computed this core."""
        new_tokens = draft.new_tokens or 0
        if new_tokens >= PACE_TOKENS and draft.ttft_s > 0:
            self.store.note_prefill_pace(self.generator.name, new_tokens / draft.ttft_s)
        if draft.usage.finish == "complete":
            self.residence.note(core)

    def _grounded(self, question: Question, draft: Draft) -> Grounded:
        stopped = draft.usage.finish == "stopped"
        if stopped and not draft.text.strip():
            return NOTHING_WRITTEN
        check_not_cut(draft, self.generator)
        passages = draft.prompt.passages
        grounded = ground(draft.text, passages, question=question.completed, language=question.language)
        # Half a sentence may find no support: that says nothing about the sources.
        return NOTHING_WRITTEN if stopped and grounded.status == "not_in_sources" else grounded

    def _draft(
        self, question: Question, hits: Sequence[Hit], core: Core, begun: float
    ) -> Steps[Prompt | str | Usage, None, Draft]:
        """Ask with all hits; if the server finds that too long after all, once more with half of them."""
        try:
            return (yield from self._generated(question, hits, core, begun))
        except InputTooLong:
            if len(hits) < 2 or core.coverage == "read_in_full":
                raise
            return (yield from self._generated(question, hits[: len(hits) // 2], core, begun))

    def _generated(
        self, question: Question, hits: Sequence[Hit], core: Core, begun: float
    ) -> Steps[Prompt | str | Usage, None, Draft]:
        first = begun
        prompt = self.prompts().build(
            question.completed,
            hits,
            resident=core.passages,
            history=question.history,
            today=question.today,
            language=question.language,
        )
        built = time.perf_counter()
        yield prompt
        begun += time.perf_counter() - built  # who asks may have to wait in line here
        pieces: list[str] = []
        usage = Usage("broken_off")
        for event in self._events(prompt, core, question.stop):
            if isinstance(event, Usage):
                usage = event
                continue
            if not pieces:
                first = time.perf_counter()
            pieces.append(event)
            yield event
        yield usage
        return Draft(prompt, "".join(pieces), usage, first - begun, time.perf_counter() - first)

    def _pieces(self, prompt: Prompt, core: Core) -> Pieces:
        if core:
            return self.generator.generate_from(core.prefix, prompt.messages, self.answer_tokens)
        return self.generator.generate(prompt.messages, self.answer_tokens)

    def _events(self, prompt: Prompt, core: Core, stop: Stop) -> Iterator[str | Usage]:
        """Yield what the generator says until it ends or is stopped."""
        if not stop.stopped:
            with closing(self._pieces(prompt, core)) as events:
                stop.watch(events)
                try:
                    for event in events:
                        if stop.stopped and not isinstance(event, Usage):
                            break
                        yield event
                except BackendError:
                    if not stop.stopped:  # what a connection that we closed ourselves says is no failure
                        raise
        if stop.stopped:
            yield Usage("stopped")

    def _answer(
        self,
        question: Question,
        grounded: Grounded,
        found: SearchResult,
        core: Core,
        draft: Draft | None,
        begun: float,
    ) -> Answer:
        text = grounded.text
        if grounded.status == "not_in_sources":
            text += self._what_was_searched(question, found, core)
        return Answer(
            status=grounded.status,
            coverage=core.coverage,
            text=text,
            citations=tuple(self._placed(citation) for citation in grounded.citations),
            receipt=self._receipt(found, core, draft, found.embed_s + found.search_s + time.perf_counter() - begun),
            finish=draft.usage.finish if draft else "complete",
            notices=(
                *found.notices,
                *([core.notice] if core.notice else []),
                *(notices_of(draft, question.language) if draft else []),
            ),
            unsupported=grounded.unsupported,
        )

    def _placed(self, citation: Citation) -> Citation:
        """Return the citation with the heading and page that it stands under: a resident source is one passage."""
        if citation.via != "resident":
            return citation
        path, page = self.store.heading_at(self.notebook, citation.source_id, citation.start)
        return replace(citation, heading=" / ".join(path), page=page)

    def _what_was_searched(self, question: Question, found: SearchResult, core: Core) -> str:
        total = self.store.chunk_count(self.notebook, question.source_ids)
        if core.coverage == "read_in_full":
            count = len(core.sources)
            said = Notice(f"資料 {count} 件の全文を読みました。", f" Read in full: all {count} sources.")
        elif total:
            said = Notice(
                f"全{total}箇所のうち、近い{len(found.hits)}箇所を検索しました。",
                f" Searched: the nearest {len(found.hits)} of {total} passages.",
            )
        elif self.store.chunk_count(self.notebook):
            said = Notice(
                "質問に使う資料が選ばれていません。資料に印を付けてください。",
                " No source is chosen for questions: tick the ones to use.",
            )
        else:
            said = Notice("まだ読める資料がありません。", " There is no source yet.")
        return said.message(question.language)

    def _receipt(self, found: SearchResult, core: Core, draft: Draft | None, total_s: float) -> Receipt:
        receipt = Receipt(
            model=self.generator.name,
            mode=core.mode,
            core_tokens=core.token_count,
            prefix_sha256=prefix_sha256(core.prefix) if core else "",
            settings_sha256=self.settings_sha256,
            embed_s=found.embed_s,
            search_s=found.search_s,
            total_s=total_s,
            hits=_receipt_hits(found.hits, core, draft),
            core=core.sources,
        )
        if draft is None:
            return receipt
        return replace(
            receipt,
            prompt_tokens=draft.usage.prompt_tokens,
            cached_tokens=draft.usage.cached_tokens,
            new_tokens=draft.new_tokens,
            answer_tokens=draft.usage.answer_tokens,
            prompt_sha256=draft.prompt.sha256,
            ttft_s=draft.ttft_s,
            decode_s=draft.decode_s,
        )


def _receipt_hits(hits: Sequence[Hit], core: Core, draft: Draft | None) -> tuple[ReceiptHit, ...]:
    resident = {one.source_id for one in core.sources}
    given = {passage.chunk_id for passage in draft.prompt.passages} if draft else set()
    return tuple(
        ReceiptHit(
            hit.rank, hit.score, hit.source, str(hit.chunk_id), hit.chunk_id in given or hit.source_id in resident
        )
        for hit in hits
    )
