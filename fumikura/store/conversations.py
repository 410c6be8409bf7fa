"""Conversations and their turns: what was asked, what came of it, and how it came about."""

import json
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fumikura.errors import NotFound
from fumikura.records import Notice
from fumikura.store.notebooks import Tables, ensure_notebook, find_notebook
from fumikura.store.texts import as_json, checked_name, clean, new_id, notice_json, now, one_line, stored_notice

TurnState = Literal["running", "complete", "stopped", "broken_off", "failed"]

LONGEST_TITLE = 60  # characters of a question that names its conversation
CONVERSATIONS = """
SELECT public_id AS conversation_id, title,
  (SELECT count(*) FROM turns WHERE turns.conversation_id = conversations.id) AS turn_count, created_at, updated_at
FROM conversations
"""
TURNS = """
SELECT turns.public_id AS turn_id, conversations.public_id AS conversation_id, question, completed, state, text, answer,
  error, asked_at, ended_at
FROM turns JOIN conversations ON conversations.id = turns.conversation_id
"""


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A conversation as it is listed; `title` is "" until its first question names it."""

    conversation_id: str
    title: str
    turn_count: int
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A question and what came of it: the checked `answer`, or the `text` that there is without one."""

    turn_id: str
    conversation_id: str
    question: str
    completed: str
    state: TurnState
    text: str
    answer: dict[str, Any] | None
    error: Notice | None
    asked_at: str
    ended_at: str | None


