"""Inputs and outputs of questions, answers and conversations."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, Field

from fumikura.places import DEFAULT_NOTEBOOK
from fumikura.records import AnswerStatus, Coverage, Finish, Mode, Notice, Via
from fumikura.store import MODES, ConversationRow, TurnRow
from fumikura.web.errors import notice_body
from fumikura.web.language import Language
from fumikura.web.schemas_common import Error, Input

TITLE_CHARS = 200


def _encodable(text: str) -> str:
    """Replace lone surrogates, which JSON can hold but no file and no database."""
    return text.encode("utf-8", "replace").decode()


Text = Annotated[str, AfterValidator(_encodable)]
Title = Annotated[Text, Field(max_length=TITLE_CHARS)]


class AskInput(Input):
    """A question to one notebook."""

    question: Text
    mode: str = Field(
        "auto",
        description="How the sources are read; auto: as the notebook or the settings say",
        json_schema_extra={"enum": list(MODES)},
    )
    as_of: str | None = Field(None, description="The day that the question is asked on, as 2026-03-05")
    debug: bool = Field(False, description="Also return `contexts`: the passages as the model received them")


class SeedAskInput(AskInput):
    """A question; `notebook` is a name or an id."""

    notebook: str = Field(DEFAULT_NOTEBOOK, max_length=600)


class NotebookAskInput(AskInput):
    """A question, maybe within a conversation, maybe to some sources only (those that are ticked)."""

    conversation_id: str | None = None
    source_ids: list[str] | None = None


class HitOut(BaseModel):
    """A passage that was found: `text` equals the source's text from `start` to `end`."""

    rank: int
    score: float
    source_id: str
    source: str
    heading: str
    page: int | None
    start: int
    end: int
    text: str
    dense_score: float | None
    lexical_rank: int | None


class Citation(BaseModel):
    """The words that the text before a mark [n] rests on."""

    n: int
    source_id: str
    source: str
    heading: str
    page: int | None
    start: int
    end: int
    quote: str
    via: Via = "retrieved"


class ReceiptHit(BaseModel):
    """A hit as the receipt lists it; `used`: it reached the model."""

    rank: int
    score: float
    source: str
    chunk_id: str
    used: bool


class CoreSourceOut(BaseModel):
    """A source that was read in full."""

    source_id: str
    source: str
    sha256: str


class Receipt(BaseModel):
    """What an answer took: tokens and seconds."""

    model: str
    mode: Mode = "rag"
    prompt_tokens: int | None
    cached_tokens: int | None
    new_tokens: int | None = None
    answer_tokens: int | None
    core_tokens: int = 0
    prompt_sha256: str
    prefix_sha256: str = ""
    settings_sha256: str
    embed_s: float
    search_s: float
    ttft_s: float
    decode_s: float
    total_s: float
    hits: list[ReceiptHit]
    core: list[CoreSourceOut] = []


class AnswerOut(BaseModel):
    """A checked answer; every `[n]` in `text` outside of code is a citation."""

    status: AnswerStatus
    coverage: Coverage
    text: str
    citations: list[Citation]
    receipt: Receipt
    finish: Finish
    notices: list[str]
    unsupported: list[str]

    @classmethod
    def of(cls, kept: Mapping[str, Any], language: Language, **more: object) -> Self:
        """Return a kept answer (see turns.answer_kept) in the reader's language."""
        notices = [Notice(**notice).message(language) for notice in kept["notices"]]
        return cls.model_validate({**kept, **more, "notices": notices})


class AnswerDocument(AnswerOut):
    """The answer in one document; `sources` are the names of the cited sources."""

    answer: str
    sources: list[str]
    conversation_id: str | None
    turn_id: str | None
    contexts: list[str] | None = Field(None, exclude_if=lambda contexts: contexts is None)


class TurnOut(BaseModel):
    """A question with what became of it; `text` is what there is to show when `answer` is null."""

    turn_id: str
    question: str
    completed: str
    state: Literal["running", "complete", "stopped", "broken_off", "failed"]
    text: str
    answer: AnswerOut | None
    error: Error | None
    asked_at: str
    ended_at: str | None

    @classmethod
    def of(cls, turn: TurnRow, language: Language) -> Self:
        """Return a kept turn in the reader's language."""
        return cls(
            turn_id=turn.turn_id,
            question=turn.question,
            completed=turn.completed,
            state=turn.state,
            text=turn.text,
            answer=AnswerOut.of(turn.answer, language) if turn.answer else None,
            error=Error(**notice_body(turn.error, language)["error"]) if turn.error else None,
            asked_at=turn.asked_at,
            ended_at=turn.ended_at,
        )


class ConversationOut(BaseModel):
    """A conversation as it is listed."""

    conversation_id: str
    title: str
    turn_count: int
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, row: ConversationRow, **more: object) -> Self:
        """Return a kept conversation."""
        return cls.model_validate({**asdict(row), **more})


class ConversationsOut(BaseModel):
    """A notebook's conversations, newest first."""

    conversations: list[ConversationOut]


class ConversationWithTurns(ConversationOut):
    """A conversation with its turns, oldest first."""

    turns: list[TurnOut]


class NewConversation(Input):
    """A conversation's title; an untitled one is named after its first question."""

    title: Title = ""


class ConversationTitle(Input):
    """A new title."""

    title: Annotated[Title, Field(min_length=1)]


class SplitStep(BaseModel):
    """How the sources were cut; sizes in characters."""

    method: str
    size: int
    overlap: int
    chunk_count: int


class EmbedStep(BaseModel):
    """What turned the question into a vector."""

    model: str
    dimension: int | None
    embed_s: float


class FoundHit(HitOut):
    """A hit; `used`: it reached the model."""

    used: bool


class SearchStep(BaseModel):
    """What was found."""

    top_k: int
    search_s: float
    hits: list[FoundHit]


class PromptMessage(BaseModel):
    """A message exactly as it was sent to the model."""

    role: str
    content: str


class GenerateStep(BaseModel):
    """What the model was sent, and what it wrote before the check; no messages: it was not asked."""

    model: str
    temperature: float
    messages: list[PromptMessage]
    raw_text: str
    unsupported: list[str]
    receipt: Receipt | None


class Trace(BaseModel):
    """How an answer came about, in the four steps."""

    question: str
    completed: str
    split: SplitStep
    embed: EmbedStep
    search: SearchStep
    generate: GenerateStep
