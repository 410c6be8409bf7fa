import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from fumikura.chunkers import FixedChunker, StructureChunker
from fumikura.embedders import HashingEmbedder
from fumikura.indexes import ExactIndex
from fumikura.japanese import Analyzer
from fumikura.loaders import MarkdownLoader
from fumikura.records import SearchResult, SourceFile
from fumikura.retrieval import Retriever
from fumikura.store import Store

CASES = Path(__file__).parents[1] / "cases"


@dataclass
class Library:
    """A real store with texts in it, and real parts around it."""

    store: Store
    embedder: HashingEmbedder
    embeds: bool = True

    def add(self, name: str, text: str, *, notebook: str = "default", size: int = 60, overlap: int = 0) -> str:
        limits = {"max_tokens": 10_000, "count_tokens": len}
        chunker = FixedChunker(size, overlap, **limits) if overlap else StructureChunker(size, **limits)
        source = MarkdownLoader().load(SourceFile(name, name, text.encode()))
        summary = self.store.put_source(notebook, source, chunker.chunk(source), chunker.recipe)
        pending = self.store.pending_chunks(notebook, self.embedder.name, 1000)
        if pending and self.embeds:
            vectors = self.embedder.embed_documents([chunk.embed_text for chunk in pending])
            self.store.put_vectors(notebook, self.embedder.name, pending, vectors)
        return summary.source_id

    def retriever(self, *, embedder=None, index=None, **options) -> Retriever:
        options = {"context_tokens": 400, "count_tokens": len, **options}
        return Retriever(self.store, index or ExactIndex(self.store), embedder or self.embedder, **options)

    def search(self, query: str, top_k: int = 5, **options) -> SearchResult:
        return self.retriever().search("default", query, top_k, **options)


@pytest.fixture(scope="session")
def analyzer() -> Analyzer:
    return Analyzer()


@pytest.fixture
def library(tmp_path: Path, analyzer: Analyzer) -> Iterator[Library]:
    store = Store(tmp_path / "fumikura.sqlite", analyzer, synchronous="normal")
    embedder = HashingEmbedder(256, 4000)
    store.use_recipe(embedder.name)
    yield Library(store, embedder)
    store.close()


@dataclass
class RerankServer:
    """A server that gives `reply(request)` with `status`, and keeps what it was asked."""

    url: str = ""
    status: int = 200
    reply: Callable[[dict], object] = lambda request: []
    requests: list[dict] = field(default_factory=list)
    authorization: str | None = None


@pytest.fixture
def rerank_server() -> Iterator[RerankServer]:
    state = RerankServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            state.authorization = self.headers["Authorization"]
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append({"path": self.path, **request})
            reply = state.reply(request)
            body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self.send_response(state.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()
