import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """chromadb 1.5 itself uses what Python and its libraries have deprecated; only its own tests overlook that."""
    for item in items:
        if item.get_closest_marker("chroma"):
            item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb"))
