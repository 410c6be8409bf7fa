"""Asks the built-in question sets in every way that docs/evaluation.md compares, and writes its tables.

Usage: .venv/bin/python scripts/publish_evaluation.py FOLDER [RUN ...]. FOLDER keeps the run files: the same command
goes on where it stopped. RUN names what to ask (all: about four hours on two cores; `tables`: only write the tables).
What a whole run gave stays in docs/evaluation.json, so that a table may hold runs of several days.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from fumikura.evaluation.run_file import Run, plain, read_run
from fumikura.evaluation.summary import Summary, points_by_question, summarise
from fumikura.evaluation.tables import Table, faults_table, measures_table, points_table

REPOSITORY = Path(__file__).parents[1]
RESULTS = REPOSITORY / "docs" / "evaluation.json"
PAGE = REPOSITORY / "docs" / "evaluation.md"
BEGIN, END = "<!-- results: scripts/publish_evaluation.py -->", "<!-- end of results -->"
RAG = "resident.mode=rag"
SETS = ("story", "notes")
WAYS: Mapping[str, Sequence[str]] = {
    "default": (),
    "rag": ("--settings", RAG),
    "seed1": ("--baseline", "seed1"),
    "seed2": ("--baseline", "seed2"),
    "whole": ("--baseline", "whole"),
}
TOP_K = {f"top_k {value}": ("--settings", RAG, f"search.top_k={value}") for value in (1, 3, 10)}
CHUNKERS = {name: ("--settings", RAG, f"chunk.method={name}") for name in ("fixed", "semantic")}
# Our own retrieval is the middle of both sweeps: five passages, chunks by structure.
SWEEPS: Mapping[str, Sequence[str]] = {
    "top_k": ("top_k 1", "top_k 3", "rag", "top_k 10"),
    "chunk.method": ("fixed", "semantic", "rag"),
}
ARGUMENTS = {
    f"{name}-{way}".replace(" ", "-"): (name, *arguments)
    for name in SETS
    for way, arguments in {**WAYS, **TOP_K, **CHUNKERS}.items()
}

Results = dict[str, dict[str, Any]]


def ask(folder: Path, name: str) -> Run:
    """Ask one run to its end, or go on with it."""
    out = folder / f"{name}.jsonl"
    command = [sys.executable, "-m", "fumikura", "eval", "run", *ARGUMENTS[name], "--out", str(out)]
    subprocess.run(command, check=True, cwd=REPOSITORY)
    return read_run(out)


def result_of(run: Run) -> dict[str, Any]:
    """Return what stays of a run: its numbers, each question's points, and what they were measured with."""
    header = run.header
    return {
        "model": header.model,
        "begun": header.begun,
        "revision": dict(header.revision),
        "machine": dict(header.machine),
        "summary": plain(summarise(run)),
        "points": points_by_question(run.asked),
    }


def columns_of(results: Results, set_name: str, ways: Sequence[str]) -> list[tuple[str, Summary]]:
    """Return the summaries that there are, each under its way's name."""
    read = TypeAdapter(Summary).validate_python
    names = {way: f"{set_name}-{way}".replace(" ", "-") for way in ways}
    return [(way, read(results[name]["summary"])) for way, name in names.items() if name in results]


def section(title: str, tables: Sequence[Table]) -> str:
    """Return tables under a heading."""
    return "\n\n".join([f"### {title}", *(table.markdown() for table in tables if table.rows)])


def page(results: Results) -> str:
    """Return the part of the page that holds the tables."""
    parts = []
    for set_name in SETS:
        if columns := columns_of(results, set_name, list(WAYS)):
            tables = [make(columns, "en") for make in (points_table, measures_table, faults_table)]
            parts.append(section(f"{set_name}: five ways", tables))
        for key, ways in SWEEPS.items():
            columns = columns_of(results, set_name, ways)
            if len(columns) > 1:
                tables = [make(columns, "en") for make in (points_table, measures_table)]
                parts.append(section(f"{set_name}: {key}", tables))
    return "\n\n".join(parts)


def main() -> None:
    """Ask what was named, keep its numbers, write the tables."""
    folder, *names = sys.argv[1:]
    Path(folder).mkdir(parents=True, exist_ok=True)
    results: Results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    for name in [] if names == ["tables"] else names or list(ARGUMENTS):
        results[name] = result_of(ask(Path(folder), name))
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{page(results)}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
