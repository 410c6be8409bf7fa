"""All notebooks of one data folder, with the parts that `build.py` makes from the settings."""

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from fumikura import build
from fumikura.answering import Answering
from fumikura.errors import BackendError, FumikuraError, NotFound
from fumikura.ingestion import EMBED_BATCH, Ingestion, Progress, forever, silent
from fumikura.loaders import FoundFile, LoaderRegistry, find_files
from fumikura.models import FetchProgress, ModelStore
from fumikura.notebook import Notebook, refuse_unusable
from fumikura.places import SETTINGS_IN_DATA as SETTINGS_IN_DATA
from fumikura.places import Places as Places
from fumikura.places import find_places as find_places
from fumikura.protocols import Chunker, Embedder, Generator, VectorIndex
from fumikura.records import AddReport, Notice, SourceFile
from fumikura.removal import LOG_NOTICE, Removal, quotes_left
from fumikura.resident import Measures, Residence
from fumikura.retrieval import Retriever
from fumikura.settings import Settings
from fumikura.settings_file import load_settings
from fumikura.store import Store

logger = logging.getLogger(__name__)

SAMPLES = Path(__file__).with_name("sample_notebook")
NO_INDEX = {"no_keywords", "keywords_without_chunk"}  # what `rebuild_keywords` mends, as the store's check names it
SAMPLE_QUESTIONS = ("里芋は何グラム？", "露草会の今の年会費はいくら？", "富士山の標高は何メートル？")


T = TypeVar("T")


class part(cached_property[T]):  # noqa: N801 - reads as the decorator that it is
    """A part of a library, made once, also when several threads ask for it at the same time."""

    def __get__(self, library: "Library", owner: type | None = None) -> T:  # type: ignore[override]
        with library.lock:
            return super().__get__(library, owner)


