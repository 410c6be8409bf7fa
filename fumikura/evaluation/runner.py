"""Asks a question set, as often as wanted, and writes every answer down at once: a killed run asks nothing twice."""

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from fumikura.errors import BackendError, EvaluationError
from fumikura.evaluation.asking import ask_case
from fumikura.evaluation.cases import Case, QuestionSet, Split
from fumikura.evaluation.material import (
    SCRATCH,
    Material,
    OpenLibrary,
    fill,
    material_of_notebook,
    material_of_set,
    scratch_folder,
    with_models_of,
)
from fumikura.evaluation.provenance import machine, revision
from fumikura.evaluation.run_file import ComputedCore, Run, RunHeader, append, read_run, start_or_resume
from fumikura.evaluation.run_lock import only_writer
from fumikura.ingestion import Progress, silent
from fumikura.library import Library
from fumikura.settings import Settings


@dataclass(frozen=True)
class RunOptions:
    """How a set is asked: `trials` times each question, all of them or one split, with every source pinned or none."""

    trials: int = 1
    split: Split | None = None
    pin_all: bool = False


@dataclass(frozen=True)
class Bench:
    """Where runs take place. `data` is the person's data folder: model files are taken from there, nothing is written.

    `open_library` is how a data folder is opened with settings.
    """

    data: Path
    open_library: OpenLibrary = Library
    progress: Progress = silent

    def run_set(self, questions: QuestionSet, settings: Settings, out: Path, options: RunOptions) -> Run:
        """Ask a set about its own sources in a scratch library. Raises FumikuraError; what was asked stays in `out`."""
        with scratch_folder(out) as folder:
            return self.run_in(folder, questions, settings, out, options)

    def run_in(self, folder: Path, questions: QuestionSet, settings: Settings, out: Path, options: RunOptions) -> Run:
        """Ask a set in the scratch library of this folder, which is filled if it is not there yet."""
        with closing(self.open_library(with_models_of(settings, self.data), folder)) as library:
            material = material_of_set(questions, library)
            run = start_or_resume(out, header_of(material, library, options))
            waiting = _waiting(run, questions, options)
            if waiting and not library.store.sources(SCRATCH):
                fill(library, questions, self.progress, pin_all=options.pin_all)
            return self._ask(library, material, SCRATCH, run, waiting)

    def run_notebook(
        self, questions: QuestionSet, settings: Settings, out: Path, options: RunOptions, notebook: str
    ) -> Run:
        """Ask a set about the person's own notebook, which is only read."""
        with only_writer(out), closing(self.open_library(settings, self.data)) as library:
            material = material_of_notebook(questions, library, notebook)
            run = start_or_resume(out, header_of(material, library, options))
            return self._ask(library, material, notebook, run, _waiting(run, questions, options))

    def _ask(
        self, library: Library, material: Material, name: str, run: Run, waiting: Sequence[tuple[int, Case]]
    ) -> Run:
        notebook = library.notebook(name)
        for done, (trial, case) in enumerate(waiting, 1):
            try:
                if done == 1:
                    self._read_core(library, name, run)
                asked = ask_case(notebook, case, trial, material.texts)
            except BackendError as error:
                raise stopped_at(case.id, trial, error) from error
            append(run.path, "asked", asked)
            self.progress("questions", done, len(waiting))
        return read_run(run.path)

    def _read_core(self, library: Library, name: str, run: Run) -> None:
        """Compute what is read in full ahead of the questions, as the server does once the sources are there."""
        begun = time.perf_counter()
        core = library.residence(name).prepare(partial(self.progress, "core"))
        if core:
            append(run.path, "core", ComputedCore(core.token_count, time.perf_counter() - begun))


class StoppedRun(EvaluationError):
    """A server failed in the middle of a run: what was asked is kept, and the run can go on."""


def stopped_at(case_id: str, trial: int, error: BackendError) -> StoppedRun:
    """Return the error of a run or a judge that stopped at this question."""
    return StoppedRun(
        f"質問 {case_id}（{trial} 回目）で止まりました：{error.ja} 直してから同じコマンドで続けられます。",
        f"stopped at question {case_id} (trial {trial}): {error.en}; mend that and give the same command to go on",
    )


def header_of(material: Material, library: Library, options: RunOptions) -> RunHeader:
    """Return the first line of a run with this material and these settings."""
    return RunHeader(
        set_name=material.questions.name,
        set_sha256=material.sha256,
        question_count=len(_chosen(material.questions, options)),
        trials=options.trials,
        settings=library.settings.model_dump(mode="json", exclude={"paths", "server"}),
        model=library.generator.name,
        split=options.split,
        notebook=material.notebook,
        pin_all=options.pin_all,
        revision=revision(),
        machine=machine(),
        begun=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _chosen(questions: QuestionSet, options: RunOptions) -> tuple[Case, ...]:
    return questions.of_split(options.split) if options.split else questions.cases


def _waiting(run: Run, questions: QuestionSet, options: RunOptions) -> list[tuple[int, Case]]:
    """Return what was not asked yet; whole trials one after the other, so that an early end has every question."""
    done = {(one.trial, one.id) for one in run.asked}
    wanted = ((trial, case) for trial in range(1, options.trials + 1) for case in _chosen(questions, options))
    return [(trial, case) for trial, case in wanted if (trial, case.id) not in done]
