"""Frozen records, in the order in which data flows: file, source, section, chunk, hit, prompt, answer.

Every `start`/`end` pair counts characters (Unicode code points) in the source's extracted text,
half open as in `text[start:end]`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]  # rows of length 1, shape (count, dimension)
Vector = NDArray[np.float32]  # one vector of length 1, shape (dimension,)
Ids = NDArray[np.int64]  # row ids, shape (count,)

BlockKind = Literal["heading", "paragraph", "list", "table", "code"]
SourceStatus = Literal["ready", "keyword_ready", "no_text"]
AddStatus = Literal["added", "updated", "unchanged", "keyword_ready", "no_text", "failed"]
Via = Literal["resident", "retrieved"]
AnswerStatus = Literal["answered", "partly", "not_in_sources"]
Coverage = Literal["read_in_full", "searched"]
Finish = Literal["complete", "length", "broken_off", "stopped"]
Mode = Literal["auto", "rag", "resident", "hybrid"]  # "auto" chooses one of the others


@dataclass(frozen=True, slots=True)
class Notice:
    """One line for a person, in both languages; as a string both, for logs and scripts."""

    ja: str
    en: str

    def __str__(self) -> str:
        return f"{self.ja} / {self.en}"

    def message(self, language: str) -> str:
        """Return the line in `language` ("ja" or "en")."""
        return self.ja if language == "ja" else self.en


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The bytes of one file before they are read. `origin` identifies it within a notebook (NFC path)."""

    origin: str
    name: str
    content: bytes
    modified: str | None = None  # ISO date of the file's last change


