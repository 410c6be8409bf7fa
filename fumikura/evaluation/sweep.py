"""One set asked several times, each time with other settings; what needs no new index shares one."""

import hashlib
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from fumikura.errors import Conflict, FumikuraError
from fumikura.evaluation.cases import QuestionSet
from fumikura.evaluation.comparison import compare_paired
from fumikura.evaluation.material import indexing, scratch_folder
from fumikura.evaluation.plot import plot, point_of
from fumikura.evaluation.run_file import Run
from fumikura.evaluation.runner import Bench, RunOptions, StoppedRun
from fumikura.evaluation.summary import Summary, points_by_question, summarise
from fumikura.evaluation.tables import Table
from fumikura.evaluation.wording import interval_text, label, number_text
from fumikura.settings import Settings

UNSAFE = re.compile(r"[^\w.=#-]+")  # in a file name
LONGEST_NAME = 60  # characters: 180 bytes of Japanese leave room for the endings
MEASURES = ("points", "to_first", "p", "in_prompt", "ttft_s", "tokens_per_s")


@dataclass(frozen=True, slots=True)
class Sweep:
    """The runs by what was changed, and what ended the others."""

    folder: Path
    runs: dict[str, Run]
    failures: dict[str, FumikuraError]


def run_each(
    bench: Bench, questions: QuestionSet, variants: Mapping[str, Settings], folder: Path, options: RunOptions
) -> Sweep:
    """Ask a set once for each variant into a run file of its own.

    A variant that cannot be asked (its server fails, its core is too large) is a failure, and the next one is asked.
    Raises FumikuraError for what concerns all of them; what was asked stays, and the same call goes on.
    """
    runs: dict[str, Run] = {}
    failures: dict[str, FumikuraError] = {}
    with ExitStack() as kept:
        libraries: dict[str, Path] = {}
        for name, settings in variants.items():
            key = indexing(settings)
            if key not in libraries:
                libraries[key] = kept.enter_context(scratch_folder(folder / f"index-{len(libraries) + 1}"))
            try:
                out = folder / f"{file_name(name)}.jsonl"
                runs[name] = bench.run_in(libraries[key], questions, settings, out, options)
            except (StoppedRun, Conflict) as error:  # Conflict: its sources do not fit into the resident core
                failures[name] = error
    return Sweep(folder, runs, failures)


def file_name(name: str) -> str:
    """Return a variant's name as a file may have it; two names never become one."""
    safe = UNSAFE.sub("_", name)[:LONGEST_NAME]
    return safe if safe == name else f"{safe}_{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def write_sweep(sweep: Sweep, language: str) -> Table:
    """Write plot.svg and table.md into the folder and return the table."""
    summaries = {name: summarise(run) for name, run in sweep.runs.items()}
    table = sweep_table(sweep, summaries, language)
    picture = plot([point_of(name, summary) for name, summary in summaries.items()], language)
    (sweep.folder / "plot.svg").write_text(picture, encoding="utf-8")
    (sweep.folder / "table.md").write_text(table.markdown() + "\n", encoding="utf-8")
    return table


def sweep_table(sweep: Sweep, summaries: Mapping[str, Summary], language: str) -> Table:
    """Return a row for each variant: points, the difference to the first one, evidence given, times."""
    first = next(iter(sweep.runs.values()))
    rows = []
    for name, summary in summaries.items():
        difference, p = _against(first, sweep.runs[name])
        measured = (summary.retrieval.get("in_prompt"), summary.latency.ttft_s, summary.latency.tokens_per_s)
        rows.append((name, interval_text(summary.points), difference, p, *map(number_text, measured)))
    return Table([label("run", language), *(label(key, language) for key in MEASURES)], rows)


def _against(first: Run, other: Run) -> tuple[str, str]:
    a, b = points_by_question(first.asked), points_by_question(other.asked)
    shared = [key for key in a if key in b]
    if first is other or not shared:
        return "–", "–"
    compared = compare_paired([a[key] for key in shared], [b[key] for key in shared])
    return interval_text(compared.difference), f"{compared.p_value:.3f}"
