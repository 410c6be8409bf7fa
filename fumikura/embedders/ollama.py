"""Embeddings from Ollama's native API."""

import httpx2

from fumikura.backends import Server, Words
from fumikura.embedders.served import BATCH_COUNT, CONNECT_S, REPLY_S, SHORTEN, ServedEmbedder
from fumikura.errors import BackendRefused, BackendReplyInvalid

# Ollama reads at most 2,048 tokens of a text by default, whatever the model could take, and drops the rest in silence.
WINDOW_TOKENS = 2048


class OllamaEmbedder(ServedEmbedder):
    """Embedder over POST /api/embed; a text beyond the window is refused there, not cut.

    The first call lowers `max_tokens` to the context length that the server names for the model.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        query_prefix: str | None = None,
        document_prefix: str | None = None,
        max_tokens: int = WINDOW_TOKENS,
        keep_alive: str | int = "30m",
        batch_count: int = BATCH_COUNT,
        connect_s: float = CONNECT_S,
        reply_s: float = REPLY_S,
    ) -> None:
        server = Server(
            f"Ollama {model}",
            url.rstrip("/"),
            start=Words(
                f"ollama serve で起動し、ollama pull {model} を実行してください。",
                f"start it with `ollama serve` and run `ollama pull {model}`",
            ),
            model=Words(f"ollama pull {model} を実行してください。", f"run `ollama pull {model}`"),
            shorten=SHORTEN,
        )
        limits = httpx2.Timeout(reply_s, connect=connect_s)
        super().__init__(server, limits, model, query_prefix, document_prefix, max_tokens, batch_count)
        self._keep_alive = keep_alive
        self._window_known = False

    def _learn_window(self) -> None:
        try:
            sizes = self._post("/api/show", {"model": self.name}).get("model_info") or {}
        except BackendRefused:  # an old server; or the model is missing, which the embedding call says better
            sizes = {}
        found = [size for key, size in sizes.items() if key.endswith(".context_length") and isinstance(size, int)]
        self.max_tokens = min([*found, self.max_tokens])
        self._window_known = True

    def _request(self, texts: list[str]) -> list[object]:
        if not self._window_known:
            self._learn_window()
        body = {
            "model": self.name,
            "input": texts,
            "truncate": False,
            "keep_alive": self._keep_alive,
            "options": {"num_ctx": self.max_tokens},
        }
        rows = self._post("/api/embed", body).get("embeddings")
        if not isinstance(rows, list):
            raise BackendReplyInvalid(
                ja=f"Ollama の応答に {self.name} のベクトルがありません。埋め込み用のモデルか確かめてください。",
                en=f"Ollama's reply holds no vectors of {self.name}: check that it is an embedding model",
            )
        return rows
