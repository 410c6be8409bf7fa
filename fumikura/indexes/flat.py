"""FAISS IndexFlatIP: exact search by FAISS, with one file a notebook that spares reading the store at start.

The file is a cache. It is replaced as a whole, checked when it is read, and made again when anything is wrong.
"""

import hashlib
import logging
import os
import threading
import zipfile
import zlib
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fumikura.errors import MissingExtra
from fumikura.indexes.mirror import Difference, difference, in_step
from fumikura.indexes.ranking import Scores, best_of_engine, check_query
from fumikura.protocols import VectorReader
from fumikura.records import Ids, ScoredChunk, Vector

logger = logging.getLogger(__name__)

# What reading a cut, overwritten or foreign file raises; zip members carry a checksum, so damage never passes.
UNUSABLE = (OSError, EOFError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error)


@dataclass
class _Flat:
    """A FAISS index with the source of each of its ids. `index` is None while there are no rows."""

    space: str = ""
    revision: int = -1
    ids: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    sources: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    index: Any = None


class FaissIndex:
    """Inner products by FAISS. `folder` holds its files; nothing else may lie there."""

    name = "faiss"

    def __init__(self, reader: VectorReader, folder: Path) -> None:
        self._faiss = _import_faiss()
        self._reader = reader
        self._folder = folder
        self._flats: dict[str, _Flat] = {}
        self._lock = threading.Lock()  # FAISS may not search and change at once

    def search(
        self, notebook: str, query: Vector, top_k: int, source_rows: Collection[int] | None = None
    ) -> list[ScoredChunk]:
        """Return up to `top_k` chunks, nearest first. Raises IndexMismatch (dimension) or StoreError."""
        with self._lock:
            flat = self._current(notebook)
            if flat.index is None or top_k < 1:
                return []
            query = check_query(query, flat.index.d)
            allowed = None if source_rows is None else flat.ids[np.isin(flat.sources, list(source_rows))]
            count = len(flat.ids) if allowed is None else len(allowed)
            if not count:
                return []
            return best_of_engine(lambda wanted: self._nearest(flat, query, wanted, allowed), top_k, count)

    def refresh(self, notebook: str) -> None:
        """Bring the index and its file in step with the store."""
        with self._lock:
            self._current(notebook)

    def _nearest(self, flat: _Flat, query: Vector, count: int, allowed: Ids | None) -> tuple[Ids, Scores]:
        selector = None if allowed is None else self._faiss.IDSelectorBatch(allowed)
        parameters = None if selector is None else self._faiss.SearchParameters(sel=selector)
        scores, ids = flat.index.search(query[np.newaxis], count, params=parameters)
        found = ids[0] >= 0
        return ids[0][found], scores[0][found]

    def _current(self, notebook: str) -> _Flat:
        flat = self._flats.get(notebook) or self._load(notebook)
        if not in_step(self._reader, notebook, flat.space, flat.revision):
            change = difference(self._reader, notebook, flat.space, flat.ids)
            differs = len(change.removed) or len(change.added)
            if differs:
                flat = self._changed(notebook, flat, change)
            # Also without a difference: another process may have saved what has been removed since.
            if differs or flat.revision >= 0:
                self._save(notebook, flat)
            flat.space, flat.revision = change.space, change.revision
        self._flats[notebook] = flat
        return flat

    def _changed(self, notebook: str, flat: _Flat, change: Difference) -> _Flat:
        kept = ~np.isin(flat.ids, change.removed, assume_unique=True)
        if not kept.any():
            flat = _Flat(change.space)
        elif len(change.removed):
            flat.index.remove_ids(change.removed)
            flat.ids, flat.sources = flat.ids[kept], flat.sources[kept]
        new = self._reader.read_vectors(notebook, change.added)
        if len(new.ids):
            if flat.index is None:
                flat.index = self._faiss.IndexIDMap2(self._faiss.IndexFlatIP(new.vectors.shape[1]))
            flat.index.add_with_ids(new.vectors, new.ids)
            flat.ids, flat.sources = np.concatenate([flat.ids, new.ids]), np.concatenate([flat.sources, new.sources])
        return flat

    def _path(self, notebook: str) -> Path:
        return self._folder / f"{hashlib.sha256(notebook.encode()).hexdigest()[:32]}.npz"

    def _load(self, notebook: str) -> _Flat:
        """Return what the file holds, or an empty index when it cannot be used: the store then fills it."""
        path = self._path(notebook)
        try:
            # Opened here: np.load leaves a file open that turns out to be damaged.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
                flat = _Flat(str(saved["space"]), -1, saved["ids"], saved["sources"])
                flat.index = self._faiss.deserialize_index(saved["index"])
            _check_ids(self._faiss.vector_to_array(flat.index.id_map), flat)
            return flat
        except UNUSABLE:
            # Deleted: in a notebook emptied since, nothing would replace the vectors that it may still hold.
            with suppress(OSError):
                path.unlink(missing_ok=True)
            return _Flat()

    def _save(self, notebook: str, flat: _Flat) -> None:
        """Replace the file in one step, so that a crash leaves the old one or the new one; no rows, no file."""
        path = self._path(notebook)
        try:
            for left in self._folder.glob(f"{path.stem}.*.tmp"):  # by a process killed while it saved
                left.unlink(missing_ok=True)
            if flat.index is None:
                path.unlink(missing_ok=True)
            else:
                _write(path, flat, self._faiss.serialize_index(flat.index))
        except OSError as error:
            # The answer does not depend on the file: without it the next start reads the store.
            logger.warning("cannot write the index file %s: %s", path, error.strerror)


def _write(path: Path, flat: _Flat, index: NDArray[np.uint8]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            np.savez(file, space=np.array(flat.space), ids=flat.ids, sources=flat.sources, index=index)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _check_ids(index_ids: Ids, flat: _Flat) -> None:
    if not np.array_equal(np.sort(index_ids), np.sort(flat.ids)) or len(flat.sources) != len(flat.ids):
        raise ValueError("the index and its ids differ")


def _import_faiss() -> Any:  # noqa: ANN401  faiss has no types
    try:
        import faiss
    except ImportError as error:
        raise MissingExtra("FAISS", "faiss") from error
    return faiss
