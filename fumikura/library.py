"""All notebooks of one data folder, with the parts that `build.py` makes from the settings."""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fumikura import build
from fumikura.answering import Answering
from fumikura.errors import BackendError, FumikuraError, NotFound, SettingsError
from fumikura.ingestion import Ingestion, Progress, silent
from fumikura.loaders import FoundFile, LoaderRegistry, find_files
from fumikura.models import FetchProgress, ModelStore
from fumikura.notebook import Notebook
from fumikura.protocols import Chunker, Embedder, Generator, VectorIndex
from fumikura.records import AddReport, SourceSummary
from fumikura.retrieval import Retriever
from fumikura.settings import Settings
from fumikura.settings_file import load_settings
from fumikura.store import Store

logger = logging.getLogger(__name__)

SAMPLES = Path(__file__).with_name("sample_notebook")
LONGEST_NAME = 200  # characters of a notebook
SAMPLE_QUESTIONS = ("里芋は何グラム？", "露草会の今の年会費はいくら？", "富士山の標高は何メートル？")

LOG_NOTICE = (
    "消しましたが、別のプロセスが読んでいるため、文字がまだ書き込みログに残っています。そのプロセスが終わると消えます。"
    "/ Removed, but another process is reading, so the text is still in the write-ahead log until that process ends."
)


@dataclass(frozen=True)
class Places:
    """Where the settings were read and where the data lies."""

    settings_file: Path | None
    data: Path


@dataclass(frozen=True)
class Removal:
    """The sources that were removed, and what is left of them somewhere (a line each for a person)."""

    sources: tuple[SourceSummary, ...]
    notices: tuple[str, ...] = ()


def find_places(data: Path | None, settings: Path | None, environment: Mapping[str, str] = os.environ) -> Places:
    """Return the places: --settings and --data, else below FUMIKURA_HOME, else config/ and data/ here or by the code.

    The data folder is `data/` beside the folder of the settings unless it or FUMIKURA_HOME is named.
    """
    named = environment.get("FUMIKURA_HOME")
    homes = [Path(named)] if named else [Path.cwd(), Path(__file__).parents[1]]
    if settings is None:
        found = (home / "config" / "settings.json" for home in homes)
        settings = next((path for path in found if path.is_file()), None)
    if data is None:
        data = (homes[0] if named or not settings else _home_of(settings)) / "data"
    return Places(settings, data.absolute())


def _home_of(settings: Path) -> Path:
    folder = settings.absolute().parent
    return folder.parent if folder.name == "config" else folder


class Library:
    """All notebooks of one data folder. A part is made when it is first needed, and may be set before that.

    So what needs no model asks for none: listing sources works without the extras that the settings name. Opening
    starts no process; the generator starts with the first question and `close` ends it.
    """

    def __init__(self, settings: Settings, data: Path, environment: Mapping[str, str] = os.environ) -> None:
        """Open the data folder. Raises StoreError."""
        self.settings = settings
        self.data = data
        self.store: Store = build.make_store(settings, data)
        self._environment = environment

    @classmethod
    def open(cls, places: Places, preset: str | None = None, environment: Mapping[str, str] = os.environ) -> "Library":
        """Open the data folder with its settings. Raises SettingsError and StoreError."""
        return cls(load_settings(places.settings_file, environment, preset), places.data, environment)

    @cached_property
    def loaders(self) -> LoaderRegistry:
        """What reads files."""
        return build.make_loaders()

    @cached_property
    def models(self) -> ModelStore:
        """The model files."""
        return build.make_models(self.settings, self.data)

    @cached_property
    def embedder(self) -> Embedder:
        """What makes vectors."""
        return build.make_embedder(self.settings, self._environment)

    @cached_property
    def chunker(self) -> Chunker:
        """What cuts sections."""
        return build.make_chunker(self.settings, self.embedder)

    @cached_property
    def index(self) -> VectorIndex:
        """What searches vectors. Raises MissingExtra."""
        return build.make_index(self.settings, self.store, self.data)

    @cached_property
    def retriever(self) -> Retriever:
        """What finds passages. Raises MissingExtra."""
        return build.make_retriever(self.settings, self.store, self.embedder, self.index)

    @cached_property
    def generator(self) -> Generator:
        """What writes answers."""
        return build.make_generator(self.settings, self.models, self.data, self._environment)

    def notebook(self, name: str) -> Notebook:
        """Return the notebook of this name; it comes to be with its first source. Raises SettingsError."""
        if not name.strip() or len(name) > LONGEST_NAME:
            raise SettingsError(
                f"ノートブックの名前「{name[:20]}」は使えません。1〜{LONGEST_NAME} 文字で付けてください。",
                f"the notebook name '{name[:20]}' cannot be used: give it 1 to {LONGEST_NAME} characters",
            )
        return Notebook(
            name=name,
            ingestion=self._ingestion(name),
            retriever=self.retriever,
            answering=self._answering(name),
            keyword_only_reason=self._keyword_only_reason,
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

    def remove(self, notebook: str, names: Sequence[str]) -> Removal:
        """Remove sources by name or id. Raises NotFound and Conflict, and then removes nothing."""
        named = (self.store.get_source(notebook, name) for name in names)
        found = {source.source_id: source for source in named}
        log_emptied = self.store.remove_sources(notebook, list(found))
        notices = [] if log_emptied else [LOG_NOTICE]
        return Removal(tuple(found.values()), (*notices, *self._refresh(notebook)))

    def reindex(self, progress: Progress = silent) -> list[AddReport]:
        """Split and embed every source of every notebook with the present settings; one that fails stays as it was.

        Sources are replaced one by one, each found by keyword throughout. Vectors of another embedder are searched
        until the new ones are complete, but a source cut differently has none in between. Raises BackendError when
        the embedder is down, after which this can be called again.
        """
        recipe, used = build.recipe_of(self.embedder), self.store.vector_recipe()
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
            for notice in self._refresh(ingestion.notebook):
                logger.warning("%s", notice)
        return [
            one.settled(source.origin, report, reasons[one.notebook])
            for (one, source), report in zip(sources, reports, strict=True)
        ]

    def _refresh(self, notebook: str) -> Iterator[str]:
        """Bring the index in step; yield a notice when it cannot be reached: what the store did stays done."""
        try:
            self.index.refresh(notebook)
        except FumikuraError as error:
            kind = self.settings.index.kind
            yield (
                f"索引 {kind} はまだ古いままです（{error.ja}）。次に探すときに新しくなります。"
                f"/ The index {kind} is still the old one ({error.en}); the next search brings it in step."
            )

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
        return Answering(
            notebook=notebook,
            store=self.store,
            generator=self.generator,
            prompts=lambda: build.make_prompts(self.settings, self.generator),
            answer_tokens=self.settings.llm.answer_tokens,
            standout_cosine=self.embedder.standout_cosine,
            settings_sha256=self.settings.sha256,
        )

    def _keyword_only_reason(self) -> str:
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
