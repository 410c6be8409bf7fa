"""Lays out a prompt within the token budget; never overfills and never cuts in silence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from fumikura.errors import InputTooLong
from fumikura.prompting.excerpt import TURN_OVERHEAD, estimate, estimate_messages, shorten
from fumikura.prompting.language import language_of
from fumikura.prompting.layout import (
    core_messages,
    history_messages,
    messages_sha256,
    question_message,
    render_passage,
    system_message,
    to_passage,
)
from fumikura.prompting.wording import Language, Wording, load_wording
from fumikura.records import Hit, Message, Passage, Prompt

CountTokens = Callable[[Sequence[Message]], int]
PassageOrder = Literal["source", "rank"]

# Tokens for one estimated token (a Japanese character): 0.55 to 0.95 by Qwen2.5's tokenizer. The first draft uses a
# value below that, so that it leaves out only what surely has no room.
LOWEST_SCALE = 0.5
MARGIN = 1.02  # on a measured scale, for what is left out may have been the cheaper part
QUOTE_TOKENS = 60.0  # of a hit that is quoted once more, estimated: one or two sentences
LEAST_STEP = 1.1  # each further draft is at least this much smaller, so that drafting ends


@dataclass(frozen=True)
class _Request:
    """One question with everything that may be given; `ranked` is best first, `history` oldest first."""

    question: str
    prefix: tuple[Message, ...]
    resident: tuple[Passage, ...]
    ranked: tuple[Passage, ...]
    history: tuple[Message, ...]
    today: date | None
    wording: Wording
    quotes: tuple[Passage, ...] = ()


@dataclass(frozen=True)
class _Draft:
    messages: tuple[Message, ...]
    passages: tuple[Passage, ...]
    token_count: int = 0  # known when it has been counted


def core_prefix(rules: str, resident: Sequence[Passage]) -> tuple[Message, ...]:
    """Return what every prompt with these rules and this resident core begins with, byte for byte, whatever is asked.

    The fixed rules are in the core's own language: one prefix serves questions in both.
    """
    wording = load_wording(language_of("\n".join(passage.text for passage in resident)))
    return (system_message(rules, wording), *core_messages(numbered(resident), wording))


class PromptBuilder:
    """Turns a question, its hits and the resident core into messages and numbered passages.

    Layout: rules and resident core (byte-stable messages, no clock), history, then one user message with the passages,
    today's date and the question last. `rules` is the owner's own system prompt, put before the fixed rules.
    """

    def __init__(
        self,
        rules: str,
        *,
        context_tokens: int,
        answer_tokens: int,
        count_tokens: CountTokens,
        passage_order: PassageOrder = "source",
        quote_count: int = 0,
    ) -> None:
        """`quote_count` hits that lie in the resident core are quoted once more, shortened, near the question."""
        self._rules = rules
        self._context_tokens = context_tokens
        self._answer_tokens = answer_tokens
        self._count_tokens = count_tokens
        self._passage_order = passage_order
        self._quote_count = quote_count
        self._wordings: dict[Language, Wording] = {"ja": load_wording("ja"), "en": load_wording("en")}

    def build(
        self,
        question: str,
        hits: Sequence[Hit],
        *,
        resident: Sequence[Passage] = (),
        history: Sequence[Message] = (),
        today: date | None = None,
        language: Language = "ja",
    ) -> Prompt:
        """Return a prompt of at most `context_tokens - answer_tokens` tokens by `count_tokens`.

        The resident core comes first, numbered in the order given. Where room is short the oldest turns go first, then
        the lowest-ranked hits; a single hit is shortened at a sentence end. Raises InputTooLong when rules, resident
        core, question and one passage do not fit.
        """
        wording = self._wordings[language]
        core = numbered(resident)
        best_first = sorted(hits, key=lambda hit: hit.rank)
        ranked = [to_passage(hit) for hit in best_first if not _cover(hit, core)]
        quotes = _quotes(best_first, core, question)[: self._quote_count]
        prefix = core_prefix(self._rules, resident) if resident else (system_message(self._rules, wording),)
        turns = history_messages(history)
        draft = self._fitting(_Request(question, prefix, core, tuple(ranked), turns, today, wording, tuple(quotes)))
        passages = (*core, *draft.passages)
        return Prompt(draft.messages, passages, messages_sha256(draft.messages), draft.token_count)

    def _fitting(self, request: _Request) -> _Draft:
        """Estimate, then confirm: one call of `count_tokens` when all fits, two or three when not."""
        room = self._context_tokens - self._answer_tokens
        scale = LOWEST_SCALE
        tokens, previous = 0, None
        while True:
            draft = self._draft(request, room / scale)
            if draft == previous:
                raise _too_long(tokens, room, self._answer_tokens)
            tokens = self._count_tokens(draft.messages)
            if tokens <= room:
                return replace(draft, token_count=tokens)
            scale = max(scale * LEAST_STEP, MARGIN * tokens / estimate_messages(draft.messages))
            previous = draft

    def _draft(self, request: _Request, size: float) -> _Draft:
        """Lay out as much as `size` estimated tokens hold."""
        bare = self._assemble(request, (), ())
        left = size - estimate_messages(bare.messages)
        passages, left = _fitting_passages(request, left)
        has_all = len(passages) == len(request.ranked)
        history = _newest_turns(request.history, left) if has_all else ()
        return self._assemble(request, passages, history)

    def _assemble(self, request: _Request, passages: Sequence[Passage], history: tuple[Message, ...]) -> _Draft:
        ordered = sorted(passages, key=_place) if self._passage_order == "source" else passages
        passages = numbered(ordered, len(request.resident) + 1)
        last = question_message(
            request.question,
            passages,
            request.today,
            request.wording,
            has_resident=bool(request.resident),
            quotes=request.quotes,
        )
        return _Draft((*request.prefix, *history, last), passages)


def _fitting_passages(request: _Request, left: float) -> tuple[list[Passage], float]:
    """Return the best-ranked passages that fit, at least a shortened first one, and the room that is left."""
    kept: list[Passage] = []
    for passage in request.ranked:
        cost = estimate(render_passage(passage, request.wording))
        if cost > left:
            break
        kept.append(passage)
        left -= cost
    if request.ranked and not kept:
        best = request.ranked[0]
        header = estimate(render_passage(replace(best, text=""), request.wording))
        return [shorten(best, request.question, max(0.0, left - header))], 0.0
    return kept, left


def _newest_turns(history: tuple[Message, ...], left: float) -> tuple[Message, ...]:
    """Return the newest turns that fit, beginning with a question: chat templates want the roles to alternate."""
    start = len(history)
    while start > 0 and (left := left - TURN_OVERHEAD - estimate(history[start - 1].content)) >= 0:
        start -= 1
    while start < len(history) and history[start].role != "user":
        start += 1
    return history[start:]


def numbered(passages: Sequence[Passage], first: int = 1) -> tuple[Passage, ...]:
    """Return the passages with their numbers, counted from `first`."""
    return tuple(replace(passage, n=n) for n, passage in enumerate(passages, first))


def _place(passage: Passage) -> tuple[str, str, int]:
    return passage.source, passage.source_id, passage.start


def _cover(hit: Hit, core: Sequence[Passage]) -> Passage | None:
    """Return the passage of the resident core that already holds this hit."""
    for passage in core:
        if passage.source_id == hit.source_id and passage.start <= hit.start and hit.end <= passage.end:
            return passage
    return None


def _quotes(hits: Sequence[Hit], core: Sequence[Passage], question: str) -> list[Passage]:
    """Return the hits that lie in the core under its numbers, each cut down to what is nearest to the question."""
    covered = ((hit, _cover(hit, core)) for hit in hits)
    return [shorten(replace(to_passage(hit), n=over.n), question, QUOTE_TOKENS) for hit, over in covered if over]


def _too_long(tokens: int, room: int, answer_tokens: int) -> InputTooLong:
    return InputTooLong(
        ja=f"指示・常駐の資料・質問だけで {tokens} トークンあり、使える {room} トークンに入りません。"
        f"常駐の資料を減らすか、質問を短くするか、llm.context_tokens を増やしてください"
        f"(回答用に {answer_tokens} トークンを空けています)。",
        en=f"rules, resident core and question take {tokens} tokens but only {room} fit: unpin sources, shorten the "
        f"question, or raise llm.context_tokens ({answer_tokens} tokens are kept for the answer)",
    )
