import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fumikura.records import Passage

CASES = Path(__file__).parents[1] / "cases"


def passage(n: int, text: str) -> Passage:
    return Passage(n, f"s{n}", f"note{'abcdefghijkl'[n]}.md", (), None, 0, len(text), text)


@pytest.fixture
def passages() -> Callable[..., list[Passage]]:
    """Number texts as passages."""
    return lambda *texts: [passage(n, text) for n, text in enumerate(texts, 1)]


@pytest.fixture
def case_passages() -> Callable[[str], list[Passage]]:
    """Number the files of a case as passages."""

    def read(pattern: str) -> list[Passage]:
        files = sorted(CASES.glob(pattern))
        assert files, pattern
        return [passage(n, file.read_text(encoding="utf-8")) for n, file in enumerate(files, 1)]

    return read


@pytest.fixture
def reply() -> Callable[[str], str]:
    """Join the pieces of a case's scripted answer."""
    return lambda path: "".join(json.loads((CASES / path).read_text(encoding="utf-8"))["pieces"])


@pytest.fixture
def library(case_passages: Callable[[str], list[Passage]]) -> list[Passage]:
    return case_passages("C099/library.md")
