"""The texts that a model family was trained to see before queries and documents.

Left out, nothing fails and recall drops silently; so every embedder takes its defaults from this one table.
Sources: the model cards of intfloat/multilingual-e5, cl-nagoya/ruri, cl-nagoya/ruri-v3, BAAI/bge,
nomic-ai/nomic-embed-text, mixedbread-ai/mxbai-embed-large and google/embeddinggemma.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What stands before a query and before a document."""

    query: str = ""
    document: str = ""


NO_PREFIXES = Prefixes()
FAMILIES: tuple[tuple[str, Prefixes], ...] = (
    (r"bge-m3", NO_PREFIXES),
    (r"ruri-v3|ruri3", Prefixes("検索クエリ: ", "検索文書: ")),
    (r"ruri", Prefixes("クエリ: ", "文章: ")),
    (r"(?:^|[/_-])(?:nano)?e5(?:$|[:_-])", Prefixes("query: ", "passage: ")),
    (r"nomic-embed", Prefixes("search_query: ", "search_document: ")),
    (r"embeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
    (
        r"mxbai-embed|bge-(?:small|base|large)-en",
        Prefixes("Represent this sentence for searching relevant passages: ", ""),
    ),
)


def prefixes_for(model: str) -> Prefixes:
    """Return the prefixes of the family that the model's name shows; none for an unknown family."""
    name = model.lower()
    return next((prefixes for pattern, prefixes in FAMILIES if re.search(pattern, name)), NO_PREFIXES)
