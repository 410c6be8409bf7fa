"""One suite over every vector index: exact, FAISS, Chroma in a folder, Chroma's server."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from fumikura.errors import IndexMismatch
from fumikura.indexes import ChromaIndex, ExactIndex, FaissIndex
from fumikura.japanese import Analyzer
from fumikura.records import Chunk, Section, Source, Vectors
from fumikura.store import Store, content_sha256

DIMENSION = 8
RECIPE = f"miniature dimension={DIMENSION}"
AXES = np.eye(DIMENSION, dtype=np.float32)


def put(store: Store, notebook: str, origin: str, vectors: Vectors) -> list[int]:
    """Store one chunk for each vector; return the chunk ids."""
    texts = [f"{origin} {row.tobytes().hex()} {number}。" for number, row in enumerate(vectors)]
    ends = np.cumsum([len(text) for text in texts]).tolist()
    chunks = [Chunk(0, end - len(text), end, text) for text, end in zip(texts, ends, strict=True)]
    text = "".join(texts)
    source = Source(origin, origin, "md", text, (Section((), 0, len(text), text),), "", len(text))
    hashes = [content_sha256(chunk.embed_text) for chunk in chunks]
    summary = store.put_source(notebook, source, chunks, "c", dict(zip(hashes, vectors, strict=True)))
    (row,) = store.source_rows(notebook, [summary.source_id])
    rows = store.read_vectors(notebook)
    return rows.ids[rows.sources == row].tolist()


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    return Analyzer()


@pytest.fixture
def store(tmp_path: Path, analyzer: Analyzer) -> Iterator[Store]:
    opened = Store(tmp_path / "fumikura.db", analyzer)
    opened.use_recipe(RECIPE)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real `chroma run` on a free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = Path(sys.executable).with_name("chroma")
    folder = tmp_path_factory.mktemp("chroma-server")
    arguments = [str(command), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def wait_for(port: int) -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(f"chroma run did not open port {port}")


Index = ExactIndex | FaissIndex | ChromaIndex
MakeIndex = Callable[[], Index]
KINDS = [
    "exact",
    "faiss",
    pytest.param("chroma", marks=pytest.mark.chroma),
    pytest.param("chroma server", marks=pytest.mark.chroma),
]


@pytest.fixture(params=KINDS)
def make_index(request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> Iterator[MakeIndex]:
    """Make an index over the store, as a start of the program does."""
    opened: list[Index] = []

    def make() -> Index:
        if request.param == "exact":
            index: Index = ExactIndex(store)
        elif request.param == "faiss":
            index = FaissIndex(store, tmp_path / "faiss")
        elif request.param == "chroma":
            index = ChromaIndex(store, folder=tmp_path / "chroma")
        else:
            # Test after test asks the same server; the store's own folder keeps the names apart.
            index = ChromaIndex(store, url=request.getfixturevalue("chroma_url"))
        opened.append(index)
        return index

    yield make
    for index in opened:
        if isinstance(index, ChromaIndex):
            index.close()


def ids_of(
    index: Index, notebook: str, query: np.ndarray, top_k: int, source_rows: list[int] | None = None
) -> list[int]:
    return [scored.chunk_id for scored in index.search(notebook, query, top_k, source_rows)]


def test_nearest_first_with_inner_products_as_scores(make_index, store):
    near = AXES[0] * 0.8 + AXES[1] * 0.6
    ids = put(store, "n", "a.md", np.stack([AXES[1], AXES[0], near]))
    found = make_index().search("n", AXES[0], 2)
    assert [scored.chunk_id for scored in found] == [ids[1], ids[2]]
    assert [scored.score for scored in found] == pytest.approx([1.0, 0.8], abs=1e-5)


def test_an_empty_or_unknown_notebook_finds_nothing(make_index, store):
    index = make_index()
    assert index.search("nowhere", AXES[0], 5) == []
    store.add_notebook("n")
    assert index.search("n", AXES[0], 5) == []
    (row,) = put(store, "n", "a.md", AXES[:1])
    assert ids_of(index, "n", AXES[0], 5) == [row]
    store.remove_source("n", "a.md")
    assert index.search("n", AXES[0], 5) == []


def test_top_k_beyond_the_count_returns_all(make_index, store):
    ids = put(store, "n", "a.md", AXES[:3])
    index = make_index()
    assert sorted(ids_of(index, "n", AXES[0], 50)) == ids
    assert index.search("n", AXES[0], 0) == []


def test_added_and_deleted_sources_count_at_the_next_search(make_index, store):
    first = put(store, "n", "a.md", AXES[:2])
    index = make_index()
    assert ids_of(index, "n", AXES[2], 1) == first[:1]
    second = put(store, "n", "b.md", AXES[2:4])
    assert ids_of(index, "n", AXES[2], 1) == second[:1]
    store.remove_source("n", "b.md")
    assert sorted(ids_of(index, "n", AXES[2], 9)) == first


def test_a_replaced_source_leaves_no_old_vector(make_index, store):
    old = put(store, "n", "a.md", AXES[:3])
    index = make_index()
    assert ids_of(index, "n", AXES[0], 1) == old[:1]
    new = put(store, "n", "a.md", AXES[4:6])
    assert sorted(ids_of(index, "n", AXES[0], 9)) == new and not set(old) & set(new)


def test_the_source_filter_works_before_top_k(make_index, store):
    put(store, "n", "near.md", np.repeat(AXES[:1], 5, axis=0))
    far = put(store, "n", "far.md", AXES[1:2])
    rows = store.source_rows("n", [store.get_source("n", "far.md").source_id])
    index = make_index()
    assert ids_of(index, "n", AXES[0], 1, rows) == far
    assert ids_of(index, "n", AXES[0], 1, []) == ids_of(index, "n", AXES[0], 1, [9999]) == []


def test_equal_scores_go_by_id_and_twice_the_same(make_index, store):
    ids = put(store, "n", "a.md", np.repeat(AXES[:1], 30, axis=0))
    index = make_index()
    assert ids_of(index, "n", AXES[0], 7) == ids[:7] == ids_of(index, "n", AXES[0], 7)
    assert index.search("n", AXES[0], 7) == make_index().search("n", AXES[0], 7)


def test_notebooks_do_not_see_each_other(make_index, store):
    mine = put(store, "n", "a.md", AXES[:2])
    other = put(store, "m", "b.md", AXES[:2])
    index = make_index()
    assert sorted(ids_of(index, "n", AXES[0], 9)) == mine and sorted(ids_of(index, "m", AXES[0], 9)) == other
    foreign = store.source_rows("m", [store.get_source("m", "b.md").source_id])
    assert index.search("n", AXES[0], 9, foreign) == []


def test_what_another_process_writes_is_found(make_index, store, tmp_path):
    first = put(store, "n", "a.md", AXES[:1])
    index = make_index()
    assert ids_of(index, "n", AXES[0], 9) == first
    program = (
        "import sys, numpy as np\nfrom pathlib import Path\nfrom fumikura.japanese import Analyzer\n"
        "from fumikura.store import Store\n"
        "store = Store(Path(sys.argv[1]), Analyzer())\n"
        "store.remove_source('n', 'a.md')\n"
        "store.close()\n"
    )
    put(store, "n", "b.md", AXES[1:2])
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "fumikura.db")], check=True)
    assert ids_of(index, "n", AXES[0], 9) == store.vector_ids("n").tolist() != first


def test_another_recipe_replaces_all_vectors(make_index, store):
    put(store, "n", "a.md", AXES[:2])
    index = make_index()
    assert len(index.search("n", AXES[0], 9)) == 2
    pending = store.pending_chunks("n", "other dimension=3", 9)
    store.put_vectors("n", "other dimension=3", pending, np.eye(3, dtype=np.float32)[:2])
    store.use_recipe("other dimension=3")
    assert [scored.score for scored in index.search("n", np.eye(3, dtype=np.float32)[1], 9)] == pytest.approx([1, 0])
    with pytest.raises(IndexMismatch, match="8 dimensions, the stored 3"):
        index.search("n", AXES[0], 9)


def test_another_start_under_another_recipe_finds_the_new_vectors_only(make_index, store):
    put(store, "n", "a.md", AXES[:2])
    make_index().refresh("n")
    store.use_recipe("other dimension=3")
    store.remove_source("n", "a.md")
    new = put(store, "n", "b.md", np.eye(3, dtype=np.float32)[:1])
    index = make_index()
    index.refresh("n")
    assert ids_of(index, "n", np.eye(3, dtype=np.float32)[0], 9) == new
    store.use_recipe(RECIPE)
    assert index.search("n", AXES[0], 9) == []


def test_a_later_start_finds_the_same(make_index, store):
    put(store, "n", "a.md", AXES)
    before = make_index().search("n", AXES[3], 5)
    put(store, "n", "b.md", AXES[3:4])
    after = make_index().search("n", AXES[3], 6)
    assert len(after) == 6 and {scored.chunk_id for scored in before[:1]} < {scored.chunk_id for scored in after[:2]}


def test_agrees_with_a_plain_product_over_random_vectors(make_index, store):
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((200, DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = np.array(put(store, "n", "a.md", vectors))
    index = make_index()
    for query in vectors[::50]:
        expected = ids[np.argsort(-(vectors @ query), kind="stable")[:10]].tolist()
        assert ids_of(index, "n", query, 10) == expected


def test_threads_may_search_while_sources_change(make_index, store):
    put(store, "n", "a.md", AXES[:2])
    index = make_index()
    stop = threading.Event()

    def search() -> int:
        count = 0
        while not stop.is_set():
            assert len(index.search("n", AXES[0], 9)) >= 2
            count += 1
        return count

    with ThreadPoolExecutor(3) as pool:
        searches = [pool.submit(search) for _ in range(3)]
        try:
            for number in range(5):
                put(store, "n", f"{number}.md", AXES[2:4])
        finally:
            stop.set()
    assert all(done.result() > 0 for done in searches)
    assert len(index.search("n", AXES[0], 50)) == 12
