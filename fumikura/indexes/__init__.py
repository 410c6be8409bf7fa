"""Finds the nearest vectors of a notebook: exactly in memory, with FAISS, or with Chroma.

Every index is a cache of the store and brings itself in step before it answers; a lost or damaged one is made
again. It refuses to know texts, sources' names, or how vectors were made.
"""

from fumikura.indexes.chroma import ChromaIndex
from fumikura.indexes.exact import ExactIndex
from fumikura.indexes.flat import FaissIndex

__all__ = ["ChromaIndex", "ExactIndex", "FaissIndex"]
