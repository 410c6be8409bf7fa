"""Any model of the sentence-transformers library, such as ruri-v3; an optional extra (PyTorch)."""

import threading
from collections.abc import Sequence
from typing import Any

from fumikura.embedders.prefixes import prefixes_for
from fumikura.embedders.vectors import unit_vectors
from fumikura.embedders.window import check_window
from fumikura.errors import BackendUnavailable, MissingExtra
from fumikura.records import Vector, Vectors

RURI_V3 = "cl-nagoya/ruri-v3-310m"


class SentenceTransformersEmbedder:
    """Embedder in this process. `model` is a folder, or a hub name that the library may download at first use.

    `local_only` forbids that download, so that nothing leaves the machine. Loading the model lowers
    `max_tokens` to its window.
    """

    standout_cosine: float | None = None

    def __init__(
        self,
        model: str = RURI_V3,
        *,
        query_prefix: str | None = None,
        document_prefix: str | None = None,
        device: str | None = None,
        max_tokens: int = 8192,
        batch_count: int = 32,
        local_only: bool = True,
    ) -> None:
        family = prefixes_for(model)
        self.name = model
        self.query_prefix = family.query if query_prefix is None else query_prefix
        self.document_prefix = family.document if document_prefix is None else document_prefix
        self.max_tokens = max_tokens
        self._device = device
        self._batch_count = batch_count
        self._local_only = local_only
        self._lock = threading.Lock()
        self._loaded: Any = None

    @property
    def dimension(self) -> int:
        """Return the length of a vector; loads the model. Raises MissingExtra, BackendUnavailable."""
        with self._lock:
            return int(self._model().get_sentence_embedding_dimension())

    def embed_query(self, text: str) -> Vector:
        """Return shape (dimension,). Raises InputTooLong, BackendError."""
        row: Vector = self._embed([self.query_prefix + text])[0]
        return row

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return shape (len(texts), dimension). Raises InputTooLong, BackendReplyInvalid."""
        return self._embed([self.document_prefix + text for text in texts])

    def count_tokens(self, text: str) -> int:
        """Return the exact count by the model's tokenizer, prefix and special tokens included."""
        with self._lock:
            return self._count(self.document_prefix + text)

    def _embed(self, prefixed: list[str]) -> Vectors:
        with self._lock:
            model = self._model()
            for position, text in enumerate(prefixed, start=1):
                check_window(self.name, position, self._count(text), self.max_tokens)
            rows = model.encode(prefixed, batch_size=self._batch_count, show_progress_bar=False)
            dimension = int(model.get_sentence_embedding_dimension())
        return unit_vectors(rows, len(prefixed), dimension, self.name)

    def _count(self, text: str) -> int:
        return len(self._model().tokenizer(text)["input_ids"])

    def _model(self) -> Any:  # noqa: ANN401 - the optional library brings no types
        if self._loaded is None:
            self._loaded = self._load()
            self.max_tokens = min(self.max_tokens, int(self._loaded.max_seq_length))
        return self._loaded

    def _load(self) -> object:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingExtra("SentenceTransformersEmbedder", "sentence-transformers") from error
        try:
            return SentenceTransformer(self.name, device=self._device, local_files_only=self._local_only)
        except (OSError, ValueError) as error:
            raise BackendUnavailable(
                ja=f"埋め込みモデル {self.name} を読み込めません（{error}）。置き場所を確かめてください。",
                en=f"Cannot load the embedding model {self.name} ({error}): check its folder, or allow its download",
            ) from error
