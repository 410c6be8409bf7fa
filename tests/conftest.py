"""Fixtures for all tests: a clean environment, the language model stand-in and the folder of case files."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))  # importlib mode adds no folder, and the stand-in is also a script

from stub_llm import StubServer, running_stub  # noqa: E402

# Servers, browsers and other processes answer late on a machine that is busy for a moment: their tests are run once
# more when they fail, and the summary (-rR) names each. All other tests have one try.
WAITING_ON_OTHERS = ("browser", "generators", "resident", "web")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in WAITING_ON_OTHERS:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the machine that runs the tests must not reach them."""
    for name in os.environ:
        if name.startswith("FUMIKURA_") and name != "FUMIKURA_TEST_MODELS":
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def stub() -> Iterator[StubServer]:
    """A language model server that answers by a script, on a free port of this machine."""
    with running_stub() as server:
        yield server


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder with the files of the known failure cases."""
    return TESTS / "cases"
