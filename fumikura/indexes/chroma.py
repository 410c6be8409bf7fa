"""Chroma as the vector index, embedded in a folder or as a server (`chroma run`) by its address.

Embedded, one process at a time: another process's rows are counted there but not found. Use a server for several.
Its HNSW graph is approximate (recall@20 0.998 at 100,000 vectors).
"""

import hashlib
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from fumikura.errors import BackendRefused, BackendUnavailable, MissingExtra, SettingsError
from fumikura.indexes.mirror import Difference, difference, in_step
from fumikura.indexes.ranking import Scores, best_of_engine, check_query
from fumikura.protocols import VectorReader
from fumikura.records import Ids, ScoredChunk, Vector, VectorRows


@dataclass(frozen=True)
class _Collection:
    """A collection with the space and revision of the store that it is in step with. `dimension` 0: empty."""

    space: str = ""
    revision: int = -1
    dimension: int = 0
    collection: Any = None


class ChromaIndex:
    """One collection for each notebook and space. Give `folder` or `url`; the first search opens it."""

    name = "chroma"

    def __init__(self, reader: VectorReader, *, folder: Path | None = None, url: str | None = None) -> None:
        if (folder is None) == (url is None):
            raise SettingsError(
                ja="Chroma にはフォルダーか URL のどちらか一つを指定してください。",
                en="Chroma needs either a folder or a URL",
            )
        self._chromadb = _import_chromadb()
        self._reader = reader
        self._folder = folder
        self._url = url
        self._client: Any = None
        self._collections: dict[str, _Collection] = {}
        self._lock = threading.Lock()

    def search(
        self, notebook: str, query: Vector, top_k: int, source_rows: Collection[int] | None = None
    ) -> list[ScoredChunk]:
        """Return up to `top_k` chunks, nearest first.

        Raises BackendUnavailable, BackendRefused, IndexMismatch (dimension) or StoreError.
        """
        allowed = None if source_rows is None else [int(row) for row in source_rows]
        if top_k < 1 or allowed == []:
            return []
        with self._lock, self._border():
            current = self._current(notebook)
            if not current.dimension:
                return []
            query = check_query(query, current.dimension)
            collection = current.collection
            return best_of_engine(
                lambda wanted: _nearest(collection, query, wanted, allowed), top_k, collection.count()
            )

    def refresh(self, notebook: str) -> None:
        """Bring the collection in step with the store. Raises BackendUnavailable or BackendRefused."""
        with self._lock, self._border():
            self._current(notebook)

    def close(self) -> None:
        """Let go of the folder or the connection; a later search opens it again."""
        with self._lock:
            self._disconnect()

    def _current(self, notebook: str) -> _Collection:
        current = self._collections.get(notebook, _Collection())
        if not in_step(self._reader, notebook, current.space, current.revision):
            current = self._collections[notebook] = self._synchronised(notebook)
        return current

    def _synchronised(self, notebook: str) -> _Collection:
        client = self._connected()
        space = self._reader.vector_space()
        # Without embedding_function=None Chroma would download a model.
        collection = client.get_or_create_collection(
            _name(notebook, space), embedding_function=None, metadata={"hnsw:space": "ip"}
        )
        held = np.array(sorted(int(name) for name in collection.get(include=[])["ids"]), np.int64)
        change = difference(self._reader, notebook, space, held)
        _update(collection, client.get_max_batch_size(), change, self._reader.read_vectors(notebook, change.added))
        first = collection.get(limit=1, include=["embeddings"])["embeddings"]
        if not len(first):
            client.delete_collection(_name(notebook, space))
            collection = None
        # If the space changed meanwhile, -1 makes the next search look again.
        revision = -1
        if change.space == space:
            revision = change.revision
            self._delete_others(notebook, space)
        return _Collection(space, revision, len(first[0]) if len(first) else 0, collection)

    def _delete_others(self, notebook: str, space: str) -> None:
        """Delete this notebook's collections of older recipes, whichever process made them."""
        prefix, present = _prefix(notebook, space), _name(notebook, space)
        # Listed in one go and deleted afterwards: a page would move when one before it is deleted.
        names = [found.name for found in self._client.list_collections(limit=self._client.count_collections())]
        for name in names:
            if name.startswith(prefix) and name != present:
                with suppress(self._chromadb.errors.NotFoundError):  # another process was quicker
                    self._client.delete_collection(name)

    def _connected(self) -> Any:  # noqa: ANN401
        if self._client is None:
            settings = self._chromadb.config.Settings(anonymized_telemetry=False)
            if self._folder is not None:
                self._client = self._chromadb.PersistentClient(str(self._folder), settings=settings)
            else:
                address = urlsplit(self._url or "")
                self._client = self._chromadb.HttpClient(
                    host=address.hostname or "",
                    port=address.port or 8000,
                    ssl=address.scheme == "https",
                    settings=settings,
                )
        return self._client

    @contextmanager
    def _border(self) -> Iterator[None]:
        """Turn the exceptions of chromadb and of its HTTP client into ours."""
        where = self._url or self._folder
        errors = self._chromadb.errors
        try:
            yield
        except (errors.InvalidArgumentError, errors.NotFoundError, errors.BatchSizeExceededError) as error:
            self._disconnect()
            raise BackendRefused(
                ja=f"Chroma（{where}）が要求を断りました（{error}）。もう一度実行してください。",
                en=f"Chroma ({where}) refused a request ({error}): try again",
            ) from error
        # chromadb reports a server that it cannot reach as a plain ValueError.
        except (errors.ChromaError, self._chromadb.api.fastapi.httpx.HTTPError, ValueError, OSError) as error:
            self._disconnect()
            raise BackendUnavailable(
                ja=f"Chroma（{where}）が応答しません（{error}）。起動しているか、フォルダーが使えるか確かめてください。",
                en=f"Chroma ({where}) does not answer ({error}): check that it runs, or that its folder can be used",
            ) from error

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        self._collections.clear()
        if client is None:
            return
        servers = [client._server, client._admin_client._server]
        client.close()
        for server in servers:
            if hasattr(server, "_session"):
                server._session.close()  # chromadb 1.5 leaves the sockets of its HTTP clients open


