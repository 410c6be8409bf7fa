"""From files to searchable sources: read, split and written first (found by keyword at once), vectors after.

Knows no settings; every part is handed to it. One bad file never stops the others.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fumikura.embedders import Embedded, embed_each
from fumikura.errors import BackendError, FumikuraError, IndexMismatch, NotFound, SourceError, UnreadableSource
from fumikura.loaders import FoundFile, LoaderRegistry, read_file, told_apart
from fumikura.protocols import Chunker, Embedder
from fumikura.records import AddReport, AddStatus, Chunk, Notice, Source, SourceFile, SourceSummary, Vector
from fumikura.store import ChunkContent, Store, content_sha256

Progress = Callable[[str, int, int], None]
"""Called with a stage ("read", "split", "embed"), the steps done and the steps in all (0: not known yet)."""

EMBED_BATCH = 256  # chunks of one transaction; the embedder makes its own batches inside


def silent(stage: str, done: int, total: int) -> None:
    """Report progress to nobody."""


def forever() -> bool:
    """Go on until all is done."""
    return True


@dataclass(frozen=True)
class Ingestion:
    """Adds files to one notebook. `recipe()` names what the vectors depend on; it may ask the embedder."""

    notebook: str
    store: Store
    loaders: LoaderRegistry
    chunker: Chunker
    embedder: Embedder
    recipe: Callable[[], str]
    source_bytes: int
    create: bool = True  # whether a missing notebook comes to be with its first source

    def add(self, files: Sequence[FoundFile], progress: Progress = silent) -> list[AddReport]:
        """Add or update the files and return what became of each, in order. Raises StoreError.

        All files are searchable by keyword before the first one is embedded.
        """
        names = {source.name: source.origin for source in self.store.sources(self.notebook)}
        reports = []
        for done, file in enumerate(told_apart(files, names), 1):
            reports.append(self._register(file))
            progress("split", done, len(files))
        waiting = {one.source_id: one.chunk_count - one.vector_count for one in self.store.sources(self.notebook)}
        begun = time.perf_counter()
        reason = self._try_embedding(progress)
        chunk_s = (time.perf_counter() - begun) / (sum(waiting.values()) or 1)
        return [
            self.settled(file.origin, report, reason, chunk_s * waiting.get(report.source_id, 0))
            for file, report in zip(files, reports, strict=True)
        ]

    def add_bytes(self, file: SourceFile, progress: Progress = silent) -> AddReport:
        """Read, split and write one file: found by keyword at once, its vectors are for `embed_pending`.

        What `progress` raises breaks it off, and nothing is written. A file that cannot be read is a failed report.
        Raises BackendError when a served embedder is down that the splitting needs, and StoreError.
        """
        begun = time.perf_counter()
        try:
            report = self._put(file, partial(self._write, progress=progress), progress)
        except SourceError as error:
            report = AddReport(file.name, "failed", error=_noticed(error))
        return replace(report, seconds=time.perf_counter() - begun)

    def embed_pending(
        self,
        progress: Progress = silent,
        recipe: str | None = None,
        *,
        batch_count: int = EMBED_BATCH,
        keep_on: Callable[[], bool] = forever,
    ) -> Notice | None:
        """Embed every chunk without a vector; return why a text got none (None when all have theirs).

        `recipe` None: the one in use. `keep_on` is asked before each batch; what is left then waits for the next call.
        A text that the embedder refuses stays searchable by keyword. Raises BackendError when the embedder is down
        (what is done stays done) and IndexMismatch when another recipe is in use.
        """
        recipe = recipe or self._recipe_in_use()
        total = self.store.pending_count(self.notebook, recipe)
        done, last_id, reason = 0, 0, None
        while keep_on() and (batch := self.store.pending_chunks(self.notebook, recipe, batch_count, after_id=last_id)):
            last_id = max(chunk.chunk_id for chunk in batch)
            embedded = embed_each(self.embedder, [chunk.embed_text for chunk in batch])
            self._store_vectors(recipe, batch, embedded)
            reason = _reason(embedded) or reason
            done += len(batch)
            progress("embed", done, total)
        return reason

    def rewrite(self, summary: SourceSummary) -> AddReport:
        """Split a stored source anew with the present chunker; a failure leaves the old version answering."""
        begun = time.perf_counter()
        try:
            report = _report(self._replace(self._reread(summary)), "updated")
        except (SourceError, BackendError, IndexMismatch, NotFound) as error:  # NotFound: removed meanwhile
            report = AddReport(summary.name, "failed", summary.source_id, error=_noticed(error))
        return replace(report, seconds=time.perf_counter() - begun)

    def _reread(self, summary: SourceSummary) -> Source:
        """Return the stored source with its sections found anew; the file itself may be gone by now."""
        text = self.store.source_text(self.notebook, summary.source_id)
        sections = self.loaders.sections_of(summary.file_name, text)
        if "".join(section.text for section in sections) != text:
            raise UnreadableSource(
                f"{summary.name} を読み直すと本文が変わるので、元のまま残しました。資料名を添えて報告してください。",
                f"{summary.name}: reading it again would change its text, so it stays as it is; please report this",
            )
        return Source(
            origin=summary.origin,
            name=summary.file_name,
            kind=summary.kind,
            text=text,
            sections=sections,
            sha256=summary.sha256,
            size_bytes=summary.size_bytes,
            title=summary.title,
            date=summary.date,
            encoding=summary.encoding,
            encoding_certain=summary.encoding_certain,
            metadata=self.store.source_metadata(self.notebook, summary.source_id),
            notices=summary.notices,
        )

    def _register(self, file: FoundFile) -> AddReport:
        begun = time.perf_counter()
        try:
            report = self._put(read_file(file, self.source_bytes), self._replace)
        except (SourceError, BackendError, IndexMismatch) as error:
            report = AddReport(file.name, "failed", error=_noticed(error))
        return replace(report, seconds=time.perf_counter() - begun)

    def _put(
        self,
        file: SourceFile,
        replace_known: Callable[[Source, bytes], SourceSummary],
        progress: Progress = silent,
    ) -> AddReport:
        """Write the file unless the same is there already; `replace_known` puts a new version in an old one's place."""
        known = self.store.find_source(self.notebook, file.origin)
        if known and known.sha256 == hashlib.sha256(file.content).hexdigest() and known.file_name == file.name:
            if known.chunk_recipe == self.chunker.recipe:
                return _report(known, "unchanged")
        progress("read", 0, 0)
        source = self.loaders.load(file)
        progress("split", 0, 0)
        if known:
            return _report(replace_known(source, file.content), "updated")
        return _report(self._write(source, file.content, progress), "added")

    def _write(self, source: Source, original: bytes, progress: Progress = silent) -> SourceSummary:
        """Split and write; chunks that the notebook has vectors for already keep them."""
        chunks = self.chunker.chunk(source)
        return self.store.put_source(
            self.notebook,
            source,
            chunks,
            self.chunker.recipe,
            original=original,
            create=self.create,
            progress=partial(progress, "split"),
        )

    def _replace(self, source: Source, original: bytes | None = None) -> SourceSummary:
        """Embed first, then swap in one transaction: a failure leaves the old version answering."""
        chunks = self.chunker.chunk(source)
        recipe = self.recipe()
        vectors = self._vectors_of(chunks, recipe)
        return self.store.put_source(
            self.notebook, source, chunks, self.chunker.recipe, vectors, recipe, original=original, create=self.create
        )

    def _vectors_of(self, chunks: Sequence[Chunk], recipe: str) -> dict[str, Vector]:
        texts = {content_sha256(chunk.embed_text): chunk.embed_text for chunk in chunks}
        known = self.store.vectors_by_hash(self.notebook, recipe, list(texts))
        missing = [content for content in texts if content not in known]
        embedded = embed_each(self.embedder, [texts[content] for content in missing])
        new = dict(zip((missing[place] for place in embedded.positions), embedded.vectors, strict=True))
        return known | new

    def _store_vectors(self, recipe: str, batch: Sequence[ChunkContent], embedded: Embedded) -> None:
        if embedded.positions:
            chunks = [batch[position] for position in embedded.positions]
            self.store.put_vectors(self.notebook, recipe, chunks, np.asarray(embedded.vectors))

    def _recipe_in_use(self) -> str:
        """Return the recipe to embed with; a new store takes the present one. Raises IndexMismatch."""
        wanted, used = self.recipe(), self.store.vector_recipe()
        if not used:
            self.store.use_recipe(wanted)
        elif used != wanted:
            raise IndexMismatch(
                f"索引は別の埋め込み（{used}）のものです。fumikura reindex で作り直すまで、キーワードだけで探します。",
                f"the index is of another embedder ({used}): until fumikura reindex, only keywords are searched",
            )
        return wanted

    def _try_embedding(self, progress: Progress) -> Notice | None:
        try:
            return self.embed_pending(progress)
        except (BackendError, IndexMismatch) as error:
            return _noticed(error)

    def settled(self, origin: str, report: AddReport, reason: Notice | None, embed_s: float = 0.0) -> AddReport:
        """Return the report of a source with whether its vectors came, and why not."""
        summary = self.store.find_source(self.notebook, origin) if report.status != "failed" else None
        if summary is None:
            return report
        seconds = report.seconds + embed_s
        if summary.status == "keyword_ready":
            lacking = summary.chunk_count - summary.vector_count
            return replace(report, status="keyword_ready", seconds=seconds, error=_lacking(lacking, summary, reason))
        return replace(report, seconds=seconds)


def _report(summary: SourceSummary, status: AddStatus) -> AddReport:
    if summary.status == "no_text":
        error = Notice("文字がありません。", "There is no text in it.")
        return AddReport(summary.name, "no_text", summary.source_id, error=error)
    return AddReport(summary.name, status, summary.source_id, summary.chunk_count, error=_joined(summary.notices))


def _joined(notices: Sequence[Notice]) -> Notice | None:
    if not notices:
        return None
    return Notice(" ".join(notice.ja for notice in notices), " ".join(notice.en for notice in notices))


def _reason(embedded: Embedded) -> Notice | None:
    return _noticed(embedded.failures[0].error) if embedded.failures else None


def _lacking(count: int, summary: SourceSummary, reason: Notice | None) -> Notice:
    total = summary.chunk_count
    lacking = Notice(
        f"{total} 断片のうち {count} 断片はキーワードだけで探せます。もう一度 add すると続けます。",
        f"{count} of {total} chunks are found by keyword only; add again to continue.",
    )
    return Notice(f"{lacking.ja}{reason.ja}", f"{lacking.en} {reason.en}") if reason else lacking


def _noticed(error: FumikuraError) -> Notice:
    return Notice(error.ja, error.en)
