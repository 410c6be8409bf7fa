"""Keeps sources, their vectors, jobs, conversations and notes in one SQLite file, and searches the keywords.

Comes in: a source with its chunks, and their vectors. Goes out: texts by offset, ranked chunk ids, vectors for an
index. It refuses to know how texts are read, cut, embedded or ranked by vectors.
"""

from fumikura.store.checks import Problem
from fumikura.store.chunks import ChunkContent
from fumikura.store.conversations import ConversationRow, TurnRow, TurnState
from fumikura.store.cores import MODES, Candidate, check_mode
from fumikura.store.jobs import JobRow, JobState
from fumikura.store.keyword import TermAnalyzer
from fumikura.store.notebooks import NotebookRow
from fumikura.store.notes import NoteRow
from fumikura.store.store import Store
from fumikura.store.texts import content_sha256

__all__ = [
    "Candidate",
    "ChunkContent",
    "ConversationRow",
    "JobRow",
    "JobState",
    "MODES",
    "NoteRow",
    "NotebookRow",
    "Problem",
    "Store",
    "TermAnalyzer",
    "TurnRow",
    "TurnState",
    "check_mode",
    "content_sha256",
]
