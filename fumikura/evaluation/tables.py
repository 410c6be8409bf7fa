"""The tables of a report as headings and rows of text, for Markdown, HTML and the terminal alike."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from fumikura.evaluation.faults import FAULTS
from fumikura.evaluation.run_file import Run, flat_settings
from fumikura.evaluation.side_by_side import SideBySide
from fumikura.evaluation.summary import Summary
from fumikura.evaluation.wording import interval_text, label, number_text

Row = Sequence[str]
COUNTS = ("prompt_tokens", "cached_tokens")


@dataclass(frozen=True, slots=True)
class Table:
    """A heading for each column, then the rows."""

    headings: Row
    rows: Sequence[Row]

    def markdown(self) -> str:
        """Return the table in Markdown; a cell's bars, tags, links and images stay text."""
        lines = (self.headings, ["---"] * len(self.headings), *self.rows)
        return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("](", "]\\(")


def points_table(summaries: Sequence[tuple[str, Summary]], language: str) -> Table:
    """Return points by type, one column a run."""
    types = dict.fromkeys(one.type for _, summary in summaries for one in summary.by_type)
    by_type = [{one.type: interval_text(one.points) for one in summary.by_type} for _, summary in summaries]
    counts = {one.type: str(one.question_count) for _, summary in summaries for one in summary.by_type}
    rows = [(name, counts[name], *(found.get(name, "–") for found in by_type)) for name in types]
    whole = [interval_text(summary.points) for _, summary in summaries]
    total = (label("all", language), str(max(summary.question_count for _, summary in summaries)), *whole)
    return Table((label("type", language), label("questions", language), *_names(summaries)), [*rows, total])


def measures_table(summaries: Sequence[tuple[str, Summary]], language: str) -> Table:
    """Return refusals, quotes, retrieval and times, one column a run."""
    columns = [_measures(summary) for _, summary in summaries]
    rows = [(label(key, language), *(column.get(key, "–") for column in columns)) for key in columns[0]]
    return Table((label("measure", language), *_names(summaries)), rows)


def _measures(summary: Summary) -> dict[str, str]:
    refusals = {f"refusal_{key}": number_text(value) for key, value in asdict(summary.refusals).items()}
    retrieval = {key: number_text(value) for key, value in summary.retrieval.items()}
    times = {key: number_text(value, 0 if key in COUNTS else 2) for key, value in asdict(summary.latency).items()}
    answers = {"answers": f"{summary.answer_count}/{summary.wanted_count}"}
    return answers | refusals | {"support": number_text(summary.support)} | retrieval | times


def faults_table(summaries: Sequence[tuple[str, Summary]], language: str) -> Table:
    """Return how often each fault occurred, one column a run."""
    found = [name for name in FAULTS if any(name in summary.faults for _, summary in summaries)]
    rows = [(label(name, language), *(str(one.faults.get(name, 0)) for _, one in summaries)) for name in found]
    return Table((label("fault", language), *_names(summaries)), rows)


def settings_table(runs: Sequence[Run], language: str) -> Table:
    """Return the settings in which runs differ, one column a run."""
    flats = [flat_settings(run.header.settings) for run in runs]
    keys = [key for key in flats[0] if len({_value(flat.get(key)) for flat in flats}) > 1]
    rows = [(key, *(_value(flat.get(key)) for flat in flats)) for key in keys]
    return Table((label("setting", language), *(run.name for run in runs)), rows)


def comparison_table(side: SideBySide, language: str) -> Table:
    """Return the difference of two runs, in all and by type."""
    headings = ("type", "questions", "difference", "better_worse", "p", "noise")
    lines = [(label("all", language), side.total), *side.by_type.items()]
    rows = [
        (
            name,
            str(one.question_count),
            interval_text(one.difference),
            f"{one.better} / {one.worse}",
            f"{one.p_value:.3f}",
            label("yes" if one.within_noise() else "no", language),
        )
        for name, one in lines
    ]
    return Table([label(key, language) for key in headings], rows)


def pairs_table(side: SideBySide, language: str) -> Table:
    """Return the questions whose points differ."""
    changed = [pair for pair in side.pairs if pair.a != pair.b]
    rows = [(pair.id, pair.type, f"{pair.a:.2f}", f"{pair.b:.2f}", pair.question) for pair in changed]
    return Table(("id", label("type", language), "A", "B", label("questions", language)), rows)


def comparison_markdown(side: SideBySide, language: str) -> str:
    """Return two runs side by side in Markdown, the verdict last."""
    lines = [f"A: {side.a}", f"B: {side.b}", *_differences(side, language)]
    parts = ["  \n".join(lines), comparison_table(side, language).markdown()]
    if any(pair.a != pair.b for pair in side.pairs):
        parts.append(pairs_table(side, language).markdown())
    return "\n\n".join([*parts, side.verdict.message(language)])


def _differences(side: SideBySide, language: str) -> Iterable[str]:
    for key, (old, new) in side.settings.items():
        yield f"{label('settings_differ', language)}: {key}: {_value(old)} → {_value(new)}"
    if side.revisions:
        yield f"{label('revisions_differ', language)}: {side.revisions[0]} → {side.revisions[1]}"
    if side.left_out:
        yield f"{label('left_out', language)}: {', '.join(side.left_out)}"


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _names(summaries: Sequence[tuple[str, Summary]]) -> list[str]:
    return [name for name, _ in summaries]
