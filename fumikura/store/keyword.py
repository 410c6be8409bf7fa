"""The keyword index: character bigrams and normalised words of each chunk in FTS5, ranked by BM25.

Every token starts with its notebook and column ("17b会議", "17w会議"): FTS5 reads a term's whole list to weigh it,
so a filter, or a notebook token beside the others, would still pay for every other notebook.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import Literal, Protocol

from fumikura.japanese import NORMALIZER_VERSION
from fumikura.records import ScoredChunk
from fumikura.store.meta import get_meta, put_meta

RECIPE_KEY = "keyword_recipe"
Column = Literal["b", "w"]
TokenProgress = Callable[[int, int], None]
"""Called with the texts whose words are found, and the texts in all."""

# A term that occurs in over a fifth of the chunks tells little and costs most: left out, JSQuAD's recall@5 stays at
# 0.951 of 0.952. In a small notebook nothing costs much and every word may be the one that tells.
COMMON_SHARE = 0.2
FEW_CHUNKS = 100
# Terms are taken rarest first until their lists together hold this many entries: what a search may cost.
# (JSQuAD's recall and MRR are the same down to 400.)
POSTING_BUDGET = 2000
MIN_TERM_COUNT = 3
MAX_TERM_COUNT = 64
LISTED_CHUNK_COUNT = 5000
# Whether a word is known at all is what matters; in 100,000 chunks, eight words counted to the end took 156 ms, not 11.
COUNTED_CHUNK_COUNT = 1000
PROGRESS_STEP = 500  # texts, about 0.2 s
# A question is read up to here; its rarest terms decide anyhow.
MAX_QUERY_CHARS = 2000
# JSQuAD, MRR: 0.932 with words at twice the weight, 0.928 at the same, 0.925 at half.
BIGRAM_WEIGHT, WORD_WEIGHT = 1.0, 2.0


class TermAnalyzer(Protocol):
    """What the keyword index asks of a tokenizer; `fumikura.japanese.Analyzer` is one. Must be thread safe."""

    dictionary_version: str

    def bigrams(self, text: str) -> list[str]:
        """Return the character bigrams of the normalised text."""
        ...

    def words(self, text: str) -> list[str]:
        """Return the normalised words."""
        ...


def untold(done: int, total: int) -> None:
    """Report progress to nobody."""


class KeywordIndex:
    """Writes and searches the tables `keyword` and `tokens` on a connection that the caller gives."""

    def __init__(self, analyzer: TermAnalyzer) -> None:
        self._analyzer = analyzer

    @property
    def recipe(self) -> str:
        """What the tokens depend on: versions of normaliser and dictionary."""
        return f"normalizer={NORMALIZER_VERSION} dictionary={self._analyzer.dictionary_version}"

    def stamped(self, connection: sqlite3.Connection) -> str | None:
        """Return the recipe of the stored tokens, None for a new store."""
        return get_meta(connection, RECIPE_KEY)

    def stamp(self, connection: sqlite3.Connection) -> None:
        """Note that the stored tokens follow the present recipe."""
        put_meta(connection, RECIPE_KEY, self.recipe)

    def tokenize(
        self, notebook_id: int, texts: Sequence[str], progress: TokenProgress = untold
    ) -> list[tuple[str, str]]:
        """Return for each text its tokens of the columns `bigrams` and `words`, parted by spaces."""
        columns = []
        for done, text in enumerate(texts):
            if done % PROGRESS_STEP == 0:
                progress(done, len(texts))
            bigrams, words = self._analyzer.bigrams(text), self._analyzer.words(text)
            columns.append((" ".join(_tokens(notebook_id, "b", bigrams)), " ".join(_tokens(notebook_id, "w", words))))
        progress(len(texts), len(texts))
        return columns

    def add(self, connection: sqlite3.Connection, chunk_ids: Sequence[int], columns: list[tuple[str, str]]) -> None:
        """Write the tokenised chunks and count their tokens."""
        rows = [(chunk_id, *pair) for chunk_id, pair in zip(chunk_ids, columns, strict=True)]
        connection.executemany("INSERT INTO keyword (rowid, bigrams, words) VALUES (?, ?, ?)", rows)
        connection.executemany(
            "INSERT INTO tokens VALUES (?, ?)"
            " ON CONFLICT DO UPDATE SET chunk_count = chunk_count + excluded.chunk_count",
            sorted(_chunk_counts(columns).items()),
        )

    def remove(self, connection: sqlite3.Connection, source_row: int) -> None:
        """Delete the rows of a source's chunks, by the very tokens that were written."""
        chunk_ids = "(SELECT id FROM chunks WHERE source_id = ?)"
        rows = connection.execute(f"SELECT bigrams, words FROM keyword WHERE rowid IN {chunk_ids}", (source_row,))
        counts = _chunk_counts([(row["bigrams"], row["words"]) for row in rows])
        connection.execute(f"DELETE FROM keyword WHERE rowid IN {chunk_ids}", (source_row,))
        connection.executemany(
            "UPDATE tokens SET chunk_count = chunk_count - ? WHERE token = ?",
            [(count, token) for token, count in counts.items()],
        )
        connection.executemany(
            "DELETE FROM tokens WHERE token = ? AND chunk_count <= 0", [(token,) for token in counts]
        )

    def forget(self, connection: sqlite3.Connection) -> None:
        """Take deleted words out of the index file: until segments are merged FTS5 only marks them as deleted.

        (Its `secure-delete` would spare the merge, but makes the file unreadable for SQLite before 3.42.)
        """
        connection.execute("INSERT INTO keyword (keyword) VALUES ('optimize')")

    def search(
        self,
        connection: sqlite3.Connection,
        notebook_id: int,
        query: str,
        top_k: int,
        source_rows: Collection[int] | None,
    ) -> list[ScoredChunk]:
        """Return chunks by BM25 (k1 1.2, b 0.75), best first, equal scores by ascending id."""
        tokens = self._query_tokens(connection, notebook_id, query[:MAX_QUERY_CHARS])
        if not tokens:
            return []
        rows = _ranked(connection, _match(tokens), top_k, source_rows)
        return [ScoredChunk(int(row["rowid"]), -float(row["score"])) for row in rows]

    def term_counts(self, connection: sqlite3.Connection, notebook_id: int, terms: Iterable[str]) -> dict[str, int]:
        """Return for each term in how many chunks it occurs, as a word or as a bigram."""
        tokens = {term: [_token(notebook_id, "b", term), _token(notebook_id, "w", term)] for term in terms}
        counts = _stored_counts(connection, [token for pair in tokens.values() for token in pair])
        return {term: max(counts.get(token, 0) for token in pair) for term, pair in tokens.items()}

    def term_counts_within(
        self, connection: sqlite3.Connection, notebook_id: int, terms: Iterable[str], source_rows: Collection[int]
    ) -> dict[str, int]:
        """Return for each term in how many chunks of these sources it occurs, counted up to 1,000."""
        where, rows = _source_filter(connection, source_rows), _json_rows(source_rows)
        matches = f"SELECT 1 FROM keyword WHERE keyword MATCH ? AND {where} LIMIT {COUNTED_CHUNK_COUNT}"
        counts = {}
        for term in terms:
            match = _match(_tokens(notebook_id, "b", [term]) + _tokens(notebook_id, "w", [term]))
            counts[term] = len(connection.execute(matches, (match, rows)).fetchall()) if match else 0
        return counts

    def _query_tokens(self, connection: sqlite3.Connection, notebook_id: int, query: str) -> list[str]:
        bigrams = _tokens(notebook_id, "b", self._analyzer.bigrams(query))
        words = _tokens(notebook_id, "w", self._analyzer.words(query))
        counts = _stored_counts(connection, list(dict.fromkeys(bigrams + words)))
        row = connection.execute("SELECT chunk_count FROM notebooks WHERE id = ?", (notebook_id,)).fetchone()
        return rarest_tokens(counts, row["chunk_count"] if row else 0)