def _prefix(notebook: str, space: str) -> str:
    """Return what the names of this notebook's collections share: stores may share one server."""
    store_id = space.partition(" ")[0]
    return f"fumikura-{_key(store_id + ' ' + notebook)}-"


def _name(notebook: str, space: str) -> str:
    return _prefix(notebook, space) + _key(space)


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _update(collection: Any, batch_size: int, change: Difference, new: VectorRows) -> None:  # noqa: ANN401  see above
    for start in range(0, len(change.removed), batch_size):
        collection.delete(ids=[str(row) for row in change.removed[start : start + batch_size]])
    for start in range(0, len(new.ids), batch_size):
        batch = slice(start, start + batch_size)
        collection.upsert(
            ids=[str(row) for row in new.ids[batch]],
            embeddings=new.vectors[batch],
            metadatas=[{"source": int(row)} for row in new.sources[batch]],
        )


def _nearest(collection: Any, query: Vector, count: int, allowed: list[int] | None) -> tuple[Ids, Scores]:  # noqa: ANN401
    found = collection.query(
        query_embeddings=[query],
        n_results=count,
        where=None if allowed is None else {"source": {"$in": allowed}},
        include=["distances"],
    )
    ids = np.array([int(name) for name in found["ids"][0]], np.int64)
    # Chroma's distance of the space "ip" is 1 minus the inner product.
    return ids, 1 - np.array(found["distances"][0], np.float32)


def _import_chromadb() -> Any:  # noqa: ANN401
    try:
        import chromadb.api.fastapi
        import chromadb.config
        import chromadb.errors
    except ImportError as error:
        raise MissingExtra("Chroma", "chroma") from error
    return chromadb
