"""How passages and turns are written down: pure functions from records to text.

Everything is joined, never formatted with templates: braces and percent signs in a source are only text.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Literal

from fumikura.prompting.defuse import defuse
from fumikura.prompting.wording import Wording
from fumikura.records import Hit, Message, Passage

_QUOTE_RUN = re.compile(r'"{3,}')


def to_passage(hit: Hit) -> Passage:
    """Return the hit as a passage that has no number yet (0)."""
    return Passage(
        n=0,
        source_id=hit.source_id,
        source=hit.source,
        heading_path=hit.heading_path,
        page=hit.page,
        start=hit.start,
        end=hit.end,
        text=hit.text,
        lead=hit.lead,
        title=hit.title,
        date=hit.date,
        via="retrieved",
        chunk_id=hit.chunk_id,
    )


def render_passage(passage: Passage, wording: Wording) -> str:
    """Return the passage as a numbered header and a fenced body.

    The fence of quotation marks is longer than any in the body and the header is one line, so that no source can
    close its own passage or start another one.
    """
    body = "\n".join(part for part in (passage.lead, passage.text) if part)
    fence = '"' * max(3, 1 + max((len(run) for run in _QUOTE_RUN.findall(body)), default=0))
    return "\n".join((_header(passage, wording), fence, body, fence))


def _header(passage: Passage, wording: Wording) -> str:
    name = _one_line(passage.title or passage.source)
    if passage.title and passage.title != passage.source:
        name += f" ({_one_line(passage.source)})"
    path = " > ".join((name, *(_one_line(heading) for heading in passage.heading_path if heading != passage.title)))
    date_part = f"{wording.labels['date']} {_one_line(passage.date)}" if passage.date else ""
    page_part = f"{wording.labels['page']} {passage.page}" if passage.page is not None else ""
    return f"[{passage.n}] " + " | ".join(part for part in (path, date_part, page_part) if part)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def system_message(rules: str, wording: Wording) -> Message:
    """Return the owner's rules and the fixed rules."""
    return _message("system", (rules.strip(), wording.rules))


def core_messages(resident: Sequence[Passage], wording: Wording) -> tuple[Message, Message]:
    """Return the resident core as a turn of its own, and a turn that only says it was read.

    Not in the system message: what a source says must never count as an instruction. Roles alternate, since some chat
    templates refuse two turns of the user in a row.
    """
    parts = [wording.labels["resident"], *(render_passage(passage, wording) for passage in resident)]
    return _message("user", parts), Message("assistant", wording.labels["read"])


def question_message(
    question: str,
    passages: Sequence[Passage],
    today: date | None,
    wording: Wording,
    *,
    has_resident: bool,
    quotes: Sequence[Passage] = (),
) -> Message:
    """Return the last turn: passages, quotes, then what changes with every question, and the question last."""
    parts: list[str] = []
    if passages:
        parts += [wording.labels["passages"], *(render_passage(passage, wording) for passage in passages)]
    elif not has_resident:
        parts += [wording.labels["passages"], wording.labels["none"]]
    if quotes:
        lines = (f"[{passage.n}] {_one_line(passage.text)}" for passage in quotes)
        parts.append("\n".join((wording.labels["quotes"], *lines)))
    if today:
        parts.append(f"{wording.labels['today']}: {today.isoformat()}")
    parts += [wording.labels["reminder"], f"{wording.labels['question']}: {question.strip()}"]
    return _message("user", parts)


def _message(role: Literal["system", "user"], parts: Iterable[str]) -> Message:
    return Message(role, defuse("\n\n".join(part for part in parts if part)))


def history_messages(history: Sequence[Message]) -> tuple[Message, ...]:
    """Return the turns that said something, made harmless; a conversation has no system turns of its own."""
    turns = (turn for turn in history if turn.role != "system" and turn.content.strip())
    return tuple(Message(turn.role, defuse(turn.content)) for turn in turns)


def messages_sha256(messages: Iterable[Message]) -> str:
    """Return the hash of the messages' canonical bytes: a JSON list of [role, content]."""
    turns = [[message.role, message.content] for message in messages]
    canonical = json.dumps(turns, ensure_ascii=False, separators=(",", ":"))
    # A question from a terminal may hold lone surrogates.
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
