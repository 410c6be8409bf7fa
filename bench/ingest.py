"""Adding a folder of real Markdown: when it is searchable, what the rest costs beside the embedding itself.

The bare embedding time is taken inside the same run, around the very same calls: the ratio does not depend on how
busy the machine was.
"""

import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.report import Figure, at_most
from fumikura.library import Library, Places
from fumikura.protocols import Embedder
from fumikura.records import Vector, Vectors


class TimedEmbedder:
    """Passes everything on and adds up the seconds spent inside."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.name, self.max_tokens = inner.name, inner.max_tokens
        self.query_prefix, self.document_prefix = inner.query_prefix, inner.document_prefix
        self.standout_cosine = inner.standout_cosine
        self.seconds = 0.0
        self.text_count = 0

    @property
    def dimension(self) -> int:
        """Return the dimension of the inner embedder."""
        return self.inner.dimension

    def embed_query(self, text: str) -> Vector:
        """Pass on."""
        return self.inner.embed_query(text)

    def count_tokens(self, text: str) -> int:
        """Pass on."""
        return self.inner.count_tokens(text)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Pass on, timed."""
        begun = time.perf_counter()
        vectors = self.inner.embed_documents(texts)
        self.seconds += time.perf_counter() - begun
        self.text_count += len(texts)
        return vectors


class Marks:
    """A progress callback that notes when the last file was first split, that is: searchable by keyword."""

    def __init__(self) -> None:
        self.split_at = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Note the time of the last step of "split"."""
        if stage == "split" and done == total and not self.split_at:
            self.split_at = time.perf_counter()


def run(folder: Path) -> list[Figure]:
    """Add `folder` twice to a fresh store."""
    with tempfile.TemporaryDirectory() as data:
        library = Library.open(Places(None, Path(data)))
        embedder = TimedEmbedder(library.embedder)
        library.embedder = embedder
        marks = Marks()
        begun = time.perf_counter()
        reports = library.add("bench", [folder], marks)
        total = time.perf_counter() - begun
        embedded = embedder.text_count
        again = time.perf_counter()
        library.add("bench", [folder], marks)
        again = time.perf_counter() - again
        library.close()
    return [
        Figure("files", len(reports), ""),
        Figure("chunks embedded", embedded, ""),
        Figure("chunks a second, embedding alone", embedded / embedder.seconds, "1/s"),
        Figure("total", total, "s"),
        at_most("searchable by keyword after (share of total)", (marks.split_at - begun) / total, "", 0.05),
        at_most("total beside the bare embedding", total / embedder.seconds, "×", 1.1),
        at_most("adding the same folder again", again, "s", 3),
        Figure(
            "texts embedded by adding it again",
            embedder.text_count - embedded,
            "",
            "0",
            embedder.text_count == embedded,
        ),
        Figure("peak memory of the process", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB"),
    ]
