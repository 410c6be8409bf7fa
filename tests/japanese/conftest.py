from collections import Counter
from collections.abc import Callable
from math import log
from pathlib import Path

import pytest

from fumikura.japanese import Analyzer

CASES = Path(__file__).parents[1] / "cases"


@pytest.fixture(scope="session")
def analyzer() -> Analyzer:
    return Analyzer()


@pytest.fixture(scope="session")
def find_line(analyzer: Analyzer) -> Callable[[str, str], str | None]:
    """Return the line of a case's file that shares most with a question, rare terms counting more; None without any."""

    def find(file: str, question: str) -> str | None:
        lines = [line for line in (CASES / file).read_text("utf-8").splitlines() if line.strip()]
        terms = [set(analyzer.bigrams(line)) | set(analyzer.words(line)) for line in lines]
        frequency = Counter(term for line in terms for term in line)
        asked = set(analyzer.bigrams(question)) | set(analyzer.words(question))
        weights = [sum(log(1 + len(lines) / frequency[term]) for term in asked & line) for line in terms]
        return lines[weights.index(max(weights))] if max(weights) > 0 else None

    return find
