"""What is kept of a question as JSON values: its answer, how that came about, and what the next question hears of."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from fumikura.errors import BackendError
from fumikura.library import Library
from fumikura.records import Answer, Hit, Message, Prompt, SearchResult
from fumikura.store import Store, TurnRow

BROKEN_OFF_MARK = "（途中で途切れた答え）"
_CITATION_MARK = re.compile(r"\s?\[\d{1,3}\](?!\()")


def history_of(turns: Iterable[TurnRow]) -> list[Message]:
    """Return what was asked and answered before, without citation marks, which name passages of another prompt.

    An answer that did not come to its end says so.
    """
    return [
        message
        for turn in turns
        if turn.state != "running"
        for message in (Message("user", turn.question), Message("assistant", _as_history(turn)))
    ]


def _as_history(turn: TurnRow) -> str:
    text = str(turn.answer["text"]) if turn.answer else turn.text
    text = _CITATION_MARK.sub("", text).strip()
    return text if turn.state == "complete" else text + BROKEN_OFF_MARK


def open_turn(store: Store, notebook: str, question: str, conversation_id: str | None) -> tuple[TurnRow, list[Message]]:
    """Keep the question as a running turn; return it with what was said before.

    None begins a conversation. Raises NotFound for an unknown one.
    """
    if conversation_id is None:
        conversation_id = store.add_conversation(notebook).conversation_id
    history = history_of(store.turns(notebook, conversation_id))
    return store.add_turn(notebook, conversation_id, question), history


def answer_kept(answer: Answer) -> dict[str, Any]:
    """Return the answer as JSON values; notices keep both languages."""
    return asdict(answer)


def hit_values(hit: Hit) -> dict[str, Any]:
    """Return a hit as JSON values, its heading path as one line."""
    return {**asdict(hit), "heading": " / ".join(hit.heading_path)}


def trace_of(
    library: Library,
    notebook: str,
    question: str,
    found: SearchResult,
    prompt: Prompt | None,
    raw_text: str,
    answer: Answer | None,
) -> dict[str, Any]:
    """Return how an answer came about, step by step with its settings (see schemas_answers.Trace)."""
    settings, kept = library.settings, answer_kept(answer) if answer else {}
    return {
        "question": question,
        "completed": found.completed,
        "split": {
            "method": settings.chunk.method,
            "size": settings.chunk.size,
            "overlap": settings.chunk.overlap,
            "chunk_count": library.store.chunk_count(notebook),
        },
        "embed": {"model": library.embedder.name, "dimension": _dimension(library), "embed_s": found.embed_s},
        "search": {
            "top_k": settings.search.top_k,
            "search_s": found.search_s,
            "hits": _hits_with_use(found.hits, prompt, answer),
        },
        "generate": {
            "model": library.generator.name,
            "temperature": settings.llm.temperature,
            "messages": [asdict(message) for message in prompt.messages] if prompt else [],
            "raw_text": raw_text,
            "unsupported": kept.get("unsupported", ()),
            "receipt": kept.get("receipt"),
        },
    }


def _hits_with_use(hits: Sequence[Hit], prompt: Prompt | None, answer: Answer | None) -> list[dict[str, Any]]:
    given = {passage.chunk_id for passage in prompt.passages} if prompt else set()
    resident = {one.source_id for one in answer.receipt.core} if answer else set()
    return [{**hit_values(hit), "used": hit.chunk_id in given or hit.source_id in resident} for hit in hits]


def _dimension(library: Library) -> int | None:
    try:
        return library.embedder.dimension
    except BackendError:  # the question was then searched by keyword only
        return None
