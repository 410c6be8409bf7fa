"""Embedders over HTTP: prefixes, order, refusals, and one bad text that loses only itself."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from stub_llm import StubServer

from fumikura.embedders import OllamaEmbedder, OpenAIEmbedder, embed_each
from fumikura.errors import (
    BackendError,
    BackendRefused,
    BackendReplyInvalid,
    BackendTimeout,
    BackendUnavailable,
    InputTooLong,
    SettingsError,
)

Maker = Callable[..., OllamaEmbedder | OpenAIEmbedder]


@pytest.fixture(params=[OllamaEmbedder, OpenAIEmbedder], ids=["ollama", "openai"])
def make(request: pytest.FixtureRequest, stub: StubServer) -> Maker:
    return lambda model="stub", **given: request.param(stub.url, model, **given)


def embedded_texts(stub: StubServer) -> list[str]:
    paths = ("/api/embed", "/v1/embeddings")
    return [text for request in stub.requests if request["path"] in paths for text in request["body"]["input"]]


def test_c073_prefix_of_the_family_on_every_path(make: Maker, stub: StubServer) -> None:
    embedder = make("hub/multilingual-e5-large")
    embedder.embed_documents(["開館は九時", "閉館は五時"])
    embedder.embed_query("何時？")
    assert embedder.dimension == 256
    embed_each(embedder, ["休館日"])
    assert embedded_texts(stub) == ["passage: 開館は九時", "passage: 閉館は五時", "query: 何時？", "passage: 休館日"]


def test_prefixes_of_the_settings_win(make: Maker, stub: StubServer) -> None:
    embedder = make("e5-small", query_prefix="", document_prefix="文: ")
    embedder.embed_query("何時？")
    embedder.embed_documents(["開館"])
    assert embedded_texts(stub) == ["何時？", "文: 開館"]
    assert (embedder.query_prefix, embedder.document_prefix) == ("", "文: ")


def test_long_lists_go_in_batches_and_keep_their_order(make: Maker, stub: StubServer) -> None:
    embedder = make(batch_count=3)
    texts = [f"項目{number}" for number in range(8)]
    vectors = embedder.embed_documents(texts)
    assert vectors.shape == (8, 256) and vectors.dtype == np.float32
    assert all(np.allclose(embedder.embed_query(text), row) for text, row in zip(texts, vectors, strict=True))
    sizes = [len(r["body"]["input"]) for r in stub.requests if "input" in r["body"]]
    assert sizes[:3] == [3, 3, 2]


def test_empty_list_gives_no_rows(make: Maker) -> None:
    assert make().embed_documents([]).shape == (0, 256)


@pytest.mark.parametrize("style", ["nan", "500"])
def test_c070_bad_text_loses_only_itself(make: Maker, stub: StubServer, cases: Path, style: str) -> None:
    stub.options.nan_marker, stub.options.nan_style = "NANNAN", style
    paragraphs = (cases / "C070" / "one_bad_chunk.md").read_text(encoding="utf-8").split("\n\n")
    embedder = make()
    embedded = embed_each(embedder, paragraphs)
    (bad,) = [i for i, text in enumerate(paragraphs) if "NANNAN" in text]
    assert [failure.position for failure in embedded.failures] == [bad]
    assert embedded.positions == tuple(i for i in range(len(paragraphs)) if i != bad)
    for position, vector in zip(embedded.positions, embedded.vectors, strict=True):
        assert np.allclose(vector, embedder.embed_query(paragraphs[position]))
    assert len(stub.requests) < 25, "no endless retry"


def test_several_bad_texts_in_a_row_are_not_taken_for_a_dead_server(make: Maker, stub: StubServer) -> None:
    stub.options.nan_marker = "NANNAN"
    texts = [f"NANNAN{n}" if 5 <= n < 12 else f"項目{n}" for n in range(40)]
    embedded = embed_each(make(), texts)
    assert [failure.position for failure in embedded.failures] == list(range(5, 12))
    assert len(embedded.vectors) == 33


def test_all_texts_bad_gives_no_vectors_and_all_failures(make: Maker, stub: StubServer) -> None:
    stub.options.nan_marker = "NANNAN"
    embedded = embed_each(make(), ["NANNAN1", "NANNAN2"])
    assert embedded.vectors.shape == (0, 256)
    assert "NaN" in embedded.failures[0].error.ja


def test_c069_text_beyond_the_window_is_embedded_in_halves(make: Maker, stub: StubServer, cases: Path) -> None:
    stub.options.embed_max_chars = 500
    text = (cases / "C069" / "dense_kanji_tail.txt").read_text(encoding="utf-8")
    assert len(text) > 900
    embedder = make()
    with pytest.raises(InputTooLong, match="chunk.size"):
        embedder.embed_documents([text])
    embedded = embed_each(embedder, ["開館は九時です。", text])
    assert embedded.positions == (0, 1) and embedded.failures == ()
    assert np.allclose(np.linalg.norm(embedded.vectors, axis=1), 1)
    without_tail = embed_each(embedder, [text[:-40]]).vectors[0]
    assert embedded.vectors[1] @ without_tail < 0.9999, "the fact at the very end counts"


def test_text_that_cannot_be_cut_further_is_a_failure(make: Maker, stub: StubServer) -> None:
    stub.options.embed_max_chars = 5
    embedded = embed_each(make(query_prefix="", document_prefix="長い前置き: "), ["開館"])
    assert isinstance(embedded.failures[0].error, InputTooLong)


def test_c074_server_that_dies_on_the_way_is_not_asked_for_every_text(
    make: Maker, stub: StubServer, cases: Path
) -> None:
    paragraphs = (cases / "C074" / "long_ingest.md").read_text(encoding="utf-8").split("\n\n")
    stub.options.embed_fail_after = 40
    embedder = make()
    done = embed_each(embedder, paragraphs[:32])
    assert len(done.vectors) == 32
    with pytest.raises(BackendError, match="failed to generate embedding"):
        embed_each(embedder, paragraphs[32:])
    assert stub.state.embedded < 60
    stub.options.embed_fail_after = None
    assert len(embed_each(embedder, paragraphs[32:64]).vectors) == 32


def test_c075_server_that_is_down_says_what_to_start(make: Maker, stub: StubServer) -> None:
    stub.options.embed_down = True
    with pytest.raises(BackendUnavailable, match="embedding server is down"):
        make().embed_query("開館は？")
    embedded_before = len(stub.requests)
    with pytest.raises(BackendUnavailable):
        embed_each(make(), ["あ"] * 100)
    assert len(stub.requests) - embedded_before <= 2


@pytest.mark.parametrize(
    ("embedder", "advice"),
    [
        (OllamaEmbedder("http://127.0.0.1:9", "bge-m3"), "ollama serve.*ollama pull bge-m3"),
        (OpenAIEmbedder("http://127.0.0.1:9/v1", "ruri"), "start the embedding server"),
    ],
)
def test_nobody_listens(embedder: OllamaEmbedder | OpenAIEmbedder, advice: str) -> None:
    with pytest.raises(BackendUnavailable, match=advice):
        embedder.embed_query("開館は？")


def test_c071_changed_dimension_is_noticed(make: Maker, stub: StubServer) -> None:
    embedder = make()
    assert embedder.dimension == 256
    stub.options.dim = 384
    with pytest.raises(BackendReplyInvalid, match="from 256 to 384"):
        embedder.embed_query("開館は？")
    with pytest.raises(BackendReplyInvalid, match="rebuild the index"):
        embed_each(embedder, ["開館"])
    assert make().dimension == 384


def test_slow_server_ends_in_a_timeout(make: Maker, stub: StubServer) -> None:
    stub.options.embed_delay_per_text = 1.0
    with pytest.raises(BackendTimeout, match=r"within 0\.2 s"):
        make(reply_s=0.2).embed_query("開館は？")


def test_ollama_window_is_what_the_model_has(stub: StubServer) -> None:
    stub.options.ctx = 512
    embedder = OllamaEmbedder(stub.url, "stub")
    embedder.embed_query("開館は？")
    assert embedder.max_tokens == 512
    (sent,) = stub.bodies("/api/embed")
    assert sent["truncate"] is False


def test_key_is_sent_as_bearer(stub: StubServer) -> None:
    OpenAIEmbedder(stub.url, "stub", api_key="secret").embed_query("開館は？")
    assert stub.requests[0]["authorization"] == "Bearer secret"


@contextmanager
def replying(status: int, body: bytes) -> Iterator[str]:
    """A server that always says the same."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Keep the test output quiet."""

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def rows(*vectors: object) -> bytes:
    return json.dumps({"data": [{"index": i, "embedding": v} for i, v in enumerate(vectors)]}).encode()


