"""A cross-encoder behind a /rerank address: Jina and Cohere style, or text-embeddings-inference (TEI)."""

from collections.abc import Sequence
from math import isfinite
from typing import Any, Literal

import httpx2

from fumikura.backends import Json, Server, Words, ask
from fumikura.errors import BackendReplyInvalid, BackendUnavailable, SettingsError

RerankKind = Literal["jina", "tei"]


class HttpReranker:
    """Asks `url`/rerank, and no other address: proxies of the environment are not used."""

    def __init__(
        self,
        url: str,
        model: str = "",
        kind: RerankKind = "jina",
        *,
        api_key: str | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        self._server = Server(
            f"Reranker {model}".strip(),
            url.rstrip("/").removesuffix("/rerank") + "/rerank",
            start=Words("起動しているか、rerank.url を確かめてください。", "check that it runs and check rerank.url"),
            model=Words("rerank.model を確かめてください。", "check rerank.model"),
            shorten=Words("chunk.size を小さくしてください。", "make chunk.size smaller"),
            check=Words(
                f"rerank.url、rerank.model（{model!r}）、rerank.kind（{kind}）を確かめてください。",
                f"check rerank.url, rerank.model ({model!r}) and rerank.kind ({kind})",
            ),
            api_key=api_key,
        )
        self._model = model
        self._kind = kind
        self._limits = httpx2.Timeout(timeout_s)

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score for each text, higher is better. Raises BackendError."""
        if not texts:
            return []
        kind = list if self._kind == "tei" else dict
        try:
            reply = ask(self._server, "POST", "", self._request(query, list(texts)), self._limits, kind)
        except SettingsError as error:  # a wrong rerank.url costs the better order, not the search
            raise BackendUnavailable(ja=error.ja, en=error.en) from error
        return self._scores(reply, len(texts))

    def close(self) -> None:
        """Nothing to end: every request has a connection of its own."""

    def _request(self, query: str, texts: list[str]) -> Json:
        if self._kind == "tei":
            return {"query": query, "texts": texts, "truncate": True}
        return {
            "model": self._model,
            "query": query,
            "documents": texts,
            "top_n": len(texts),
            "return_documents": False,
        }

    def _scores(self, reply: Any, text_count: int) -> list[float]:  # noqa: ANN401 - as the server sent it
        name = "score" if self._kind == "tei" else "relevance_score"
        try:
            results = reply if self._kind == "tei" else reply["results"]
            scores = {int(result["index"]): float(result[name]) for result in results}
        except (ValueError, KeyError, TypeError) as error:
            raise self._invalid() from error
        if sorted(scores) != list(range(text_count)) or not all(map(isfinite, scores.values())):
            raise self._invalid()
        return [scores[index] for index in range(text_count)]

    def _invalid(self) -> BackendReplyInvalid:
        return BackendReplyInvalid(
            ja=f"{self._server.name} の応答に各文章の点数がありません。{self._server.check.ja}",
            en=f"The reply of {self._server.name} lacks a score for each text: {self._server.check.en}",
        )