def rarest_tokens(counts: dict[str, int], chunk_count: int) -> list[str]:
    """Return the tokens worth asking for, rarest first: uncommon ones within the budget, at least three."""
    common = max(chunk_count * COMMON_SHARE, FEW_CHUNKS)
    chosen: list[str] = []
    posting_count = 0
    ascending = sorted(counts.items(), key=lambda entry: (entry[1], entry[0]))
    for token, count in islice(ascending, MAX_TERM_COUNT):
        posting_count += count
        if len(chosen) >= MIN_TERM_COUNT and (count > common or posting_count > POSTING_BUDGET):
            break
        chosen.append(token)
    return chosen


def _token(notebook_id: int, column: Column, term: str) -> str:
    # A word with a space inside ("New York" is one in the dictionary) must stay one token.
    return f"{notebook_id}{column}{'_'.join(term.split())}"


def _match(tokens: Iterable[str]) -> str:
    # Within quotes FTS5 knows one special character, the quote itself.
    return " OR ".join('"' + token.replace('"', '""') + '"' for token in tokens)


def _tokens(notebook_id: int, column: Column, terms: Iterable[str]) -> list[str]:
    return [_token(notebook_id, column, term) for term in terms if "\0" not in term]


def _chunk_counts(columns: Iterable[tuple[str, str]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for bigrams, words in columns:
        counts.update(set(bigrams.split()) | set(words.split()))
    return counts


def _stored_counts(connection: sqlite3.Connection, tokens: list[str]) -> dict[str, int]:
    rows = connection.execute(
        "SELECT token, chunk_count FROM tokens WHERE token IN (SELECT value FROM json_each(?))",
        (json.dumps(tokens),),
    )
    return {row["token"]: row["chunk_count"] for row in rows}


def _ranked(
    connection: sqlite3.Connection, match: str, top_k: int, source_rows: Collection[int] | None
) -> list[sqlite3.Row]:
    where, values = "", [BIGRAM_WEIGHT, WORD_WEIGHT, match]
    if source_rows is not None:
        where = f"AND {_source_filter(connection, source_rows)}"
        values.append(_json_rows(source_rows))
    return connection.execute(
        f"SELECT rowid, bm25(keyword, ?, ?) AS score FROM keyword WHERE keyword MATCH ? {where}"
        " ORDER BY score, rowid LIMIT ?",
        [*values, top_k],
    ).fetchall()


def _source_filter(connection: sqlite3.Connection, source_rows: Collection[int]) -> str:
    """Return the cheaper condition: list the chunks of few sources, look up the source of each match for many.

    In 100,000 chunks listing takes 1 ms for 10 sources and 87 ms for 1,000, looking up 15 and 25 ms.
    """
    (chunk_count,) = connection.execute(
        "SELECT coalesce(sum(chunk_count), 0) FROM sources WHERE id IN (SELECT value FROM json_each(?))",
        (_json_rows(source_rows),),
    ).fetchone()
    chosen = "(SELECT value FROM json_each(?))"
    if chunk_count <= LISTED_CHUNK_COUNT:
        # The + keeps SQLite from running the whole match once for every listed id.
        return f"+rowid IN (SELECT id FROM chunks WHERE source_id IN {chosen})"
    return f"(SELECT source_id FROM chunks WHERE id = keyword.rowid) IN {chosen}"


def _json_rows(source_rows: Collection[int]) -> str:
    return json.dumps(sorted(int(row) for row in source_rows))
