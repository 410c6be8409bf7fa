"""From a question to the passages that a prompt may hold."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from fumikura.errors import BackendError, QuestionError
from fumikura.japanese import boundary
from fumikura.protocols import Embedder, PassageReader, Reranker, VectorIndex
from fumikura.records import Hit, Notice, ScoredChunk, SearchResult, StoredChunk, Vector
from fumikura.retrieval.candidates import Candidate, collapse_copies
from fumikura.retrieval.fusion import reciprocal_rank_fusion
from fumikura.retrieval.passages import PassageLayout, WidePassage

MAX_QUERY_CHARS = 2_000  # what is searched for, not what is asked: the rarest words of so long a text decide anyhow
_LEAST_READ, _READ_PER_PASSAGE = 20, 4  # reading all of 100 candidates took half of a search
_DEPTHS = (1, 4, 16)  # times candidate_count: deeper only when copies leave fewer than top_k passages


@dataclass(slots=True)
class _Search:
    """One search under way."""

    notebook: str
    query: str
    top_k: int
    source_rows: list[int] | None
    vector: Vector | None = None
    embed_s: float = 0.0
    notices: list[Notice] = field(default_factory=list)


class Retriever:
    """Dense and keyword search of one notebook at a time, fused by reciprocal rank, copies counted once, hits widened.

    `context_tokens` bounds all passages of one question together as `count_tokens` counts; `reranker` orders the
    candidates anew when there is one.
    """

    def __init__(
        self,
        reader: PassageReader,
        index: VectorIndex,
        embedder: Embedder,
        *,
        count_tokens: Callable[[str], int],
        context_tokens: int = 900,
        candidate_count: int = 50,
        dense_weight: float = 1.0,
        lexical_weight: float = 1.0,
        reranker: Reranker | None = None,
    ) -> None:
        self._reader = reader
        self._index = index
        self._embedder = embedder
        self._count_tokens = count_tokens
        self._context_tokens = context_tokens
        self._candidate_count = candidate_count
        self._weights = (dense_weight, lexical_weight)
        self._reranker = reranker

    def search(
        self,
        notebook: str,
        query: str,
        top_k: int,
        source_ids: Collection[str] | None = None,
        *,
        dense: bool = True,
    ) -> SearchResult:
        """Return up to `top_k` passages, best first; `source_ids` limits the search, `dense=False` uses keywords only.

        When the embedder or the reranker fails, the search goes on without it and says so in `notices`.
        Raises QuestionError when the query is blank.
        """
        started = time.perf_counter()
        search = _Search(notebook, query.strip(), top_k, self._rows(notebook, source_ids))
        if not search.query:
            raise QuestionError(
                ja="質問が空です。質問を入力してください。", en="The question is blank: please type one."
            )
        if search.source_rows == []:
            return SearchResult((), 0.0, time.perf_counter() - started)
        self._cut(search)
        if dense:
            self._embed(search)
        layout = PassageLayout(self._reader, notebook, self._count_tokens, self._context_tokens)
        passages = layout.lay_out(self._rerank(search, self._candidates(search)), top_k)
        hits = tuple(_hit(rank, passage, layout.text(passage)) for rank, passage in enumerate(passages, start=1))
        search_s = time.perf_counter() - started - search.embed_s
        return SearchResult(hits, search.embed_s, search_s, tuple(search.notices))

    def _rows(self, notebook: str, source_ids: Collection[str] | None) -> list[int] | None:
        return None if source_ids is None else self._reader.source_rows(notebook, source_ids)

    def _cut(self, search: _Search) -> None:
        query = search.query[: boundary(search.query, MAX_QUERY_CHARS)]
        while len(query) > 1 and (count := self._embedder.count_tokens(query)) > self._embedder.max_tokens:
            shorter = min(len(query) - 1, len(query) * self._embedder.max_tokens // count)
            query = query[: boundary(query, shorter)] or query[:1]
        if query != search.query:
            search.query = query
            notice = Notice(
                f"質問が長いため、先頭の {len(query)} 文字で検索しました。",
                f"The question is long: only its first {len(query)} characters were searched for.",
            )
            search.notices.append(notice)

    def _embed(self, search: _Search) -> None:
        started = time.perf_counter()
        try:
            search.vector = self._embedder.embed_query(search.query)
        except BackendError as error:
            search.notices.append(_keywords_only(error))
        search.embed_s = time.perf_counter() - started

    def _candidates(self, search: _Search) -> list[Candidate]:
        """Return candidates in fused order, copies once; looks deeper while copies take the places."""
        candidates: list[Candidate] = []
        for depth in _DEPTHS:
            count = max(self._candidate_count, search.top_k) * depth
            dense, lexical = self._dense(search, count), self._lexical(search, count)
            read_count = self._read_count(search.top_k) * depth
            candidates = collapse_copies(self._fuse(search.notebook, dense, lexical, read_count))
            if len(candidates) >= search.top_k or max(len(dense), len(lexical)) < count:
                break
        return candidates

    def _read_count(self, top_k: int) -> int:
        """Return how many fused chunks are read: what can become passages, or what the reranker may judge."""
        return max(self._candidate_count, top_k) if self._reranker else max(_LEAST_READ, _READ_PER_PASSAGE * top_k)

    def _dense(self, search: _Search, count: int) -> list[ScoredChunk]:
        if search.vector is None:
            return []
        try:
            found = self._index.search(search.notebook, search.vector, count, search.source_rows)
        except BackendError as error:
            search.vector = None
            search.notices.append(_keywords_only(error))
            return []
        return [scored for scored in found if scored.score > 0]

    def _lexical(self, search: _Search, count: int) -> list[ScoredChunk]:
        found = self._reader.lexical_search(search.notebook, search.query, count, search.source_rows)
        return [scored for scored in found if scored.score > 0]

    def _fuse(
        self, notebook: str, dense: Sequence[ScoredChunk], lexical: Sequence[ScoredChunk], read_count: int
    ) -> list[Candidate]:
        fused = reciprocal_rank_fusion((dense, lexical), self._weights)[:read_count]
        scores = {scored.chunk_id: scored.score for scored in fused}
        cosines = {scored.chunk_id: scored.score for scored in dense}
        ranks = {scored.chunk_id: rank for rank, scored in enumerate(lexical, start=1)}
        chunks = self._reader.read_chunks(notebook, list(scores))
        return [
            Candidate(chunk, scores[chunk.chunk_id], cosines.get(chunk.chunk_id), ranks.get(chunk.chunk_id))
            for chunk in chunks
        ]

    def _rerank(self, search: _Search, candidates: list[Candidate]) -> list[Candidate]:
        """Return the first candidates in the reranker's order with its scores; the fused order without one."""
        if self._reranker is None or not candidates:
            return candidates
        judged = candidates[: max(self._candidate_count, search.top_k)]
        try:
            scores = self._reranker.rerank(search.query, [_full_text(candidate.chunk) for candidate in judged])
        except BackendError as error:
            notice = Notice(
                f"リランカーが使えないため、通常の順位で表示しています: {error.ja}",
                f"The reranker failed, so the usual order is shown: {error.en}",
            )
            search.notices.append(notice)
            return candidates
        scored = [replace(candidate, score=score) for candidate, score in zip(judged, scores, strict=True)]
        return sorted(scored, key=lambda candidate: -candidate.score)


def _keywords_only(error: BackendError) -> Notice:
    return Notice(
        f"埋め込みが使えないため、キーワードだけで検索しました: {error.ja}",
        f"Embedding failed, so only keywords were searched: {error.en}",
    )


def _full_text(chunk: StoredChunk) -> str:
    return "\n".join(part for part in (" / ".join(chunk.heading_path), chunk.lead, chunk.text) if part)


def _hit(rank: int, passage: WidePassage, text: str) -> Hit:
    best, chunk = passage.best, passage.best.chunk
    return Hit(
        rank=rank,
        score=best.score,
        chunk_id=chunk.chunk_id,
        source_id=chunk.source_id,
        source=chunk.source,
        heading_path=chunk.heading_path,
        page=chunk.page,
        start=passage.start,
        end=passage.end,
        text=text,
        lead=passage.section[passage.first].lead,
        title=chunk.title,
        date=chunk.date,
        dense_score=best.dense_score,
        lexical_rank=best.lexical_rank,
        also_in=best.also_in,
    )