class Conversations(Tables):
    """The tables `conversations` and `turns`. Ids of another notebook are as good as unknown."""

    def add_conversation(self, notebook: str, title: str = "") -> ConversationRow:
        """Begin a conversation; without a title its first question names it."""
        public_id, time = new_id(), now()
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO conversations (public_id, notebook_id, title, created_at, updated_at)"
                " VALUES (?, ?, ?, ?, ?)",
                (public_id, ensure_notebook(connection, notebook), title and checked_name(title), time, time),
            )
            return _conversation(connection, notebook, public_id)

    def conversations(self, notebook: str) -> list[ConversationRow]:
        """Return the notebook's conversations, the one last asked in first."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"{CONVERSATIONS} WHERE notebook_id = ? ORDER BY updated_at DESC, id DESC",
                (find_notebook(connection, notebook),),
            )
            return [ConversationRow(*row) for row in rows]

    def conversation(self, notebook: str, conversation_id: str) -> ConversationRow:
        """Return one conversation. Raises NotFound."""
        with self._database.read() as connection:
            return _conversation(connection, notebook, conversation_id)

    def rename_conversation(self, notebook: str, conversation_id: str, title: str) -> ConversationRow:
        """Give it another title. Raises NotFound, and QuestionError for one that is blank or over 200 characters."""
        wanted = checked_name(title)
        with self._database.write() as connection:
            row = _row_of(connection, notebook, conversation_id)
            connection.execute("UPDATE conversations SET title = ? WHERE id = ?", (wanted, row))
            return _conversation(connection, notebook, conversation_id)

    def remove_conversation(self, notebook: str, conversation_id: str) -> None:
        """Delete it with its turns, from the file and its log as well. Raises NotFound."""
        with self._database.write() as connection:
            row = _row_of(connection, notebook, conversation_id)
            connection.execute("DELETE FROM conversations WHERE id = ?", (row,))
        self._database.checkpoint()

    def add_turn(self, notebook: str, conversation_id: str, question: str) -> TurnRow:
        """Add a running turn; the first one names a conversation that has no title. Raises NotFound."""
        public_id, time, asked = new_id(), now(), clean(question)
        with self._database.write() as connection:
            row = _row_of(connection, notebook, conversation_id)
            connection.execute(
                "INSERT INTO turns (public_id, conversation_id, question, completed, state, asked_at)"
                " VALUES (?, ?, ?, ?, 'running', ?)",
                (public_id, row, asked, asked, time),
            )
            connection.execute(
                "UPDATE conversations SET title = iif(title = '', ?, title), updated_at = ? WHERE id = ?",
                (_title(asked), time, row),
            )
            return _turn(connection, public_id)

    def update_turn(
        self,
        turn_id: str,
        *,
        state: TurnState | None = None,
        text: str | None = None,
        completed: str | None = None,
        answer: Mapping[str, Any] | None = None,
        trace: Mapping[str, Any] | None = None,
        error: Notice | None = None,
    ) -> TurnRow:
        """Change what is given and leave the rest; any other state than "running" ends it. Raises NotFound."""
        ended = None if state in (None, "running") else now()
        with self._database.write() as connection:
            found = _turn(connection, turn_id)
            connection.execute(
                "UPDATE turns SET state = coalesce(?, state), text = coalesce(?, text),"
                " completed = coalesce(?, completed), answer = coalesce(?, answer), trace = coalesce(?, trace),"
                " error = coalesce(?, error), ended_at = coalesce(?, ended_at) WHERE public_id = ?",
                (
                    state,
                    None if text is None else clean(text),
                    None if completed is None else clean(completed),
                    None if answer is None else as_json(answer),
                    None if trace is None else as_json(_without_deleted(connection, trace)),
                    notice_json(error),
                    ended,
                    found.turn_id,
                ),
            )
            return _turn(connection, turn_id)

    def turns(self, notebook: str, conversation_id: str) -> list[TurnRow]:
        """Return the conversation's turns, the first one first. Raises NotFound."""
        with self._database.read() as connection:
            row = _row_of(connection, notebook, conversation_id)
            return [
                turn_row(turn)
                for turn in connection.execute(f"{TURNS} WHERE conversations.id = ? ORDER BY turns.id", (row,))
            ]

    def turn_trace(self, notebook: str, conversation_id: str, turn_id: str) -> dict[str, Any]:
        """Return how the answer came about, {} where nothing was noted. Raises NotFound."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT trace FROM turns WHERE conversation_id = ? AND public_id = ?",
                (_row_of(connection, notebook, conversation_id), clean(turn_id)),
            ).fetchone()
        if row is None:
            raise _no_turn(turn_id)
        return dict(json.loads(row["trace"] or "{}"))

    def remove_turn(self, notebook: str, conversation_id: str, turn_id: str) -> None:
        """Delete one turn, from the file and its log as well. Raises NotFound."""
        with self._database.write() as connection:
            deleted = connection.execute(
                "DELETE FROM turns WHERE conversation_id = ? AND public_id = ?",
                (_row_of(connection, notebook, conversation_id), clean(turn_id)),
            ).rowcount
        if not deleted:
            raise _no_turn(turn_id)
        self._database.checkpoint()

    def break_off_running_turns(self) -> int:
        """End the turns that ran when the last process ended, and return the number; for the server, at its start."""
        with self._database.write() as connection:
            return connection.execute(
                "UPDATE turns SET state = 'broken_off', ended_at = ? WHERE state = 'running'", (now(),)
            ).rowcount

    def mentions(self, notebook: str, source_id: str) -> tuple[int, int]:
        """Return how many turns and how many notes of the notebook quote the source (they outlive it)."""
        with self._database.read() as connection:
            notebook_id = find_notebook(connection, notebook)
            values = (notebook_id, source_id, source_id)
            turns = connection.execute(
                "SELECT count(*) FROM turns JOIN conversations ON conversations.id = turns.conversation_id"
                f" WHERE notebook_id = ? AND {_quotes('answer', '$.citations')}",
                values,
            ).fetchone()[0]
            notes = connection.execute(
                f"SELECT count(*) FROM notes WHERE notebook_id = ? AND {_quotes('citations', '$')}", values
            ).fetchone()[0]
            return int(turns), int(notes)


def forget_in_traces(connection: sqlite3.Connection, source_rows: Collection[int]) -> None:
    """Take the text of sources that are being deleted out of the receipts: passages, and prompts that held them.

    What an answer quotes stays, as `mentions` counts.
    """
    rows = json.dumps(list(source_rows))
    # One pass for all of them, over the traces of their notebooks only: all writers wait meanwhile.
    found = connection.execute(
        "WITH gone AS MATERIALIZED (SELECT public_id, notebook_id FROM sources"
        " WHERE id IN (SELECT value FROM json_each(?)))"
        " SELECT turns.id, trace FROM turns JOIN conversations ON conversations.id = conversation_id"
        " WHERE notebook_id IN (SELECT notebook_id FROM gone) AND trace IS NOT NULL"
        " AND EXISTS (SELECT 1 FROM json_each(trace, '$.search.hits')"
        " WHERE json_extract(value, '$.source_id') IN (SELECT public_id FROM gone))",
        (rows,),
    ).fetchall()
    gone = _public_ids(connection, "id", list(source_rows))
    for turn in found:
        trace = as_json(_blanked(json.loads(turn["trace"]), gone))
        # `text` is the raw text once more; of a checked answer only what it says stays.
        connection.execute(
            "UPDATE turns SET trace = ?, text = coalesce(json_extract(answer, '$.text'), text) WHERE id = ?",
            (trace, turn["id"]),
        )


def _without_deleted(connection: sqlite3.Connection, trace: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the trace without the text of sources that were deleted while the answer was written."""
    found = {hit["source_id"] for hit in trace.get("search", {}).get("hits", ())}
    gone = found - _public_ids(connection, "public_id", sorted(found))
    return _blanked(trace, gone) if gone else trace


