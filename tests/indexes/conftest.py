from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fumikura.japanese import Analyzer
from fumikura.records import Chunk, Section, Source, Vectors
from fumikura.store import Store, content_sha256

DIMENSION = 4


class Notebook:
    """One notebook of a real store, filled with hand-made vectors."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def put(self, origin: str, vectors: Vectors) -> None:
        texts = [f"{origin} {number}。" for number in range(len(vectors))]
        ends = np.cumsum([len(text) for text in texts]).tolist()
        chunks = [Chunk(0, end - len(text), end, text) for text, end in zip(texts, ends, strict=True)]
        text = "".join(texts)
        source = Source(origin, origin, "md", text, (Section((), 0, len(text), text),), "", len(text))
        hashes = [content_sha256(chunk.embed_text) for chunk in chunks]
        self.store.put_source("n", source, chunks, "c", dict(zip(hashes, vectors, strict=True)))

    def texts(self, found) -> list[str]:
        return [chunk.text for chunk in self.store.read_chunks("n", [scored.chunk_id for scored in found])]


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    store = Store(tmp_path / "fumikura.db", Analyzer())
    store.use_recipe(f"miniature dimension={DIMENSION}")
    yield Notebook(store)
    store.close()