@pytest.mark.parametrize(
    ("status", "body", "error", "message"),
    [
        (200, b"<html>", BackendReplyInvalid, "not JSON"),
        (200, b"[]", BackendReplyInvalid, "not JSON"),
        (200, b"{}", BackendReplyInvalid, "0 vectors for 2"),
        (200, b'{"data": [{"vector": [1]}]}', BackendReplyInvalid, "another form"),
        (200, rows([1.0, 0.0]), BackendReplyInvalid, "1 vectors for 2"),
        (200, rows([1.0, 0.0], [0.0, 0.0]), BackendReplyInvalid, "text 2 .*all zeros"),
        (200, rows([1.0, 0.0], "x"), BackendReplyInvalid, "text 2 .*not a list"),
        (200, rows([1.0, 0.0], []), BackendReplyInvalid, "text 2 .*not a list"),
        (200, rows([1.0, 0.0], [float("inf"), 0.0]), BackendReplyInvalid, "infinity"),
        (200, b'{"error": {"message": "maximum context length is 512"}}', InputTooLong, "maximum context"),
        (404, b'{"error": "model \\"m\\" not found"}', BackendRefused, "not found"),
        (404, b'{"error": "model \\"m\\" not found"}', BackendRefused, "set embedding.model"),
        (401, b'{"error": "bad key"}', BackendRefused, "API key .*bad key"),
        (413, b'{"error": "`inputs` must have less than 512 tokens. Given: 600"}', InputTooLong, "chunk.size smaller"),
        (429, b"slow down", BackendUnavailable, "slow down"),
    ],
)
def test_wrong_replies_are_named(status: int, body: bytes, error: type[BackendError], message: str) -> None:
    with replying(status, body) as url, pytest.raises(error, match=message):
        OpenAIEmbedder(url, "m").embed_documents(["一", "二"])


def test_rows_are_put_in_order_by_index() -> None:
    body = json.dumps({"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 0]}]}).encode()
    with replying(200, body) as url:
        assert OpenAIEmbedder(url, "m").embed_documents(["一", "二"]).tolist() == [[1, 0], [0, 1]]


def test_ollama_reply_without_vectors_is_named() -> None:
    with replying(200, b'{"model": "m"}') as url, pytest.raises(BackendReplyInvalid, match="embedding model"):
        OllamaEmbedder(url, "m").embed_query("一")


def test_ollama_without_the_model_names_the_command() -> None:
    with replying(404, b'{"error": "model \\"bge-m3\\" not found, try pulling it first"}') as url:
        with pytest.raises(BackendRefused, match=r"run `ollama pull bge-m3`"):
            OllamaEmbedder(url, "bge-m3").embed_query("一")


@pytest.mark.parametrize("url", ["127.0.0.1:11434", "http://[::1"])
def test_url_that_is_none(url: str) -> None:
    with pytest.raises(SettingsError, match="URL"):
        OllamaEmbedder(url, "m").embed_query("一")
