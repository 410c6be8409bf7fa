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

from fumikura.errors import BackendError, BackendReplyInvalid, InputTooLong
from fumikura.grounding import content_words, ground, looks_chinese, nothing_there, refused
from fumikura.prompting import Language, PromptBuilder, language_of
from fumikura.protocols import Generator, Pieces
from fumikura.records import (
    Answer,
    Finish,
    Grounded,
    Hit,
    Message,
    Notice,
    Prompt,
    Receipt,
    ReceiptHit,
    SearchResult,
    Usage,
)
from fumikura.store import Store

# A server that reports fewer tokens than this share of ours has cut the prompt. An estimate is an upper bound:
# Japanese text measured 0.55 to 0.95 tokens a character, estimated 1.3.
CUT_SHARE_EXACT, CUT_SHARE_ESTIMATED = 0.9, 0.4

FINISH_NOTICES: dict[Finish, Notice] = {
    "length": Notice("答えが長さの上限（llm.answer_tokens）で切れました。", "The answer was cut at llm.answer_tokens."),
    "broken_off": Notice("答えが途中で途切れました。もう一度質問してください。", "The answer broke off: ask again."),
    "stopped": Notice("答えを途中で止めました。", "The answer was stopped."),
}
IN_CHINESE = Notice(
    "モデルが中国語で答えました。もう一度質問するか、別のモデルを選んでください。",
    "The model answered in Chinese: ask again or choose another model.",
)
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
class _Draft:
    """What the model wrote, how it ended, and when its first piece came."""

    prompt: Prompt
    text: str
    usage: Usage
    ttft_s: float
    decode_s: float


