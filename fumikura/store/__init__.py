"""Keeps sources, sections, chunks, keywords, vectors and jobs in one SQLite file, and searches the keywords.

Comes in: a source with its chunks, and their vectors. Goes out: texts by offset, ranked chunk ids, vectors for an
index. It refuses to know how texts are read, cut, embedded or ranked by vectors.
"""

from fumikura.store.checks import Problem
from fumikura.store.chunks import ChunkContent
from fumikura.store.jobs import JobRow, JobState
from fumikura.store.keyword import TermAnalyzer
from fumikura.store.store import Store
from fumikura.store.texts import content_sha256

__all__ = ["ChunkContent", "JobRow", "JobState", "Problem", "Store", "TermAnalyzer", "content_sha256"]
