"""What the command line shows: the language, tables, progress and answers."""

import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from fumikura.records import AddReport, Answer, Hit, SourceSummary

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def language(environment: Mapping[str, str] = os.environ) -> str:
    """Return "ja" or "en": FUMIKURA_LANG, else the locale; Japanese where neither says anything."""
    for name in ("FUMIKURA_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name, "")
        if value and value.split(".")[0] not in ("C", "POSIX"):
            return "en" if not value.startswith("ja") else "ja"
    return "ja"


def say(ja: str, en: str) -> None:
    """Write one line for a person to standard error, where it never mixes with results."""
    err.print(ja if language() == "ja" else en, markup=False)


def one_of(ja: str, en: str) -> str:
    """Return the wording in the person's language."""
    return ja if language() == "ja" else en


def write_json(document: object) -> None:
    """Write one JSON document to standard output."""
    sys.stdout.write(json.dumps(_plain(document), ensure_ascii=False, indent=2) + "\n")


def _plain(value: object) -> Any:  # noqa: ANN401 - any JSON value
    if is_dataclass(value) and not isinstance(value, type):
        return {key: _plain(entry) for key, entry in asdict(value).items()}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


def hit_json(hit: Hit) -> dict[str, object]:
    """Return a hit in the shape of `search --json`."""
    return {
        "rank": hit.rank,
        "score": round(hit.score, 6),
        "source": hit.source,
        "heading": " / ".join(hit.heading_path),
        "page": hit.page,
        "start": hit.start,
        "end": hit.end,
        "text": hit.text,
    }


def show_reports(reports: Iterable[AddReport]) -> None:
    """Show one line for each added file."""
    table = Table(box=None, pad_edge=False)
    for column in (
        one_of("資料", "source"),
        one_of("結果", "status"),
        one_of("断片", "chunks"),
        one_of("秒", "seconds"),
    ):
        table.add_column(column)
    for report in reports:
        table.add_row(_text(report.source), report.status, str(report.chunk_count), f"{report.seconds:.2f}")
        if report.error:
            table.add_row(f"  {_text(report.error)}", "", "", "")
    out.print(table)


def show_sources(sources: Iterable[SourceSummary]) -> None:
    """Show the sources of a notebook as a table."""
    table = Table(box=None, pad_edge=False)
    for column in (
        "id",
        one_of("資料", "source"),
        one_of("状態", "status"),
        one_of("日付", "date"),
        one_of("断片", "chunks"),
    ):
        table.add_column(column)
    for source in sources:
        table.add_row(
            source.source_id[:8], _text(source.name), source.status, source.date or "", str(source.chunk_count)
        )
        for notice in source.notices:
            table.add_row("", f"  {_text(notice)}", "", "", "")
    out.print(table)


def show_models(statuses: Iterable[Any]) -> None:
    """Show the known models with what is here of them."""
    table = Table(box=None, pad_edge=False)
    for column in (one_of("モデル", "model"), one_of("状態", "state"), "MB", one_of("ライセンス", "licence")):
        table.add_column(column)
    for status in statuses:
        model = status.model
        table.add_row(model.name, status.state, f"{model.size_bytes / 1e6:,.0f}", model.licence)
    out.print(table)


def show_findings(findings: Iterable[Any]) -> None:
    """Show what doctor found, with the remedy where something is wrong."""
    marks = {"ok": "  ok", "warn": "warn", "fail": "FAIL"}
    for finding in findings:
        text = finding.ja if language() == "ja" else finding.en
        out.print(f"{marks[finding.severity]}  {finding.check}: {text}", markup=False)
        remedy = finding.remedy_ja if language() == "ja" else finding.remedy_en
        if finding.severity != "ok" and remedy:
            out.print(f"      → {remedy}", markup=False)


def show_hits(hits: Iterable[Hit]) -> None:
    """Show passages with their place."""
    for hit in hits:
        place = " / ".join((hit.source, *hit.heading_path))
        out.print(f"{hit.rank}. {place}  ({hit.score:.4f})", style="bold", markup=False)
        out.print(hit.text, markup=False)
        out.print()


def show_events(events: Iterable[object], *, stream: bool) -> None:
    """Show an answer in progress: with `stream` the words as they come, then the checked answer if it differs."""
    draft = ""
    for event in events:
        if stream and isinstance(event, str):
            draft += event
            out.print(event, end="", markup=False)
        elif isinstance(event, Answer):
            if draft:
                out.print("" if draft.strip() == event.text else one_of("\n\n確かめた答え:", "\n\nChecked:"))
            show_answer(event, with_text=draft.strip() != event.text)


def show_answer(answer: Answer, *, with_text: bool = True) -> None:
    """Show an answer, the passages it rests on, and what should be known about it."""
    if with_text:
        out.print(answer.text, markup=False)
    for citation in answer.citations:
        place = " / ".join(part for part in (citation.source, citation.heading) if part)
        out.print(f"  [{citation.n}] {place}: 「{citation.quote}」", style="dim", markup=False)
    for notice in answer.notices:
        err.print(notice, markup=False)


def _text(text: str) -> str:
    return text.replace("[", "\\[")


class ProgressLine:
    """Shows done/total: a bar on a terminal, a plain line now and then elsewhere (standard error both)."""

    def __init__(self) -> None:
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=err
        )
        self._tasks: dict[str, Any] = {}
        self._shown: dict[str, int] = {}

    def __enter__(self) -> Self:
        if err.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if err.is_terminal:
            self._bar.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report that `done` of `total` steps of a stage are finished."""
        if err.is_terminal:
            if stage not in self._tasks:
                self._tasks[stage] = self._bar.add_task(stage, total=total)
            self._bar.update(self._tasks[stage], completed=done, total=total)
            return
        tenth = done * 10 // total if total else 10
        if tenth != self._shown.get(stage):
            self._shown[stage] = tenth
            err.print(f"{stage}: {done}/{total}", markup=False)
