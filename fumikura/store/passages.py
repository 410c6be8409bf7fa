"""What retrieval asks of the store: the keyword index and the texts around a chunk (protocols.PassageReader)."""

import json
from collections.abc import Collection, Iterable, Sequence

from fumikura.errors import NotFound
from fumikura.records import ScoredChunk, StoredChunk
from fumikura.store.catalogue import shown_rows
from fumikura.store.chunks import stored_chunks
from fumikura.store.notebooks import Tables, find_notebook
from fumikura.store.texts import clean


class Passages(Tables):
    """Chunks and sections as passages. Ids of another notebook are as good as unknown."""

    def lexical_search(
        self, notebook: str, query: str, top_k: int, source_rows: Collection[int] | None = None
    ) -> list[ScoredChunk]:
        """Return chunks that share words with the question by BM25, best first. No question can break its syntax."""
        with self._database.read() as connection:
            notebook_id = find_notebook(connection, notebook)
            if notebook_id is None:
                return []
            if source_rows is None:
                source_rows = shown_rows(connection, notebook_id)
            return self._keywords.search(connection, notebook_id, clean(query), top_k, source_rows)

    def term_document_counts(
        self, notebook: str, terms: Iterable[str], source_ids: Collection[str] | None = None
    ) -> dict[str, int]:
        """Return in how many chunks each word or bigram of the analyzer occurs; 0 for unknown ones.

        Of these sources only, if given; then counted up to 1,000.
        """
        cleaned = [clean(term) for term in terms]
        with self._database.read() as connection:
            notebook_id = find_notebook(connection, notebook)
            if notebook_id is None:
                return dict.fromkeys(cleaned, 0)
            rows = shown_rows(connection, notebook_id, source_ids)
            if rows is None:
                return self._keywords.term_counts(connection, notebook_id, cleaned)
            return self._keywords.term_counts_within(connection, notebook_id, cleaned, rows)

    def read_chunks(self, notebook: str, chunk_ids: Sequence[int]) -> list[StoredChunk]:
        """Return the chunks that still exist in this notebook, in the order asked for."""
        with self._database.read() as connection:
            found = stored_chunks(
                connection,
                "chunks.notebook_id = ? AND chunks.id IN (SELECT value FROM json_each(?))",
                [find_notebook(connection, notebook), json.dumps([int(chunk_id) for chunk_id in chunk_ids])],
            )
        by_id = {chunk.chunk_id: chunk for chunk in found}
        return [by_id[chunk_id] for chunk_id in chunk_ids if chunk_id in by_id]

    def section_chunks(self, notebook: str, section_id: int) -> list[StoredChunk]:
        """Return all chunks of one section in reading order."""
        with self._database.read() as connection:
            return stored_chunks(
                connection,
                # "+" keeps SQLite from walking the whole notebook (14 ms instead of 1 ms at 100,000 chunks)
                "+chunks.notebook_id = ? AND chunks.section_id = ?",
                [find_notebook(connection, notebook), section_id],
            )

    def section_text(self, notebook: str, section_id: int, start: int, end: int) -> str:
        """Return the source's `text[start:end]`, which must lie inside the section. Raises NotFound."""
        with self._database.read() as connection:
            row = connection.execute(
                'SELECT start, "end", text FROM sections WHERE id = ? AND notebook_id = ?',
                (section_id, find_notebook(connection, notebook)),
            ).fetchone()
        if row is None or not row["start"] <= start <= end <= row["end"]:
            raise NotFound(
                ja=f"節 {section_id} の {start}〜{end} 文字目はありません。"
                "資料が更新されています。もう一度検索してください。",
                en=f"There are no characters {start} to {end} in section {section_id}:"
                " the source has changed, search again",
            )
        return str(row["text"][start - row["start"] : end - row["start"]])

    def source_rows(self, notebook: str, source_ids: Collection[str]) -> list[int]:
        """Return the row ids of the sources that exist in this notebook and are not hidden."""
        with self._database.read() as connection:
            return shown_rows(connection, find_notebook(connection, notebook), source_ids) or []
