"""From a question to a grounded answer: search, decide whether to ask the model, prompt, generate, ground.

Knows no settings and no servers; every part is handed to it.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Generator as Steps
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date

from fumikura.errors import BackendReplyInvalid, InputTooLong
from fumikura.grounding import content_words, ground, nothing_there, refused
from fumikura.prompting import Language, PromptBuilder, language_of
from fumikura.protocols import Generator
from fumikura.records import (
    Answer,
    Finish,
    Grounded,
    Hit,
    Message,
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

FINISH_NOTICES: dict[Finish, str] = {
    "length": "答えが長さの上限（llm.answer_tokens）で切れました。/ The answer was cut at llm.answer_tokens.",
    "broken_off": "答えが途中で途切れました。もう一度質問してください。/ The answer broke off: ask again.",
}


@dataclass(frozen=True)
class _Draft:
    """What the model wrote, how it ended, and when its first piece came."""

    prompt: Prompt
    text: str
    usage: Usage
    expected_tokens: int
    ttft_s: float
    decode_s: float


@dataclass(frozen=True)
class Question:
    """A question with the turns before it and today's date."""

    text: str
    history: Sequence[Message] = ()
    today: date | None = None

    @property
    def language(self) -> Language:
        """The language to answer in."""
        return language_of(self.text)


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

    def stream(self, question: Question, found: SearchResult) -> Iterator[str | Answer]:
        """Yield the pieces of the answer as they come, and the checked answer last.

        Raises InputTooLong and BackendError. Closing the iterator ends the generation.
        """
        begun = time.perf_counter()
        if self._is_nothing_there(question, found):
            refusal = refused(language=question.language)
            yield self._answer(question, refusal, found, None, begun)
            return
        draft = yield from self._draft(question, found.hits)
        _check_not_cut(draft, self.generator)
        passages = draft.prompt.passages
        grounded = ground(draft.text, passages, question=question.text, language=question.language)
        yield self._answer(question, grounded, found, draft, begun)

    def _is_nothing_there(self, question: Question, found: SearchResult) -> bool:
        counts = self.store.term_document_counts(self.notebook, content_words(question.text))
        all_given = self.store.chunk_count(self.notebook) <= len(found.hits)
        return nothing_there(counts, found.hits, self.standout_cosine, all_given=all_given)

    def _draft(self, question: Question, hits: Sequence[Hit]) -> Steps[str, None, _Draft]:
        """Ask with all hits; if the server finds that too long after all, once more with half of them."""
        try:
            return (yield from self._generated(question, hits))
        except InputTooLong:
            if len(hits) < 2:
                raise
            return (yield from self._generated(question, hits[: len(hits) // 2]))

    def _generated(self, question: Question, hits: Sequence[Hit]) -> Steps[str, None, _Draft]:
        begun = first = time.perf_counter()  # what a person waits for begins with starting the model
        prompt = self.prompts().build(
            question.text,
            hits,
            history=question.history,
            today=question.today,
            language=question.language,
        )
        expected = self.generator.count_tokens(prompt.messages)
        pieces: list[str] = []
        usage = Usage("broken_off")
        with closing(self.generator.generate(prompt.messages, self.answer_tokens)) as events:
            for event in events:
                if isinstance(event, Usage):
                    usage = event
                    continue
                if not pieces:
                    first = time.perf_counter()
                pieces.append(event)
                yield event
        return _Draft(prompt, "".join(pieces), usage, expected, first - begun, time.perf_counter() - first)

    def _answer(
        self, question: Question, grounded: Grounded, found: SearchResult, draft: _Draft | None, begun: float
    ) -> Answer:
        text = grounded.text
        if grounded.status == "not_in_sources":
            text += self._what_was_searched(found, question.language)
        return Answer(
            status=grounded.status,
            coverage="searched",
            text=text,
            citations=grounded.citations,
            receipt=self._receipt(found, draft, found.embed_s + found.search_s + time.perf_counter() - begun),
            finish=draft.usage.finish if draft else "complete",
            notices=_notices(found, draft),
            unsupported=grounded.unsupported,
        )

    def _what_was_searched(self, found: SearchResult, language: Language) -> str:
        total = self.store.chunk_count(self.notebook)
        if language == "ja":
            return (
                f"全{total}箇所のうち、近い{len(found.hits)}箇所を検索しました。"
                if total
                else "まだ読める資料がありません。"
            )
        return f" Searched: the nearest {len(found.hits)} of {total} passages." if total else " There is no source yet."

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
    reported = draft.usage.prompt_tokens
    share = CUT_SHARE_EXACT if generator.exact_counts else CUT_SHARE_ESTIMATED
    if reported is not None and reported < share * draft.expected_tokens:
        raise InputTooLong(
            f"資料の一部が切り捨てられたので答えません（約 {draft.expected_tokens} トークンのうち {generator.name} が"
            f"読んだのは {reported}）。サーバーのコンテキストを広げるか、llm.context_tokens を減らしてください。",
            f"part of the material was cut, so there is no answer ({generator.name} read {reported} of about "
            f"{draft.expected_tokens} tokens): enlarge the server's context or lower llm.context_tokens",
        )
    if not draft.text.strip():
        raise _nothing_returned(draft.usage)


def _nothing_returned(usage: Usage) -> BackendReplyInvalid:
    if usage.finish == "length":
        return BackendReplyInvalid(
            "モデルは考えている途中で長さの上限（llm.answer_tokens）に達し、答えを返しませんでした。上限を増やしてもう一度どうぞ。",
            "no answer was produced: the limit llm.answer_tokens was reached while thinking; raise it and ask again",
        )
    reason = f"（{usage.error}）" if usage.error else ""
    return BackendReplyInvalid(
        f"モデルが何も返しませんでした{reason}。もう一度質問してください。",
        f"the model returned nothing{f' ({usage.error})' if usage.error else ''}: ask again",
    )


def _notices(found: SearchResult, draft: _Draft | None) -> tuple[str, ...]:
    finish = FINISH_NOTICES.get(draft.usage.finish) if draft else None
    return (*found.notices, *((finish,) if finish else ()))
