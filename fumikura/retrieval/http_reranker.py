"""A cross-encoder behind a /rerank address: Jina and Cohere style, or text-embeddings-inference (TEI)."""

from collections.abc import Sequence
from math import isfinite
from typing import Any, Literal

import httpx2

from fumikura.errors import BackendRefused, BackendReplyInvalid, BackendTimeout, BackendUnavailable

RerankKind = Literal["jina", "tei"]


class HttpReranker:
    """Asks `url`/rerank. Proxies of the environment are not used: the texts go to that server only."""

    def __init__(
        self,
        url: str,
        model: str = "",
        kind: RerankKind = "jina",
        *,
        api_key: str | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        self._url = url.rstrip("/").removesuffix("/rerank") + "/rerank"
        self._model = model
        self._kind = kind
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx2.Client(headers=headers, timeout=timeout_s, trust_env=False)

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score for each text, higher is better.

        Raises BackendUnavailable, BackendTimeout, BackendRefused and BackendReplyInvalid.
        """
        if not texts:
            return []
        return self._scores(self._post(self._request(query, list(texts))), len(texts))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _request(self, query: str, texts: list[str]) -> dict[str, Any]:
        if self._kind == "tei":
            return {"query": query, "texts": texts, "truncate": True}
        return {
            "model": self._model,
            "query": query,
            "documents": texts,
            "top_n": len(texts),
            "return_documents": False,
        }

    def _post(self, request: dict[str, Any]) -> httpx2.Response:
        try:
            response = self._client.post(self._url, json=request)
        except httpx2.TimeoutException as error:
            raise BackendTimeout(
                ja=f"リランカー {self._url} が時間内に応答しませんでした。",
                en=f"The reranker {self._url} did not answer in time.",
            ) from error
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise BackendUnavailable(
                ja=f"リランカー {self._url} に接続できません。起動しているか、rerank.url を確かめてください。",
                en=f"Cannot reach the reranker {self._url}: check that it runs and check rerank.url.",
            ) from error
        if response.status_code in (429, 502, 503):
            raise BackendUnavailable(
                ja=f"リランカー {self._url} は混雑中か準備中です (HTTP {response.status_code})。",
                en=f"The reranker {self._url} is busy or not ready (HTTP {response.status_code}).",
            )
        if response.status_code != 200:
            raise BackendRefused(
                ja=f"リランカー {self._url} が要求を断りました (HTTP {response.status_code})。"
                f"モデル名 {self._model!r} と rerank.kind を確かめてください。",
                en=f"The reranker {self._url} refused the request (HTTP {response.status_code}): check the model name "
                f"{self._model!r} and rerank.kind.",
            )
        return response

    def _scores(self, response: httpx2.Response, text_count: int) -> list[float]:
        name = "score" if self._kind == "tei" else "relevance_score"
        try:
            reply = response.json()
            results = reply if self._kind == "tei" else reply["results"]
            scores = {int(result["index"]): float(result[name]) for result in results}
        except (ValueError, KeyError, TypeError) as error:
            raise self._invalid() from error
        if sorted(scores) != list(range(text_count)) or not all(map(isfinite, scores.values())):
            raise self._invalid()
        return [scores[index] for index in range(text_count)]

    def _invalid(self) -> BackendReplyInvalid:
        return BackendReplyInvalid(
            ja=f"リランカー {self._url} の応答が読めません。rerank.kind ({self._kind}) を確かめてください。",
            en=f"Cannot read the reply of the reranker {self._url}: check that rerank.kind ({self._kind}) fits it.",
        )
