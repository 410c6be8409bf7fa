from collections.abc import Callable
from pathlib import Path

import pytest

from fumikura.loaders import LoaderRegistry, MarkdownLoader, TextLoader
from fumikura.records import Source, SourceFile

Load = Callable[..., Source]


@pytest.fixture
def registry() -> LoaderRegistry:
    text = TextLoader()
    return LoaderRegistry([MarkdownLoader(), text], fallback=text)


@pytest.fixture
def load(registry: LoaderRegistry) -> Load:
    """Load text or bytes as a file of the given name."""

    def load_file(content: str | bytes, name: str = "note.md", modified: str | None = None) -> Source:
        content = content.encode() if isinstance(content, str) else content
        return registry.load(SourceFile(f"notes/{name}", name, content, modified))

    return load_file


@pytest.fixture
def load_case(registry: LoaderRegistry, cases: Path) -> Callable[[str], Source]:
    """Load a file of the known failure cases: "C001/cp932_memo.txt"."""

    def load_file(path: str) -> Source:
        return registry.load(SourceFile(path, Path(path).name, (cases / path).read_bytes()))

    return load_file
