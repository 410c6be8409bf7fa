from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fumikura.prompting import PromptBuilder
from fumikura.records import Hit, Message, Passage

CASES = Path(__file__).parents[1] / "cases"


class Counter:
    """Counts one token for two characters and five a turn, and its own calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, messages: Sequence[Message]) -> int:
        self.calls += 1
        return sum(5 + (len(message.content) + 1) // 2 for message in messages)


@pytest.fixture
def counter() -> Counter:
    return Counter()


@pytest.fixture
def builder(counter: Counter) -> PromptBuilder:
    return PromptBuilder("あなたは資料係です。", context_tokens=4096, answer_tokens=400, count_tokens=counter)


@pytest.fixture
def small(counter: Counter) -> Callable[[int], PromptBuilder]:
    """Make a builder whose prompts may take `room` tokens."""
    return lambda room: PromptBuilder("", context_tokens=room + 100, answer_tokens=100, count_tokens=counter)


@pytest.fixture
def hit() -> Callable[..., Hit]:
    def make(rank: int, text: str, source: str = "memo.md", start: int = 0, **fields: object) -> Hit:
        found = Hit(rank, 1 / rank, rank, source, source, (), None, start, start + len(text), text)
        return replace(found, **fields)  # type: ignore[arg-type]

    return make


@pytest.fixture
def pinned() -> Callable[..., Passage]:
    def make(source: str, text: str, start: int = 0) -> Passage:
        return Passage(0, source, source, (), None, start, start + len(text), text, via="resident")

    return make


@pytest.fixture
def case_text() -> Callable[[str], str]:
    return lambda path: (CASES / path).read_text(encoding="utf-8")
