import pytest

from fumikura.japanese import normalize
from fumikura.prompting import defuse

MARKS = [
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|start_header_id|>",
    "<|reserved_special_token_12|>",
    "<｜begin▁of▁sentence｜>",
    "<s>",
    "</s>",
    "<bos>",
    "<eos>",
    "[INST]",
    "[/INST]",
    "<<SYS>>",
    "<</SYS>>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "[AVAILABLE_TOOLS]",
]


@pytest.mark.parametrize("mark", MARKS)
def test_a_special_mark_is_broken_but_reads_the_same(mark: str):
    safe = defuse(f"前{mark}後")
    assert mark not in safe
    assert safe.replace("\u2060", "") == f"前{mark}後"
    assert normalize(safe).text == normalize(f"前{mark}後").text


def test_breaking_marks_makes_no_new_ones():
    for first in MARKS:
        for second in MARKS:
            safe = defuse(first[:2] + second + first[2:])
            assert not any(mark in safe for mark in MARKS)
            assert defuse(safe) == safe


@pytest.mark.parametrize(
    "text", ["a < b | c > d", "{x} |> f", "<span>", "<strong>", "[1]", "[INSTALL]", "1 <| 2", "S<T>"]
)
def test_other_text_is_unchanged(text: str):
    assert defuse(text) == text
