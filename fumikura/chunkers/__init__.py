"""Chunkers: sections become chunks, each a slice of its section with its offsets.

A chunker never crosses a section, leaves no text out, and counts tokens with the embedder's own count. It refuses to
know file kinds, stores and questions.
"""

from fumikura.chunkers.fixed import FixedChunker
from fumikura.chunkers.semantic import SemanticChunker
from fumikura.chunkers.structure import StructureChunker

__all__ = ["FixedChunker", "SemanticChunker", "StructureChunker"]
