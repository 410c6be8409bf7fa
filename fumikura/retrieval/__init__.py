"""A question becomes hits: dense and keyword search fused, copies counted once, passages widened to their neighbours.

It refuses to know how chunks are stored, which embedder or index serves it, and what a prompt looks like.
"""

from fumikura.retrieval.http_reranker import HttpReranker, RerankKind
from fumikura.retrieval.retriever import Retriever

__all__ = ["HttpReranker", "RerankKind", "Retriever"]
