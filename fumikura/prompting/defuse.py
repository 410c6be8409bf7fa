"""Takes the power from chat-template marks in texts that are not ours.

Servers tokenize a prompt with special tokens switched on, so a source that holds an end-of-turn mark could end its
own message and open a system turn.
"""

import re

WORD_JOINER = "\u2060"  # no width, no line break, dropped again by fumikura.japanese.normalize

_MARK = re.compile(
    r"""
    (?<=<) (?: [|｜] (?=[^|｜<>\n]{1,64}[|｜]>)                                      # ChatML, Llama 3, Phi, DeepSeek
           | (?=/?(?:s|bos|eos|pad|unk|mask|think|tool_call|tool_response|tools)>)   # Llama 2, Mistral, Qwen
           | (?=(?:start|end)_of_(?:turn|image)>)                                    # Gemma
           | (?=</?SYS>>) )
    | (?<=\[) (?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|IMG|gMASK)\])
    """,
    re.VERBOSE | re.IGNORECASE,
)


def defuse(text: str) -> str:
    """Return `text` with a word joiner after the first character of every special mark, else unchanged."""
    return _MARK.sub(lambda mark: WORD_JOINER + mark.group(), text)
