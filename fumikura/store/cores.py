"""The resident core in the store: what may be in it, its texts, the prefixes computed of it, how fast a model reads."""

import json
import sqlite3
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fumikura.errors import QuestionError
from fumikura.records import CoreSource, Mode, Passage
from fumikura.store.conversations import TURNS, TurnRow, turn_row
from fumikura.store.meta import get_meta, put_meta
from fumikura.store.notebooks import Tables, existing_notebook, find_notebook

MODES: tuple[Mode, ...] = ("auto", "rag", "resident", "hybrid")
KEPT_COUNT = 4  # prefixes of one notebook: pinning and unpinning goes back and forth


@dataclass(frozen=True, slots=True)
class Candidate:
    """A source that may be resident; `length` of its text in characters."""

    row: int
    source_id: str
    source: str
    sha256: str
    pinned: bool
    length: int

    @property
    def named(self) -> CoreSource:
        """The source as an answer's receipt names it."""
        return CoreSource(self.source_id, self.source, self.sha256)


class Cores(Tables):
    """The table `prefixes`, and what else the resident core is made of."""

    def core_candidates(self, notebook: str, source_ids: Collection[str] | None = None) -> list[Candidate]:
        """Return the sources with text (only these), in the order in which they were added.

        So that a new source comes behind the others, whose computed states stay of use.
        """
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT id, public_id, coalesce(given_name, name), sha256, pinned,"
                ' (SELECT "end" FROM sections WHERE source_id = sources.id ORDER BY position DESC LIMIT 1) FROM sources'
                " WHERE notebook_id = ? AND chunk_count > 0 AND hidden_at IS NULL"
                " AND (? IS NULL OR public_id IN (SELECT value FROM json_each(?))) ORDER BY id",
                (find_notebook(connection, notebook), *(_json_ids(source_ids),) * 2),
            )
            return [Candidate(row[0], row[1], row[2], row[3], bool(row[4]), row[5] or 0) for row in rows]

    def whole_texts(self, candidates: Sequence[Candidate]) -> list[Passage]:
        """Return each source as one passage that has no number yet; one deleted meanwhile is left out."""
        with self._database.read() as connection:
            passages = (_whole_text(connection, candidate) for candidate in candidates)
            return [passage for passage in passages if passage]

    def heading_at(self, notebook: str, source_id: str, start: int) -> tuple[tuple[str, ...], int | None]:
        """Return heading path and page of the section that holds this character; ((), None) where there is none."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT heading_path, page FROM sections JOIN sources ON sources.id = source_id"
                ' WHERE sources.notebook_id = ? AND public_id = ? AND start <= ? AND "end" > ?',
                (find_notebook(connection, notebook), source_id, start, start),
            ).fetchone()
            return (tuple(json.loads(row["heading_path"])), row["page"]) if row else ((), None)

    def mode(self, notebook: str) -> Mode:
        """Return how the notebook is to be read; "auto" while nobody chose."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT mode FROM notebooks WHERE id = ?", (find_notebook(connection, notebook),)
            ).fetchone()
            return next((mode for mode in MODES if row and mode == row["mode"]), "auto")

    def set_mode(self, notebook: str, mode: str) -> None:
        """Choose how the notebook is to be read. Raises NotFound, QuestionError for an unknown mode."""
        check_mode(mode)
        with self._database.write() as connection:
            row = existing_notebook(connection, notebook)
            connection.execute("UPDATE notebooks SET mode = ? WHERE id = ?", (mode, row))

    def note_prefix(self, notebook: str, prefix_sha256: str, sources: Sequence[CoreSource]) -> None:
        """Remember that this prefix was computed; of one notebook the last few are kept. Raises NotFound."""
        held = json.dumps([[one.source_id, one.sha256] for one in sources])
        with self._database.write() as connection:
            row = existing_notebook(connection, notebook)
            connection.execute(
                "INSERT INTO prefixes VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET used_at = excluded.used_at",
                (row, prefix_sha256, held, time.time()),
            )
            connection.execute(
                "DELETE FROM prefixes WHERE notebook_id = ?1 AND prefix_sha256 NOT IN (SELECT prefix_sha256"
                " FROM prefixes WHERE notebook_id = ?1 ORDER BY used_at DESC LIMIT ?2)",
                (row, KEPT_COUNT),
            )

    def current_prefixes(self) -> set[str]:
        """Return the prefixes whose sources are all still there, unchanged; the others are forgotten."""
        with self._database.read() as connection:
            there = {
                (row["public_id"], row["sha256"])
                for row in connection.execute("SELECT public_id, sha256 FROM sources WHERE hidden_at IS NULL")
            }
            known = connection.execute("SELECT prefix_sha256, sources FROM prefixes").fetchall()
        current = {row[0] for row in known if all(tuple(one) in there for one in json.loads(row[1]))}
        outdated = [(row[0],) for row in known if row[0] not in current]
        if outdated:
            with self._database.write() as connection:
                connection.executemany("DELETE FROM prefixes WHERE prefix_sha256 = ?", outdated)
        return current

    def last_prefix_notebook(self) -> str | None:
        """Return the notebook whose prefix was used last, None when none ever was."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT name FROM prefixes JOIN notebooks ON id = notebook_id ORDER BY used_at DESC LIMIT 1"
            ).fetchone()
            return str(row["name"]) if row else None

    def last_answered_turns(self, notebook: str, count: int) -> list[TurnRow]:
        """Return the notebook's newest turns that have an answer, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"{TURNS} WHERE notebook_id = ? AND answer IS NOT NULL ORDER BY turns.id DESC LIMIT ?",
                (find_notebook(connection, notebook), count),
            )
            return [turn_row(row) for row in rows]

    def prefill_pace(self, generator: str) -> float | None:
        """Return how many tokens a second this generator read at its best; None before it was measured."""
        with self._database.read() as connection:
            kept = get_meta(connection, _pace_key(generator))
            return float(kept) if kept else None

    def note_prefill_pace(self, generator: str, tokens_s: float) -> None:
        """Remember a measured pace if it is the best so far: other work at the same time only makes it slower."""
        if tokens_s > (self.prefill_pace(generator) or 0.0):
            with self._database.write() as connection:
                put_meta(connection, _pace_key(generator), f"{tokens_s:.1f}")


def check_mode(mode: str) -> Mode:
    """Return the mode of this name. Raises QuestionError."""
    for known in MODES:
        if mode == known:
            return known
    raise QuestionError(
        ja=f"モード「{mode[:40]}」はありません。{'・'.join(MODES)} のどれかにしてください。",
        en=f"there is no mode '{mode[:40]}': choose one of {', '.join(MODES)}",
    )


def _whole_text(connection: sqlite3.Connection, candidate: Candidate) -> Passage | None:
    rows = connection.execute("SELECT text FROM sections WHERE source_id = ? ORDER BY position", (candidate.row,))
    text = "".join(row["text"] for row in rows)
    source = connection.execute("SELECT title, date FROM sources WHERE id = ?", (candidate.row,)).fetchone()
    if source is None or not text:
        return None
    title, date = source["title"], source["date"]
    return Passage(
        0, candidate.source_id, candidate.source, (), None, 0, len(text), text, title=title, date=date, via="resident"
    )


def _json_ids(source_ids: Collection[str] | None) -> str | None:
    return None if source_ids is None else json.dumps(list(source_ids))


def _pace_key(generator: str) -> str:
    return f"prefill:{generator}"
