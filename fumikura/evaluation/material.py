"""What the questions are asked about: a scratch library filled as a user would fill it, or a notebook as it is."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fumikura.errors import Conflict, EvaluationError
from fumikura.evaluation.cases import QuestionSet, QuestionSetError
from fumikura.evaluation.provenance import file_hashes, set_sha256
from fumikura.evaluation.run_lock import only_writer
from fumikura.evaluation.validation import source_texts, validate
from fumikura.ingestion import Progress
from fumikura.library import Library
from fumikura.records import SourceSummary
from fumikura.settings import PathSettings, Settings

SCRATCH = "evaluation"  # the scratch library's one notebook
# What a change of needs a library of its own: another index, or computed prefixes that would come to be warm.
INDEXING_SECTIONS = ("chunk", "embedding", "index", "store", "limits", "resident")

OpenLibrary = Callable[[Settings, Path], Library]


@dataclass(frozen=True)
class Material:
    """A question set with the texts that its evidence lies in, proved consistent. `sha256` tells it from any other."""

    questions: QuestionSet
    texts: dict[str, str]
    sha256: str
    notebook: str | None = None  # the person's own; None: the set's own sources


def material_of_set(questions: QuestionSet, library: Library) -> Material:
    """Return a set with its own sources. Raises QuestionSetError with every finding, and EvaluationError."""
    if not questions.source_files():
        raise EvaluationError(
            f"{questions.sources_folder} に資料がありません。資料を置くか、--notebook で自分のノートを選んでください。",
            f"there is no source in {questions.sources_folder}: put some there, or choose a notebook by --notebook",
        )
    texts = source_texts(questions, library.loaders)
    return _proved(Material(questions, texts, set_sha256(questions, file_hashes(questions))))


def material_of_notebook(questions: QuestionSet, library: Library, notebook: str) -> Material:
    """Return a set over a person's notebook, which is only read.

    Raises QuestionSetError with every finding, and Conflict when its index is not what the settings say.
    """
    sources = library.store.sources(notebook)
    _check_index(library, notebook, sources)
    texts = {source.name: library.store.source_text(notebook, source.source_id) for source in sources}
    hashes = sorted((source.name, source.sha256) for source in sources)
    return _proved(Material(questions, with_short_names(texts), set_sha256(questions, hashes), notebook))


def _check_index(library: Library, notebook: str, sources: Sequence[SourceSummary]) -> None:
    """Raise Conflict for an index made otherwise: the run would not measure the settings that it names."""
    degraded = library.notebook(notebook).keyword_only_reason()
    if degraded:
        raise Conflict(degraded.ja, degraded.en)
    if any(source.chunk_count and source.chunk_recipe != library.chunker.recipe for source in sources):
        raise Conflict(
            f"ノート「{notebook}」は今の設定とは別の切り方です。fumikura reindex をするか、設定を戻してください。",
            f"the notebook '{notebook}' was cut with other settings: fumikura reindex, or change them back",
        )


def with_short_names(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts also by their names without folders, where only one source has such a name."""
    counts = Counter(name.rsplit("/", 1)[-1] for name in texts)
    short = {name.rsplit("/", 1)[-1]: text for name, text in texts.items()}
    return {**{name: text for name, text in short.items() if counts[name] == 1}, **texts}


def _proved(material: Material) -> Material:
    findings = validate(material.questions, material.texts)
    if findings:
        raise QuestionSetError(findings)
    return material


@contextmanager
def scratch_folder(out: Path) -> Iterator[Path]:
    """Yield an empty data folder beside a run file, removed in the end, or by the next run after a kill.

    Raises Conflict when another process uses it now.
    """
    folder = out.with_name(out.name + ".library")
    with only_writer(out):
        shutil.rmtree(folder, ignore_errors=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def fill(library: Library, questions: QuestionSet, progress: Progress, *, pin_all: bool = False) -> None:
    """Add the set's sources one at a time in their order. Raises EvaluationError for one that cannot be read."""
    files = questions.source_files()
    for done, path in enumerate(files, 1):
        for report in library.add(SCRATCH, [path]):
            if report.status != "added":
                why = report.error
                raise EvaluationError(
                    f"資料 {path.name} を加えられません（{report.status}）：{why.ja if why else ''}",
                    f"cannot add the source {path.name} ({report.status}): {why.en if why else ''}",
                )
            if pin_all:
                library.store.set_pinned(SCRATCH, report.source_id, True)
        progress("sources", done, len(files))


def with_models_of(settings: Settings, data: Path) -> Settings:
    """Return the settings with the model files of another data folder: a scratch library fetches none."""
    paths = PathSettings(**{**settings.paths.model_dump(), "models": str((data / settings.paths.models).absolute())})
    return settings.model_copy(update={"paths": paths})


def indexing(settings: Settings) -> str:
    """Return what tells settings that need a library of their own from those that may share one."""
    return settings.model_dump_json(include=set(INDEXING_SECTIONS))
