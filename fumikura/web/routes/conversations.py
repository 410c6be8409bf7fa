"""Conversations: list, read, name and delete them, and see how an answer came about."""

from fastapi import APIRouter

from fumikura.errors import NotFound
from fumikura.web.deps import NotebookName, Services, Speaks
from fumikura.web.schemas_answers import (
    ConversationOut,
    ConversationsOut,
    ConversationTitle,
    ConversationWithTurns,
    NewConversation,
    Trace,
    TurnOut,
)
from fumikura.web.schemas_common import ERRORS

PATH = "/api/notebooks/{notebook}/conversations"
router = APIRouter(prefix=PATH, tags=["conversations"], responses=ERRORS)


@router.get("")
def list_conversations(notebook: NotebookName, service: Services) -> ConversationsOut:
    """Return the notebook's conversations, the one last asked in first."""
    rows = service.library.store.conversations(notebook)
    return ConversationsOut(conversations=[ConversationOut.of(row) for row in rows])


@router.post("", status_code=201)
def add_conversation(notebook: NotebookName, wanted: NewConversation, service: Services) -> ConversationOut:
    """Begin a conversation."""
    return ConversationOut.of(service.library.store.add_conversation(notebook, wanted.title))


@router.get("/{conversation_id}")
def read_conversation(
    notebook: NotebookName, conversation_id: str, service: Services, language: Speaks
) -> ConversationWithTurns:
    """Return a conversation with its turns, oldest first."""
    store = service.library.store
    turns = [TurnOut.of(turn, language) for turn in store.turns(notebook, conversation_id)]
    return ConversationWithTurns.of(store.conversation(notebook, conversation_id), turns=turns)


@router.patch("/{conversation_id}")
def rename_conversation(
    notebook: NotebookName, conversation_id: str, wanted: ConversationTitle, service: Services
) -> ConversationOut:
    """Give a conversation another title."""
    return ConversationOut.of(service.library.store.rename_conversation(notebook, conversation_id, wanted.title))


@router.delete("/{conversation_id}", status_code=204)
def remove_conversation(notebook: NotebookName, conversation_id: str, service: Services) -> None:
    """Delete a conversation with its turns; one that is being answered is stopped."""
    service.library.store.remove_conversation(notebook, conversation_id)


@router.delete("/{conversation_id}/turns/{turn_id}", status_code=204)
def remove_turn(notebook: NotebookName, conversation_id: str, turn_id: str, service: Services) -> None:
    """Delete one question with its answer."""
    service.library.store.remove_turn(notebook, conversation_id, turn_id)


@router.get("/{conversation_id}/turns/{turn_id}/receipt")
def read_receipt(notebook: NotebookName, conversation_id: str, turn_id: str, service: Services) -> Trace:
    """Return how the answer came about: split, embed, search, generate."""
    trace = service.library.store.turn_trace(notebook, conversation_id, turn_id)
    if not trace:
        raise NotFound(
            f"質問「{turn_id}」は検索まで進まなかったので、経過の記録がありません。",
            f"turn '{turn_id}' did not get as far as the search, so there is no receipt",
        )
    return Trace.model_validate(trace)
