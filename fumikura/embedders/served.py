"""What the embedders of all servers share: prefixes, batches, the dimension learnt from the first reply."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence

import httpx2
import numpy as np

from fumikura.backends import Json, Server, Words, ask
from fumikura.embedders.prefixes import Prefixes, prefixes_for
from fumikura.embedders.token_bound import token_bound
from fumikura.embedders.vectors import same_dimension, unit_vectors
from fumikura.records import Vector, Vectors

BATCH_COUNT = 32
CONNECT_S = 5.0
REPLY_S = 120.0
PROBE = "文庫"  # a harmless text: when it fails as well, the server is at fault and not the text
SHORTEN = Words("chunk.size を小さくしてください。", "make chunk.size smaller")


class ServedEmbedder(ABC):
    """Embedder over HTTP; a server's protocol is one method."""

    standout_cosine: float | None = None

    def __init__(
        self,
        server: Server,
        limits: httpx2.Timeout,
        model: str,
        query_prefix: str | None,
        document_prefix: str | None,
        max_tokens: int,
        batch_count: int,
    ) -> None:
        family = prefixes_for(model)
        chosen = Prefixes(
            family.query if query_prefix is None else query_prefix,
            family.document if document_prefix is None else document_prefix,
        )
        self.name = model
        self.query_prefix = chosen.query
        self.document_prefix = chosen.document
        self.max_tokens = max_tokens
        self._server = server
        self._limits = limits
        self._batch_count = batch_count
        self._dimension: int | None = None
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Return the length of a vector; embeds one word to learn it. Raises BackendError."""
        if self._dimension is None:
            self.embed_query(PROBE)
        assert self._dimension is not None
        return self._dimension

    def embed_query(self, text: str) -> Vector:
        """Return shape (dimension,). Raises BackendError."""
        row: Vector = self._embed([self.query_prefix + text])[0]
        return row

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return shape (len(texts), dimension). Raises InputTooLong, BackendReplyInvalid, BackendError."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        step = self._batch_count
        batches = [texts[start : start + step] for start in range(0, len(texts), step)]
        vectors = [self._embed([self.document_prefix + text for text in batch]) for batch in batches]
        return same_dimension(vectors, self.name)

    def count_tokens(self, text: str) -> int:
        """Return an upper bound: these servers offer no tokenizer."""
        return token_bound(self.document_prefix + text)

    @abstractmethod
    def _request(self, texts: list[str]) -> list[object]:
        """Return the rows that the server sent, in the order of the texts."""

    def _post(self, path: str, body: Json) -> Json:
        return ask(self._server, "POST", path, body, self._limits, dict)

    def _embed(self, texts: list[str]) -> Vectors:
        vectors = unit_vectors(self._request(texts), len(texts), self._dimension, self.name)
        with self._lock:
            self._dimension = vectors.shape[1]
        return vectors
