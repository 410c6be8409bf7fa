from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from fumikura.chunkers import FixedChunker, StructureChunker
from fumikura.loaders import MarkdownLoader, TextLoader
from fumikura.records import Source, SourceFile, Vector, Vectors


def one_token_each(text: str) -> int:
    """Count like a tokenizer that knows no words: one token a character, and two special tokens."""
    return len(text) + 2


class TopicEmbedder:
    """Embeds a sentence by the first of its topics that it names: sentences of one topic are alike."""

    name = "topics"
    query_prefix = ""
    document_prefix = ""
    max_tokens = 512
    standout_cosine = None
    topics = ("港", "山", "市場", "学校")
    dimension = len(topics) + 1

    def __init__(self) -> None:
        self.longest = 0

    def embed_query(self, text: str) -> Vector:
        return self.embed_documents([text])[0]

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.longest = max(self.longest, *(self.count_tokens(text) for text in texts))
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            vectors[row, next((place for place, topic in enumerate(self.topics) if topic in text), -1)] = 1
        return vectors

    def count_tokens(self, text: str) -> int:
        return one_token_each(text)


@pytest.fixture
def embedder() -> TopicEmbedder:
    return TopicEmbedder()


@pytest.fixture
def markdown() -> Callable[[str], Source]:
    return lambda text: MarkdownLoader().load(SourceFile("a.md", "a.md", text.encode()))


@pytest.fixture
def load_case(cases: Path) -> Callable[[str], Source]:
    def load_file(path: str) -> Source:
        loader = MarkdownLoader() if path.endswith(".md") else TextLoader()
        return loader.load(SourceFile(path, Path(path).name, (cases / path).read_bytes()))

    return load_file


@pytest.fixture
def structure() -> Callable[..., StructureChunker]:
    def make(size: int = 256, max_tokens: int = 512, count_tokens: Callable[[str], int] = one_token_each):
        return StructureChunker(size, max_tokens=max_tokens, count_tokens=count_tokens)

    return make


@pytest.fixture
def fixed() -> Callable[..., FixedChunker]:
    def make(size: int = 500, overlap: int = 100, max_tokens: int = 2000):
        return FixedChunker(size, overlap, max_tokens=max_tokens, count_tokens=one_token_each)

    return make
