"""The swappable parts on one page. Every implementation passes the suite of its protocol in `tests/contracts`."""

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Protocol

from fumikura.records import (
    Chunk,
    Ids,
    Message,
    ScoredChunk,
    Section,
    Source,
    SourceFile,
    StoredChunk,
    Usage,
    Vector,
    VectorRows,
    Vectors,
)


class Loader(Protocol):
    """Reads the bytes of one kind of file into a source with ordered sections."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Lower case with the dot: (".md", ".markdown")."""
        ...

    def load(self, file: SourceFile) -> Source:
        """Return the source. Raises UnreadableSource when the bytes hold no text of this kind."""
        ...

    def sections_of(self, text: str) -> tuple[Section, ...]:
        """Return the sections of a text that `load` extracted before; they are its whole text again."""
        ...


class Chunker(Protocol):
    """Cuts sections into chunks: in order, never across a section, none blank, none beyond the embedder's window."""

    recipe: str  # name and numbers, stored with the index: "structure size=256 v1"

    def chunk(self, source: Source) -> list[Chunk]:
        """Return the chunks of all sections in reading order."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors of length 1. The prefixes belong to the model and are added inside."""

    name: str
    query_prefix: str
    document_prefix: str
    max_tokens: int  # window, the prefix and special tokens included

    @property
    def standout_cosine(self) -> float | None:
        """A cosine from which on a hit surely fits the question, measured for this model; None: not measured."""
        ...

    @property
    def dimension(self) -> int:
        """Return the length of a vector; asks the backend once if it must. Raises BackendError."""
        ...

    def embed_query(self, text: str) -> Vector:
        """Return shape (dimension,). Raises BackendError."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return shape (len(texts), dimension).

        Raises InputTooLong (one text is beyond the window), BackendReplyInvalid (NaN, short reply), BackendError.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Return an upper bound of the tokens that `text` takes as a document."""
        ...


class VectorReader(Protocol):
    """What an index may ask of the store, which alone holds the truth."""

    def vector_space(self) -> str:
        """Return what tells the vectors read below from all others: this store and its present recipe.

        A kept index is of use only in the space that it was made in: elsewhere the same ids mean other chunks.
        """
        ...

    def vector_revision(self, notebook: str) -> int:
        """Return a number that changes whenever the notebook's vectors do (also by another process)."""
        ...

    def vector_ids(self, notebook: str) -> Ids:
        """Return the chunk ids that have a vector of the present recipe, ascending. Ids are never used twice."""
        ...

    def read_vectors(self, notebook: str, ids: Ids | None = None) -> VectorRows:
        """Return the vectors of `ids` (all when None), ascending by chunk id."""
        ...


class VectorIndex(Protocol):
    """Finds the nearest vectors by inner product. A cache of the store: it can always be made again from it."""

    name: str

    def search(
        self, notebook: str, query: Vector, top_k: int, source_rows: Collection[int] | None = None
    ) -> list[ScoredChunk]:
        """Return up to `top_k` chunks, nearest first, equal scores by ascending id.

        Brings itself in step with the store first. `source_rows` limits the search before top_k is taken.
        """
        ...

    def refresh(self, notebook: str) -> None:
        """Bring the index in step now, as after a deletion: its files then hold nothing that the store does not."""
        ...


class PassageReader(Protocol):
    """What retrieval may ask of the store: the keyword index and the texts around a chunk."""

    def lexical_search(
        self, notebook: str, query: str, top_k: int, source_rows: Collection[int] | None = None
    ) -> list[ScoredChunk]:
        """Return chunks that share words with the question, best first. No question can break its syntax."""
        ...

    def read_chunks(self, notebook: str, chunk_ids: Sequence[int]) -> list[StoredChunk]:
        """Return the chunks that still exist in this notebook, in the order asked for."""
        ...

    def section_chunks(self, notebook: str, section_id: int) -> list[StoredChunk]:
        """Return all chunks of one section in reading order."""
        ...

    def section_text(self, notebook: str, section_id: int, start: int, end: int) -> str:
        """Return the source's `text[start:end]`, which must lie inside the section. Raises NotFound."""
        ...

    def source_rows(self, notebook: str, source_ids: Collection[str]) -> list[int]:
        """Return the row ids of the sources that exist in this notebook."""
        ...


class Reranker(Protocol):
    """Scores passages against a question with a cross-encoder."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score for each text, higher is better. Raises BackendError."""
        ...


PrefixProgress = Callable[[int, int], None]  # tokens that are ready, tokens in all


class Pieces(Iterator[str | Usage], Protocol):
    """An answer in progress: its pieces, then one Usage."""

    def close(self) -> None:
        """End the generation and the connection."""
        ...


class Generator(Protocol):
    """Streams an answer. Thinking text never leaves it."""

    name: str

    @property
    def exact_counts(self) -> bool:
        """Whether count_tokens asks the backend's own tokenizer."""
        ...

    @property
    def loaded(self) -> bool:
        """Whether an answer can begin without loading a model in this process or its child; servers: True."""
        ...

    def context_tokens(self) -> int:
        """Return the real context size for prompt and answer together. Raises BackendError."""
        ...

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Return the prompt's tokens by the backend's tokenizer, or an upper estimate where it has none."""
        ...

    def generate(self, messages: Sequence[Message], max_tokens: int) -> Pieces:
        """Yield pieces of the answer, then one Usage. Closing the iterator closes the connection.

        Raises InputTooLong, BackendRefused, BackendUnavailable or BackendTimeout before the first piece;
        a failure after it ends with Usage(finish="broken_off", error=...).
        """
        ...

    def close(self) -> None:
        """End what it started (a child process, connections)."""
        ...

    # The beginning of a prompt (`prefix`: whole messages; behind a last one of the user's the question may go on),
    # computed before the question is asked.

    @property
    def keeps_prefixes(self) -> bool:
        """Whether a computed prefix can be kept in a file; False: the server's own cache is all there is."""
        ...

    def has_prefix(self, prefix: Sequence[Message]) -> bool:
        """Whether this prefix was computed and is still there, as far as is known without asking the backend."""
        ...

    def warm(self, prefix: Sequence[Message], stop: threading.Event, progress: PrefixProgress | None = None) -> Usage:
        """Compute what all prompts with this prefix share. Finish "stopped": by `stop`, or by a person's question.

        What was computed until then is reused by the next call. Raises BackendError, ModelMissing.
        """
        ...

    def save_prefix(self, prefix: Sequence[Message]) -> bool:
        """Keep the computed prefix in a file (computing it first if it must); False: not kept, try again later.

        Raises BackendRefused when the file cannot be written (disk full), BackendError, ModelMissing.
        """
        ...

    def restore_prefix(self, prefix: Sequence[Message]) -> bool:
        """Put a kept prefix back; False: there is none that fits, or it was damaged and is gone.

        Loads no model when there is none. Raises BackendError, ModelMissing.
        """
        ...

    def generate_from(self, prefix: Sequence[Message], messages: Sequence[Message], max_tokens: int) -> Pieces:
        """Answer as `generate` does, the kept prefix put back first where the backend no longer holds it."""
        ...

    def forget_prefixes(self, keep: Collection[str] = ()) -> int:
        """Remove the files of all prefixes but those of these hashes (prefix_sha256); return how many had to go.

        Raises BackendRefused when a file cannot be removed.
        """
        ...
