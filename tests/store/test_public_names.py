import fumikura.indexes
import fumikura.store
from fumikura.protocols import PassageReader, VectorIndex, VectorReader


def test_the_store_and_the_indexes_fit_the_protocols(store):
    # mypy checks the signatures; these assignments name the promise.
    vectors: VectorReader = store
    passages: PassageReader = store
    index: VectorIndex = fumikura.indexes.ExactIndex(vectors)
    assert passages.lexical_search("n", "会議", 1) == [] and index.name == "exact"


def test_every_public_name_exists():
    for package in (fumikura.store, fumikura.indexes):
        assert all(hasattr(package, name) for name in package.__all__)
        assert package.__all__ == sorted(package.__all__)