def _blanked(trace: Mapping[str, Any], gone: Collection[str]) -> dict[str, Any]:
    hits = [hit | {"text": ""} if hit["source_id"] in gone else hit for hit in trace["search"]["hits"]]
    return {
        **trace,
        "search": {**trace["search"], "hits": hits},
        "generate": {**trace["generate"], "messages": [], "raw_text": ""},
    }


def _public_ids(connection: sqlite3.Connection, column: str, values: list[Any]) -> set[str]:
    found = f"SELECT public_id FROM sources WHERE {column} IN (SELECT value FROM json_each(?))"
    return {row["public_id"] for row in connection.execute(found, (json.dumps(values),))}


def _quotes(column: str, path: str) -> str:
    """Return the condition that a citation is of the source; parsing is left to the rows that hold its id at all."""
    return (
        f"instr({column}, ?) AND EXISTS"
        f" (SELECT 1 FROM json_each({column}, '{path}') WHERE json_extract(value, '$.source_id') = ?)"
    )


def _title(question: str) -> str:
    title = one_line(question)
    return title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…"


def _row_of(connection: sqlite3.Connection, notebook: str, conversation_id: str) -> int:
    row = connection.execute(
        "SELECT id FROM conversations WHERE notebook_id = ? AND public_id = ?",
        (find_notebook(connection, notebook), clean(conversation_id)),
    ).fetchone()
    if row is None:
        raise NotFound(
            ja=f"会話「{conversation_id}」はありません。削除されたのかもしれません。",
            en=f"There is no conversation '{conversation_id}': it may have been deleted",
        )
    return int(row["id"])


def _conversation(connection: sqlite3.Connection, notebook: str, conversation_id: str) -> ConversationRow:
    row = _row_of(connection, notebook, conversation_id)
    return ConversationRow(*connection.execute(f"{CONVERSATIONS} WHERE id = ?", (row,)).fetchone())


def _turn(connection: sqlite3.Connection, turn_id: str) -> TurnRow:
    row = connection.execute(f"{TURNS} WHERE turns.public_id = ?", (clean(turn_id),)).fetchone()
    if row is None:
        raise _no_turn(turn_id)
    return turn_row(row)


def turn_row(row: sqlite3.Row) -> TurnRow:
    """Return a row of TURNS as a record."""
    values = dict(row)
    answer = values.pop("answer")
    return TurnRow(answer=answer and json.loads(answer), error=stored_notice(values.pop("error")), **values)


def _no_turn(turn_id: str) -> NotFound:
    return NotFound(
        ja=f"質問「{turn_id}」はありません。削除されたのかもしれません。",
        en=f"There is no turn '{turn_id}': it may have been deleted",
    )