@dataclass(frozen=True, slots=True)
class Block:
    """A run of text that its author wrote as one thing; the splitter prefers to keep it whole.

    `header_end` ends the rows of a table that every piece must repeat (0: none). They begin at `start`, or, in a
    table continued from an earlier section (`header_end <= start`), at `header_start`.
    """

    kind: BlockKind
    start: int
    end: int
    header_end: int = 0
    header_start: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """The text under one heading. Its `text` equals the source's `text[start:end]`."""

    heading_path: tuple[str, ...]
    start: int
    end: int
    text: str
    page: int | None = None
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """One registered document as its loader read it."""

    origin: str
    name: str
    kind: str
    text: str
    sections: tuple[Section, ...]
    sha256: str
    size_bytes: int
    title: str = ""
    date: str | None = None  # ISO, as text: a date in front matter must survive JSON
    encoding: str | None = None
    encoding_certain: bool = True
    metadata: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of one section. `text` equals the source's `text[start:end]`.

    `lead` is what must be read before it (a table's header, the parents of a list entry): embedded and
    shown to the model, never quoted.
    """

    section: int  # position of the section in Source.sections
    start: int
    end: int
    text: str
    heading_path: tuple[str, ...] = ()
    lead: str = ""

    @property
    def embed_text(self) -> str:
        """Heading path, lead and text: what the embedder and the keyword index read."""
        heading = " / ".join(self.heading_path)
        return "\n".join(part for part in (heading, self.lead, self.text) if part)


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """A source as the store lists it."""

    source_id: str
    name: str
    origin: str
    kind: str
    title: str
    date: str | None
    size_bytes: int
    status: SourceStatus
    chunk_count: int
    vector_count: int
    encoding: str | None
    encoding_certain: bool
    sha256: str
    added_at: str
    notices: tuple[Notice, ...] = ()
    updated_at: str = ""
    chunk_recipe: str = ""
    pinned: bool = False
    included: bool = True
    file_name: str = ""  # what the file itself is called: its suffix chooses the loader
    renamed: bool = False  # a person gave `name`; it stays when the file is read again


@dataclass(frozen=True, slots=True)
class AddReport:
    """What became of one file that was added; `error` says what a person should know (None: all is well)."""

    source: str
    status: AddStatus
    source_id: str = ""
    chunk_count: int = 0
    seconds: float = 0.0
    error: Notice | None = None


@dataclass(frozen=True, slots=True)
class VectorRows:
    """Stored vectors: chunk ids, the row ids of their sources, and the vectors, in one order."""

    ids: Ids
    sources: Ids
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the store returns it, with what a hit must show. `text` equals the source's `text[start:end]`."""

    chunk_id: int
    source_row: int  # row id, for filters inside an index
    source_id: str  # public id
    source: str  # display name
    section_id: int
    heading_path: tuple[str, ...]
    page: int | None
    start: int
    end: int
    text: str
    lead: str = ""
    title: str = ""
    date: str | None = None


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """One entry of a ranked list: higher scores are nearer."""

    chunk_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found for a question, widened to its neighbours. `text` equals the source's `text[start:end]`."""

    rank: int
    score: float
    chunk_id: int
    source_id: str
    source: str
    heading_path: tuple[str, ...]
    page: int | None
    start: int
    end: int
    text: str
    lead: str = ""
    title: str = ""
    date: str | None = None
    dense_score: float | None = None  # cosine, None when only the keyword index found it
    lexical_rank: int | None = None
    also_in: tuple[str, ...] = ()  # names of other sources that hold the same passage


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits with the seconds each step took; `notices` says what was degraded (say: keywords only).

    `completed` is the question as it was understood: a follow-up with what the earlier questions say.
    """

    hits: tuple[Hit, ...]
    embed_s: float
    search_s: float
    notices: tuple[Notice, ...] = ()
    completed: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A text given to the model under the number `n`. `text` equals the source's `text[start:end]`."""

    n: int
    source_id: str
    source: str
    heading_path: tuple[str, ...]
    page: int | None
    start: int
    end: int
    text: str
    lead: str = ""
    title: str = ""
    date: str | None = None
    via: Via = "retrieved"
    chunk_id: int | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """Messages ready to send, and the passages that they carry; `token_count` as the backend counts or estimates."""

    messages: tuple[Message, ...]
    passages: tuple[Passage, ...]
    sha256: str
    token_count: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """What the backend reported when a generation ended. Token counts are None where it reports none."""

    finish: Finish
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    answer_tokens: int | None = None
    error: Notice | None = None  # why a generation broke off


@dataclass(frozen=True, slots=True)
class Citation:
    """The passage that a sentence rests on. `quote` equals the source's `text[start:end]`."""

    n: int
    source_id: str
    source: str
    heading: str
    page: int | None
    start: int
    end: int
    quote: str
    via: Via = "retrieved"


@dataclass(frozen=True, slots=True)
class ReceiptHit:
    """A hit as the receipt lists it; `used` says that it reached the prompt."""

    rank: int
    score: float
    source: str
    chunk_id: str
    used: bool


@dataclass(frozen=True, slots=True)
class CoreSource:
    """A source as it stood in the resident core of an answer."""

    source_id: str
    source: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """How an answer came about: sizes in tokens, times in seconds.

    `prefix_sha256` tells the part of the prompt that ends with the resident core ("": there was none), `core` what was
    in it. Of `prompt_tokens` the backend took `cached_tokens` from its cache and read `new_tokens`.
    """

    model: str
    mode: Mode = "rag"
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    new_tokens: int | None = None
    answer_tokens: int | None = None
    core_tokens: int = 0
    prompt_sha256: str = ""
    prefix_sha256: str = ""
    settings_sha256: str = ""
    embed_s: float = 0.0
    search_s: float = 0.0
    ttft_s: float = 0.0
    decode_s: float = 0.0
    total_s: float = 0.0
    hits: tuple[ReceiptHit, ...] = ()
    core: tuple[CoreSource, ...] = ()


@dataclass(frozen=True, slots=True)
class Grounded:
    """An answer's text after grounding, with its citations, before the receipt is added."""

    status: AnswerStatus
    text: str
    citations: tuple[Citation, ...]
    unsupported: tuple[str, ...] = ()  # sentences left out: unsupported, or no answer to the question


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer as scripts and the page receive it."""

    status: AnswerStatus
    coverage: Coverage
    text: str
    citations: tuple[Citation, ...]
    receipt: Receipt
    finish: Finish = "complete"
    notices: tuple[Notice, ...] = ()
    unsupported: tuple[str, ...] = ()
