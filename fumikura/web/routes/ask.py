"""Questions: the seed's `POST /api/ask`, and the one of a notebook; as one document, or as events while it happens."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

from fastapi import APIRouter, Request

from fumikura.errors import QuestionError
from fumikura.records import Answer, Prompt
from fumikura.store import check_mode
from fumikura.web.asking import Asking, Wanted
from fumikura.web.deps import NotebookName, Services, Speaks, notebook_named
from fumikura.web.events import EventStream
from fumikura.web.language import Language
from fumikura.web.schemas_answers import (
    AnswerDocument,
    NotebookAskInput,
    SeedAskInput,
)
from fumikura.web.schemas_common import ERRORS
from fumikura.web.service import Service
from fumikura.web.turns import answer_kept, open_turn

router = APIRouter(tags=["questions"], responses=ERRORS)

EVENT_STREAM = "text/event-stream"
STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The checked answer, or (with `Accept: text/event-stream`) the events stage, hits, token, "
        "answer and error as they happen. Closing the connection ends the generation.",
        "content": {EVENT_STREAM: {"schema": {"type": "string"}}},
    }
}


@router.post("/api/ask", response_model=AnswerDocument, responses=STREAMED)
async def ask(request: Request, asked: SeedAskInput, service: Services, language: Speaks) -> object:
    """Answer a question from a notebook's sources."""

    def wanted() -> Wanted:
        notebook = notebook_named(service.library.store, asked.notebook)
        inner = NotebookAskInput.model_validate(asked.model_dump(exclude={"notebook"}))
        return _wanted(service, notebook, inner, language, keep=False)

    return await _reply(request, service, wanted, asked.debug)


@router.post("/api/notebooks/{notebook}/ask", response_model=AnswerDocument, responses=STREAMED)
async def ask_notebook(
    request: Request, notebook: NotebookName, asked: NotebookAskInput, service: Services, language: Speaks
) -> object:
    """Answer a question within a conversation (as events also without one: it begins with this question)."""
    keep = _wants_events(request) or asked.conversation_id is not None
    return await _reply(request, service, lambda: _wanted(service, notebook, asked, language, keep=keep), asked.debug)


def _wants_events(request: Request) -> bool:
    return EVENT_STREAM in request.headers.get("accept", "")


def _wanted(service: Service, notebook: str, asked: NotebookAskInput, language: Language, *, keep: bool) -> Wanted:
    """Check everything that can be checked before the search, then open the turn: a refused question leaves none."""
    library = service.library
    library.notebook(notebook).check(asked.question)
    for source_id in asked.source_ids or ():
        library.store.get_source(notebook, source_id)
    mode = check_mode(asked.mode)
    wanted = Wanted(notebook, asked.question, language, _day(asked.as_of), asked.source_ids, mode)
    if not keep:
        return wanted
    turn, history = open_turn(library.store, notebook, asked.question, asked.conversation_id)
    return replace(wanted, history=history, conversation_id=turn.conversation_id, turn_id=turn.turn_id)


def _day(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise QuestionError(
            f"as_of「{text[:40]}」は日付ではありません。2026-03-05 の形で書いてください。",
            f"as_of '{text[:40]}' is not a date: write it like 2026-03-05",
        ) from None


async def _reply(request: Request, service: Service, wanted: Callable[[], Wanted], debug: bool) -> object:
    service.queue.check_room()
    asking = Asking(service, await asyncio.wrap_future(service.queue.threads.submit(wanted)))
    if _wants_events(request):
        return EventStream(asking)
    await _ended_or_left(request, asking)
    if asking.error:
        raise asking.error
    assert asking.answer  # where there is no error
    return _document(asking, asking.answer, debug=debug)


async def _ended_or_left(request: Request, asking: Asking) -> None:
    """Wait for the answer, or stop it when who asked has closed the connection."""
    leaving = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({asking.task, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        asking.leave()
    await asking.task


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _document(asking: Asking, answer: Answer, *, debug: bool) -> AnswerDocument:
    wanted = asking.wanted
    return AnswerDocument.of(
        answer_kept(answer),
        wanted.language,
        answer=answer.text,
        sources=list(dict.fromkeys(citation.source for citation in answer.citations)),
        conversation_id=wanted.conversation_id,
        turn_id=wanted.turn_id,
        contexts=_contexts(asking.prompt) if debug else None,
    )


def _contexts(prompt: Prompt | None) -> list[str]:
    passages = prompt.passages if prompt else ()
    return ["\n".join(part for part in (passage.lead, passage.text) if part) for passage in passages]
