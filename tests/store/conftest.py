import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from fumikura.japanese import Analyzer
from fumikura.records import Chunk, Section, Source, Vector
from fumikura.store import Store, content_sha256

RECIPE = "miniature dimension=3"
MakeSource = Callable[..., tuple[Source, list[Chunk]]]


@pytest.fixture(scope="session")
def analyzer() -> Analyzer:
    return Analyzer()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "fumikura" / "fumikura.db"


@pytest.fixture
def store(path: Path, analyzer: Analyzer) -> Iterator[Store]:
    with_recipe = Store(path, analyzer)
    with_recipe.use_recipe(RECIPE)
    yield with_recipe
    with_recipe.close()


@pytest.fixture
def make_source() -> MakeSource:
    """A source whose text is cut before each heading; one chunk a section, headings as heading paths."""

    def make(origin: str, text: str, **fields: object) -> tuple[Source, list[Chunk]]:
        starts = sorted({0, *(match.start() for match in re.finditer("^# ", text, re.MULTILINE))}) if text else []
        sections, chunks = [], []
        for position, start in enumerate(starts):
            end = starts[position + 1] if position + 1 < len(starts) else len(text)
            heading = re.match("# (.*)", text[start:end])
            path = (heading[1],) if heading else ()
            sections.append(Section(path, start, end, text[start:end], page=position + 1))
            body = start + (heading.end() if heading else 0)
            if text[body:end].strip():
                chunks.append(Chunk(position, body, end, text[body:end], path))
        name = origin.rsplit("/", 1)[-1]
        values = {"sha256": "0" * 64, "size_bytes": len(text.encode("utf-8", "replace")), **fields}
        return Source(origin, name, "md", text, tuple(sections), **values), chunks

    return make


@pytest.fixture
def vectors_of() -> Callable[[list[Chunk]], dict[str, Vector]]:
    """Invented vectors of length 1, in three dimensions, by content."""

    def vectors(chunks: list[Chunk]) -> dict[str, Vector]:
        rng = np.random.default_rng(len(chunks))
        rows = rng.standard_normal((len(chunks), 3), dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return {content_sha256(chunk.embed_text): row for chunk, row in zip(chunks, rows, strict=True)}

    return vectors