class Library:
    """All notebooks of one data folder. A part is made when it is first needed, and may be set before that.

    So what needs no model asks for none: listing sources works without the extras that the settings name. Opening
    starts no process; the generator starts with the first question and `close` ends it. Threads may share it.
    """

    def __init__(self, settings: Settings, data: Path, environment: Mapping[str, str] = os.environ) -> None:
        """Open the data folder. Raises StoreError."""
        self.settings = settings
        self.data = data
        self.lock = threading.RLock()  # held while a part is made: parts are made of parts
        self.store: Store = build.make_store(settings, data)
        self._environment = environment

    @classmethod
    def open(cls, places: Places, preset: str | None = None, environment: Mapping[str, str] = os.environ) -> "Library":
        """Open the data folder with its settings. Raises SettingsError and StoreError."""
        return cls(load_settings(places.settings_file, environment, preset), places.data, environment)

    @part
    def loaders(self) -> LoaderRegistry:
        """Return what reads files."""
        return build.make_loaders()

    @part
    def models(self) -> ModelStore:
        """Return the model files."""
        return build.make_models(self.settings, self.data)

    @part
    def embedder(self) -> Embedder:
        """Return what makes vectors."""
        return build.make_embedder(self.settings, self._environment)

    @part
    def chunker(self) -> Chunker:
        """Return what cuts sections."""
        return build.make_chunker(self.settings, self.embedder)

    @part
    def index(self) -> VectorIndex:
        """Return what searches vectors. Raises MissingExtra."""
        return build.make_index(self.settings, self.store, self.data)

    @part
    def retriever(self) -> Retriever:
        """Return what finds passages. Raises MissingExtra."""
        return build.make_retriever(self.settings, self.store, self.embedder, self.index)

    @part
    def generator(self) -> Generator:
        """Return what writes answers."""
        return build.make_generator(self.settings, self.models, self.data, self._environment)

    @part
    def measures(self) -> Measures:
        """Return what remembers the cores that were counted last."""
        return Measures()

    def residence(self, notebook: str) -> Residence:
        """Return what decides which sources of the notebook are read in full."""
        with self.lock:  # settings may be changed while a question waits: it keeps those it began with
            settings, generator = self.settings, self.generator
        return Residence(
            notebook=notebook,
            store=self.store,
            generator=generator,
            window=lambda: min(settings.llm.context_tokens, generator.context_tokens()),
            count=generator.count_tokens,
            largest_window=settings.llm.context_tokens,
            budget=lambda window: build.make_budget(settings, window, self.store.prefill_pace(generator.name)),
            measures=self.measures,
            rules=settings.llm.system_prompt,
            wanted_mode=settings.resident.mode,
        )

    def forget_prefixes(self) -> tuple[Notice, ...]:
        """Remove the computed prefixes that hold text which was changed or deleted; a notice when one stays."""
        self.measures.clear()
        try:
            self.generator.forget_prefixes(self.store.current_prefixes())
        except FumikuraError as error:
            return (Notice(error.ja, error.en),)
        return ()

    def notebook(self, name: str) -> Notebook:
        """Return the notebook of this name; it comes to be with its first source. Raises SettingsError."""
        refuse_unusable(name)
        return Notebook(
            name=name,
            ingestion=self._ingestion(name),
            retriever=self.retriever,
            answering=self._answering(name),
            keyword_only_reason=self._keyword_only_reason,
            usable_source_ids=lambda: self.store.usable_source_ids(name),
            top_k=self.settings.search.top_k,
            question_chars=self.settings.limits.question_chars,
        )

    def add(self, notebook: str, paths: Sequence[Path], progress: Progress = silent) -> list[AddReport]:
        """Add files and folders. Raises NotFound for a missing path or a folder without files."""
        files = find_files(paths, except_in=self.data)
        if not files:
            named = ", ".join(str(path) for path in paths)
            raise NotFound(f"{named} に読めるファイルがありません。", f"there is no file to read in {named}")
        return self.notebook(notebook).add(files, progress)

    def add_samples(self, notebook: str, progress: Progress = silent) -> list[AddReport]:
        """Add the sample notes that come with the program."""
        files = [FoundFile(path, f"sample:{path.name}", path.name) for path in sorted(SAMPLES.glob("*.md"))]
        return self.notebook(notebook).add(files, progress)

    def add_bytes(
        self, notebook: str, file: SourceFile, progress: Progress = silent, *, create: bool = True
    ) -> AddReport:
        """Read, split and write one file, to be embedded by `embed_pending`.

        Raises BackendError, StoreError, and NotFound for a missing notebook unless it may `create` it.
        """
        return replace(self._ingestion(notebook), create=create).add_bytes(file, progress)

    def embed_pending(
        self,
        notebook: str,
        progress: Progress = silent,
        *,
        batch_count: int = EMBED_BATCH,
        keep_on: Callable[[], bool] = forever,
    ) -> Notice | None:
        """Embed what has no vector yet, for as long as `keep_on` says; return why a text got none.

        Raises BackendError, IndexMismatch and StoreError; what is done stays done.
        """
        return self._ingestion(notebook).embed_pending(progress, batch_count=batch_count, keep_on=keep_on)

    def remove(self, notebook: str, names: Sequence[str]) -> Removal:
        """Remove sources by name or id. Raises NotFound and Conflict, and then removes nothing."""
        named = (self.store.get_source(notebook, name) for name in names)
        found = {source.source_id: source for source in named}
        notices = [notice for source_id in found for notice in quotes_left(self.store, notebook, source_id)]
        if not self.store.remove_sources(notebook, list(found)):
            notices.append(LOG_NOTICE)
        return Removal(tuple(found.values()), (*notices, *self.refresh(notebook)))

    def reindex(self, progress: Progress = silent) -> list[AddReport]:
        """Split and embed every source of every notebook with the present settings; one that fails stays as it was.

        Sources are replaced one by one, each found by keyword throughout. Vectors of another embedder are searched
        until the new ones are complete, but a source cut differently has none in between. Raises BackendError when
        the embedder is down, after which this can be called again.
        """
        recipe, used = build.recipe_of(self.embedder), self.store.vector_recipe()
        if self.store.keywords_outdated or any(one.code in NO_INDEX for one in self.store.check()):
            self.store.rebuild_keywords()
        ingestions = [self._ingestion(notebook) for notebook in self.store.notebooks()]
        sources = [(one, source) for one in ingestions for source in self.store.sources(one.notebook)]
        sources = [(one, source) for one, source in sources if source.chunk_count]
        reports = []
        for done, (ingestion, source) in enumerate(sources, 1):
            reports.append(ingestion.rewrite(source))
            progress("split", done, len(sources))
        reasons = {one.notebook: one.embed_pending(progress, recipe) for one in ingestions}
        self.store.use_recipe(recipe)
        for old in {*self.store.recipes(), used} - {recipe, ""}:
            self.store.drop_recipe(old)
        for ingestion in ingestions:
            for notice in self.refresh(ingestion.notebook):
                logger.warning("%s", notice)
        return [
            one.settled(source.origin, report, reasons[one.notebook])
            for (one, source), report in zip(sources, reports, strict=True)
        ]

    def refresh(self, notebook: str) -> tuple[Notice, ...]:
        """Bring the index and the computed prefixes in step, as after a deletion; a notice when one stays as it was."""
        try:
            self.index.refresh(notebook)
        except FumikuraError as error:
            kind = self.settings.index.kind
            stale = Notice(
                f"索引 {kind} はまだ古いままです（{error.ja}）。次に探すときに新しくなります。",
                f"The index {kind} is still the old one ({error.en}); the next search brings it in step.",
            )
            return (stale, *self.forget_prefixes())
        return self.forget_prefixes()

    def fetch_model(self, name: str | None, progress: Progress = silent) -> Path | None:
        """Fetch a model of the registry, by default the one that the settings use (None: they use none)."""
        if name is None and self.settings.llm.backend != "embedded":
            return None

        def report(step: FetchProgress) -> None:
            progress(step.stage, step.done_bytes // 1_000_000, step.total_bytes // 1_000_000)

        return self.models.fetch(name or self.settings.llm.model, report, self.settings.models.download_from)

    def close(self) -> None:
        """End and close what was opened."""
        made = vars(self)
        with ExitStack() as parts:  # the later ones are closed first, and each even if another fails
            parts.callback(self.store.close)
            if hasattr(made.get("index"), "close"):  # Chroma's connections; the other indexes hold nothing open
                parts.callback(made["index"].close)
            if "generator" in made:
                parts.callback(self.generator.close)

    def _ingestion(self, notebook: str) -> Ingestion:
        return Ingestion(
            notebook=notebook,
            store=self.store,
            loaders=self.loaders,
            chunker=self.chunker,
            embedder=self.embedder,
            recipe=lambda: build.recipe_of(self.embedder),
            source_bytes=self.settings.limits.source_bytes,
        )

    def _answering(self, notebook: str) -> Answering:
        with self.lock:
            settings, residence = self.settings, self.residence(notebook)
            generator = residence.generator
        return Answering(
            notebook=notebook,
            store=self.store,
            generator=generator,
            prompts=lambda: build.make_prompts(settings, generator),
            residence=residence,
            answer_tokens=settings.llm.answer_tokens,
            standout_cosine=self.embedder.standout_cosine,
            settings_sha256=settings.sha256,
        )

    def _keyword_only_reason(self) -> Notice | None:
        """Say why only keywords are searched: another embedder made the vectors, or the embedder is down."""
        used = self.store.vector_recipe()
        try:
            if used in ("", build.recipe_of(self.embedder)):
                return None
        except BackendError as error:
            return Notice(f"キーワードだけで探しました。{error.ja}", f"Searched by keyword only: {error.en}")
        return Notice(
            "キーワードだけで探しました（索引は別の埋め込みのものです。fumikura reindex で作り直せます）。",
            "Searched by keyword only: the index is of another embedder; fumikura reindex makes it anew.",
        )
