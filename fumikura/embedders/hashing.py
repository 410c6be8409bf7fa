"""An embedder without a model, for tests and for trying the flow: texts that share characters are near."""

import hashlib
from collections.abc import Sequence

import numpy as np

from fumikura.embedders.vectors import unit_vectors
from fumikura.embedders.window import check_window
from fumikura.records import Vector, Vectors


class HashingEmbedder:
    """Counts characters and character pairs into hashed places. A token is a character."""

    query_prefix = ""
    document_prefix = ""
    standout_cosine: float | None = None

    def __init__(self, dimension: int = 64, max_tokens: int = 512) -> None:
        self.name = f"hashing-{dimension}"
        self.dimension = dimension
        self.max_tokens = max_tokens

    def embed_query(self, text: str) -> Vector:
        """Return shape (dimension,)."""
        row: Vector = self.embed_documents([text])[0]
        return row

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return shape (len(texts), dimension). Raises InputTooLong."""
        for position, text in enumerate(texts, start=1):
            check_window(self.name, position, len(text), self.max_tokens)
        return unit_vectors([self._row(text) for text in texts], len(texts), self.dimension, self.name)

    def count_tokens(self, text: str) -> int:
        """Return the number of characters."""
        return len(text)

    def _row(self, text: str) -> Vector:
        row = np.zeros(self.dimension, np.float32)
        grams = [*text, *(text[i : i + 2] for i in range(len(text) - 1))]
        for gram in grams or [""]:
            digest = hashlib.blake2b(gram.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            row[int.from_bytes(digest, "big") % self.dimension] += 1.0
        return row