@dataclass(frozen=True)
class Question:
    """A question as it was asked and as it was understood, with the turns before it and today's date.

    `source_ids` are the sources that may answer it (None: all).
    """

    asked: str
    completed: str
    history: Sequence[Message] = ()
    today: date | None = None
    source_ids: Collection[str] | None = None
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
    answer_tokens: int
    standout_cosine: float | None
    settings_sha256: str

    def stream(self, question: Question, found: SearchResult) -> Iterator[Prompt | str | Usage | Answer]:
        """Yield the prompt before the model is asked, the pieces, their Usage, and the checked answer last.

        A stopped answer ends with what was written by then, checked, and finish "stopped" (text "" when nothing was).
        Raises InputTooLong and BackendError. Closing the iterator ends the generation.
        """
        begun = time.perf_counter()
        if self._is_nothing_there(question, found):
            refusal = refused(language=question.language)
            yield self._answer(question, refusal, found, None, begun)
            return
        draft = yield from self._draft(question, found.hits)
        yield self._answer(question, self._grounded(question, draft), found, draft, begun)

    def _is_nothing_there(self, question: Question, found: SearchResult) -> bool:
        words = content_words(question.completed)
        counts = self.store.term_document_counts(self.notebook, words, question.source_ids)
        all_given = self.store.chunk_count(self.notebook, question.source_ids) <= len(found.hits)
        return nothing_there(counts, found.hits, self.standout_cosine, all_given=all_given)

    def _grounded(self, question: Question, draft: _Draft) -> Grounded:
        stopped = draft.usage.finish == "stopped"
        if stopped and not draft.text.strip():
            return NOTHING_WRITTEN
        _check_not_cut(draft, self.generator)
        passages = draft.prompt.passages
        grounded = ground(draft.text, passages, question=question.completed, language=question.language)
        # Half a sentence may find no support: that says nothing about the sources.
        return NOTHING_WRITTEN if stopped and grounded.status == "not_in_sources" else grounded

    def _draft(self, question: Question, hits: Sequence[Hit]) -> Steps[Prompt | str | Usage, None, _Draft]:
        """Ask with all hits; if the server finds that too long after all, once more with half of them."""
        try:
            return (yield from self._generated(question, hits))
        except InputTooLong:
            if len(hits) < 2:
                raise
            return (yield from self._generated(question, hits[: len(hits) // 2]))

    def _generated(self, question: Question, hits: Sequence[Hit]) -> Steps[Prompt | str | Usage, None, _Draft]:
        begun = first = time.perf_counter()  # what a person waits for begins with starting the model
        prompt = self.prompts().build(
            question.completed,
            hits,
            history=question.history,
            today=question.today,
            language=question.language,
        )
        built = time.perf_counter()
        yield prompt
        begun += time.perf_counter() - built  # who asks may have to wait in line here
        pieces: list[str] = []
        usage = Usage("broken_off")
        for event in self._events(prompt, question.stop):
            if isinstance(event, Usage):
                usage = event
                continue
            if not pieces:
                first = time.perf_counter()
            pieces.append(event)
            yield event
        yield usage
        return _Draft(prompt, "".join(pieces), usage, first - begun, time.perf_counter() - first)

    def _events(self, prompt: Prompt, stop: Stop) -> Iterator[str | Usage]:
        """Yield what the generator says until it ends or is stopped."""
        if not stop.stopped:
            with closing(self.generator.generate(prompt.messages, self.answer_tokens)) as events:
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
        self, question: Question, grounded: Grounded, found: SearchResult, draft: _Draft | None, begun: float
    ) -> Answer:
        text = grounded.text
        if grounded.status == "not_in_sources":
            text += self._what_was_searched(question, found)
        return Answer(
            status=grounded.status,
            coverage="searched",
            text=text,
            citations=grounded.citations,
            receipt=self._receipt(found, draft, found.embed_s + found.search_s + time.perf_counter() - begun),
            finish=draft.usage.finish if draft else "complete",
            notices=_notices(question, found, draft),
            unsupported=grounded.unsupported,
        )

    def _what_was_searched(self, question: Question, found: SearchResult) -> str:
        total = self.store.chunk_count(self.notebook, question.source_ids)
        if total:
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

    def _receipt(self, found: SearchResult, draft: _Draft | None, total_s: float) -> Receipt:
        given = {passage.chunk_id for passage in draft.prompt.passages} if draft else set()
        hits = tuple(
            ReceiptHit(hit.rank, hit.score, hit.source, str(hit.chunk_id), hit.chunk_id in given) for hit in found.hits
        )
        receipt = Receipt(
            model=self.generator.name,
            settings_sha256=self.settings_sha256,
            embed_s=found.embed_s,
            search_s=found.search_s,
            total_s=total_s,
            hits=hits,
        )
        if draft is None:
            return receipt
        return replace(
            receipt,
            prompt_tokens=draft.usage.prompt_tokens,
            cached_tokens=draft.usage.cached_tokens,
            answer_tokens=draft.usage.answer_tokens,
            prompt_sha256=draft.prompt.sha256,
            ttft_s=draft.ttft_s,
            decode_s=draft.decode_s,
        )


def _check_not_cut(draft: _Draft, generator: Generator) -> None:
    """Raise InputTooLong when the server read far less than was sent, BackendReplyInvalid when nothing came."""
    reported, expected = draft.usage.prompt_tokens, draft.prompt.token_count
    share = CUT_SHARE_EXACT if generator.exact_counts else CUT_SHARE_ESTIMATED
    if reported is not None and reported < share * expected:
        raise InputTooLong(
            f"資料の一部が切り捨てられたので答えません（約 {expected} トークンのうち {generator.name} が"
            f"読んだのは {reported}）。サーバーのコンテキストを広げるか、llm.context_tokens を減らしてください。",
            f"part of the material was cut, so there is no answer ({generator.name} read {reported} of about "
            f"{expected} tokens): enlarge the server's context or lower llm.context_tokens",
        )
    if not draft.text.strip():
        raise _nothing_returned(draft.usage)


def _nothing_returned(usage: Usage) -> BackendReplyInvalid:
    if usage.finish == "length":
        return BackendReplyInvalid(
            "モデルは考えている途中で長さの上限（llm.answer_tokens）に達し、答えを返しませんでした。上限を増やしてもう一度どうぞ。",
            "no answer was produced: the limit llm.answer_tokens was reached while thinking; raise it and ask again",
        )
    reason = Notice(f"（{usage.error.ja}）", f" ({usage.error.en})") if usage.error else Notice("", "")
    return BackendReplyInvalid(
        f"モデルが何も返しませんでした{reason.ja}。もう一度質問してください。",
        f"the model returned nothing{reason.en}: ask again",
    )


def _notices(question: Question, found: SearchResult, draft: _Draft | None) -> tuple[Notice, ...]:
    notices = list(found.notices)
    if draft and question.language == "ja" and looks_chinese(draft.text):
        notices.append(IN_CHINESE)
    if draft and (finish := FINISH_NOTICES.get(draft.usage.finish)):
        notices.append(finish)
    return tuple(notices)
