import socket
import time

import pytest

from fumikura.errors import BackendRefused, BackendReplyInvalid, BackendTimeout, BackendUnavailable
from fumikura.retrieval import HttpReranker


@pytest.fixture
def reranker(rerank_server):
    made = []

    def make(kind="jina", **options):
        made.append(HttpReranker(rerank_server.url, "cross-1", kind, **options))
        return made[-1]

    yield make
    for client in made:
        client.close()


def test_scores_come_back_in_the_order_of_the_texts(rerank_server, reranker):
    rerank_server.reply = lambda request: {
        "results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": -2}]
    }
    assert reranker(api_key="k").rerank("鍵は？", ["灯台", "鍵"]) == [-2.0, 0.9]
    (request,) = rerank_server.requests
    assert (request["path"], request["model"], request["documents"]) == ("/rerank", "cross-1", ["灯台", "鍵"])
    assert rerank_server.authorization == "Bearer k"


def test_tei_has_its_own_form(rerank_server, reranker):
    rerank_server.reply = lambda request: [{"index": i, "score": len(text)} for i, text in enumerate(request["texts"])]
    assert reranker("tei").rerank("鍵は？", ["灯台", "鍵"]) == [2.0, 1.0]
    assert rerank_server.authorization is None


def test_nothing_is_asked_for_no_texts(rerank_server, reranker):
    assert reranker().rerank("鍵は？", []) == []
    assert rerank_server.requests == []


@pytest.mark.parametrize(("status", "error"), [(404, BackendRefused), (400, BackendRefused), (503, BackendUnavailable)])
def test_an_error_status_says_what_to_check(rerank_server, reranker, status, error):
    rerank_server.status = status
    with pytest.raises(error, match=str(status)) as caught:
        reranker().rerank("鍵は？", ["鍵"])
    assert str(status) in caught.value.ja


@pytest.mark.parametrize(
    ("status", "error", "advice"),
    [
        (401, BackendRefused, "API key"),
        (403, BackendRefused, "API key"),
        (504, BackendUnavailable, "try again"),
        (500, BackendRefused, "cross-1.*rerank"),
    ],
)
def test_the_servers_own_text_is_shown(rerank_server, reranker, status, error, advice):
    rerank_server.status = status
    rerank_server.reply = lambda request: {"error": {"message": "no room on the GPU"}}
    with pytest.raises(error, match=advice) as caught:
        reranker().rerank("鍵は？", ["鍵"])
    assert "no room on the GPU" in caught.value.en
    assert "no room on the GPU" in caught.value.ja


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "http://[::1"])
def test_a_url_that_is_none_costs_the_order_and_not_the_search(url):
    with pytest.raises(BackendUnavailable, match="URL of Reranker cross-1 is not valid"):
        HttpReranker(url, "cross-1").rerank("鍵は？", ["鍵"])


@pytest.mark.parametrize(
    "reply",
    [
        b"<html>",
        [],
        {"results": []},
        {"results": [{"index": 0}]},
        {"results": [{"index": 1, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": float("nan")}]},
        {"results": None},
    ],
)
def test_a_reply_that_breaks_the_form_is_refused(rerank_server, reranker, reply):
    rerank_server.reply = lambda request: reply
    with pytest.raises(BackendReplyInvalid, match=r"rerank\.kind"):
        reranker().rerank("鍵は？", ["鍵"])


def test_a_slow_server_times_out(rerank_server, reranker):
    rerank_server.reply = lambda request: time.sleep(0.5)
    with pytest.raises(BackendTimeout):
        reranker(timeout_s=0.05).rerank("鍵は？", ["鍵"])


def test_a_server_that_is_not_running_is_unavailable(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")  # never asked: private texts go to the server only
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    reranker = HttpReranker(url)
    with pytest.raises(BackendUnavailable, match=url):
        reranker.rerank("鍵は？", ["鍵"])
    reranker.close()
