"""Runs in Markdown: for the terminal, and for a page that Markdown is pasted into."""

from collections.abc import Sequence

from fumikura.evaluation.agreement import agreement_table, calibration_table
from fumikura.evaluation.run_file import Run
from fumikura.evaluation.summary import summarise
from fumikura.evaluation.tables import Table, faults_table, measures_table, points_table, settings_table
from fumikura.evaluation.wording import label


def summary_markdown(runs: Sequence[Run], language: str) -> str:
    """Return points, measures and faults of runs, one column each."""
    return "\n\n".join(table.markdown() for _, table in report_tables(runs, language))


def report_tables(runs: Sequence[Run], language: str) -> list[tuple[str, Table]]:
    """Return the tables of a report with their titles; those without a row are left out."""
    summaries = [(run.name, summarise(run)) for run in runs]
    tables = [
        (label("settings_differ", language), settings_table(runs, language)),
        (label("points", language), points_table(summaries, language)),
        (label("measure", language), measures_table(summaries, language)),
        (label("faults", language), faults_table(summaries, language)),
        (label("judges", language), calibration_table(runs, language)),
        (label("kappa", language), agreement_table(runs, language)),
    ]
    return [(title, table) for title, table in tables if table.rows]


def report_markdown(runs: Sequence[Run], language: str) -> str:
    """Return the whole report: its tables, then each answer that lost points."""
    parts = [f"# {label('title', language)}"]
    for title, table in report_tables(runs, language):
        parts += [f"## {title}", table.markdown()]
    for run in runs:
        parts += [f"## {label('each_answer', language)}: {run.name}", _answers(run, language).markdown()]
    return "\n\n".join(parts) + "\n"


def _answers(run: Run, language: str) -> Table:
    headings = ("id", "type", "points", "fault", "question", "answer", "model_answer")
    rows = [
        (
            f"{one.id} ({one.trial})" if run.header.trials > 1 else one.id,
            one.type,
            str(one.points),
            label(one.fault, language),
            one.question,
            one.text,
            one.model_answer,
        )
        for one in run.asked
    ]
    words = {"points": "0–2", "question": label("questions", language)}
    return Table([words.get(key) or label(key, language) for key in headings], rows)
