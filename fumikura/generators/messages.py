"""Messages as the servers want them."""

import re
from collections.abc import Sequence

from fumikura.records import Message

# Chat templates mark turns with <|im_start|>, <|eot_id|>, <start_of_turn>, [INST] and the like. The servers read such
# marks in the content as real ones, so a source that holds them could open a turn of its own.
TURN_MARK = re.compile(
    r"<\|(?=[^<>|\s]{1,40}\|?>)|<(?=/?(?:start|end)_of_(?:turn|image)>)|\[(?=/?INST\])|<(?=/?s>)|<(?=<SYS>>)"
)
JOINER = "\u2060"  # invisible; parts the mark so that no tokenizer takes it for one


def wire_messages(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return the JSON form; turn marks inside the contents are defused, lone surrogates replaced."""
    return [{"role": message.role, "content": _plain(message.content)} for message in messages]


def _plain(content: str) -> str:
    encodable = content.encode("utf-8", "replace").decode("utf-8")
    return TURN_MARK.sub(lambda mark: mark[0][0] + JOINER + mark[0][1:], encodable)
