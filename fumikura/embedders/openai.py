"""Embeddings from an OpenAI-compatible server: vLLM, text-embeddings-inference, llama.cpp, LM Studio."""

import httpx2

from fumikura.backends import Server, Words
from fumikura.embedders.served import BATCH_COUNT, CONNECT_S, REPLY_S, SHORTEN, ServedEmbedder
from fumikura.errors import BackendReplyInvalid

WINDOW_TOKENS = 512  # of the smaller models; the settings may say more


class OpenAIEmbedder(ServedEmbedder):
    """Embedder over POST /v1/embeddings; the rows are put in order by their `index`."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        query_prefix: str | None = None,
        document_prefix: str | None = None,
        max_tokens: int = WINDOW_TOKENS,
        batch_count: int = BATCH_COUNT,
        connect_s: float = CONNECT_S,
        reply_s: float = REPLY_S,
    ) -> None:
        server = Server(
            f"OpenAI-compatible server {model}",
            url.rstrip("/").removesuffix("/v1"),
            start=Words(
                "埋め込みサーバーを起動し、URL とモデル名の設定を確かめてください。",
                "start the embedding server and check the URL and the model in the settings",
            ),
            model=Words(
                "サーバーが出しているモデル名を embedding.model に設定してください。",
                "set embedding.model to a name that the server serves",
            ),
            shorten=SHORTEN,
            api_key=api_key,
        )
        limits = httpx2.Timeout(reply_s, connect=connect_s)
        super().__init__(server, limits, model, query_prefix, document_prefix, max_tokens, batch_count)

    def _request(self, texts: list[str]) -> list[object]:
        body = {"model": self.name, "input": texts, "encoding_format": "float"}
        rows = self._post("/v1/embeddings", body).get("data")
        try:
            by_index = {int(row["index"]): row["embedding"] for row in rows or []}
            return [by_index[position] for position in range(len(by_index))]
        except (KeyError, TypeError, ValueError) as error:
            raise BackendReplyInvalid(
                ja=f"{self._server.name} の応答の形が違います。URL が埋め込みサーバーのものか確かめてください。",
                en=f"The reply of {self._server.name} has another form: check that the URL is an embedding server's",
            ) from error
