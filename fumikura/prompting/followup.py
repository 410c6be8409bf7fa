"""Completes a follow-up (閉園は？) from the questions before it, so that it can be searched (東公園の閉園は何時？).

Rules, not a model: they take under a millisecond, and a rule that does not fit leaves the question as it is. A
question with a topic and a predicate of its own (会費はいくら？) stands alone even where a person might mean the topic
before it: the search then finds a little more, while a wrong topic would find nothing.
"""

import re
from collections.abc import Sequence

from fumikura.japanese import boundary
from fumikura.prompting.followup_en import english
from fumikura.prompting.followup_ja import japanese

LONGEST_ANCHOR = 200  # characters put before a follow-up; a search reads no more than some hundred

_JAPANESE = re.compile(r"[ぁ-ヿ一-鿿々]")


def complete_question(question: str, earlier: Sequence[str]) -> str:
    """Return the question with what it takes from the earlier ones (oldest first); a standalone one unchanged."""
    anchor = ""
    for one in earlier:
        _, anchor = _understood(one, anchor)
    completed, _ = _understood(question, anchor)
    return completed


def _understood(question: str, anchor: str) -> tuple[str, str]:
    """Return the completed question, and the one that the next follow-up builds on."""
    if not anchor or not question.strip() or len(question) > LONGEST_ANCHOR:
        return question, question if question.strip() else anchor
    rules = japanese if _JAPANESE.search(question) else english
    completed = rules(question.strip(), _end_of(anchor))
    if completed is None:
        return question, question
    if not completed:  # it needs what came before, but no rule says where
        return f"{_end_of(anchor)} {question.strip()}", anchor
    return completed, completed


def _end_of(anchor: str) -> str:
    """Return the end of a long question, where it usually asks."""
    text = anchor.strip()
    return text if len(text) <= LONGEST_ANCHOR else text[boundary(text, len(text) - LONGEST_ANCHOR) :]
