"""The adapter of sentence-transformers, against a small module with that library's interface."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from fumikura.embedders import SentenceTransformersEmbedder, embed_each
from fumikura.errors import BackendUnavailable, InputTooLong


class SentenceTransformer:
    """A token is a character; a vector says how often 開 and 閉 occur."""

    max_seq_length = 40

    def __init__(self, name: str, device: str | None, local_files_only: bool) -> None:
        if name == "missing" and local_files_only:
            raise OSError("no such folder")
        self.seen: list[str] = []

    def tokenizer(self, text: str) -> dict[str, list[int]]:
        return {"input_ids": [0] * len(text)}

    def encode(self, texts: list[str], batch_size: int, show_progress_bar: bool) -> np.ndarray:
        self.seen += texts
        return np.array([[1 + text.count("開"), 1 + text.count("閉"), 1] for text in texts], np.float32)

    def get_sentence_embedding_dimension(self) -> int:
        return 3


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("sentence_transformers")
    module.__dict__.update(SimpleNamespace(SentenceTransformer=SentenceTransformer).__dict__)
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


def test_prefixes_dimension_and_length_one() -> None:
    embedder = SentenceTransformersEmbedder()
    assert embedder.dimension == 3
    vectors = embedder.embed_documents(["開開開", "閉閉閉"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert embedder.embed_query("開") @ vectors[0] > embedder.embed_query("開") @ vectors[1]
    assert embedder.count_tokens("開館") == len("検索文書: 開館")


def test_window_of_the_model_is_kept() -> None:
    embedder = SentenceTransformersEmbedder()
    with pytest.raises(InputTooLong, match="reads 40"):
        embedder.embed_documents(["開" * 50])
    assert embedder.max_tokens == 40
    assert len(embed_each(embedder, ["開" * 50]).vectors) == 1


def test_model_that_is_not_there() -> None:
    with pytest.raises(BackendUnavailable, match="no such folder"):
        SentenceTransformersEmbedder("missing").embed_query("開")
