"""What the command line shows: the language, tables, progress and answers."""

import io
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Self, cast

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from fumikura.errors import FumikuraError

if TYPE_CHECKING:  # the records import NumPy, which takes longer than all else that --help needs
    from fumikura.records import AddReport, Answer, Hit, Notice, Prompt, SearchResult, SourceSummary, Usage
    from fumikura.resident import Gauge

# What rich would read as markup or as an emoji code (:memo:) is a source's own text.
out = Console(markup=False, emoji=False, highlight=False, soft_wrap=True)
err = Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
UNESCAPED_IN_JSON = re.compile(r"[\x7f-\x9f]")


def language(environment: Mapping[str, str] = os.environ) -> str:
    """Return "ja" or "en": FUMIKURA_LANG, else the locale; Japanese where neither says anything."""
    for name in ("FUMIKURA_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name, "")
        if value and value.split(".")[0] not in ("C", "POSIX"):
            return "en" if not value.startswith("ja") else "ja"
    return "ja"


def one_of(ja: str, en: str) -> str:
    """Return the wording in the person's language."""
    return ja if language() == "ja" else en


def show_any_character() -> None:
    """Let no character end the program: what the output's encoding lacks is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def discard_output() -> None:
    """Send to nowhere what could not be written (`| head`, a full disk), so that Python's last flush is quiet."""
    for stream in (sys.stdout, sys.stderr):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def clean(text: str) -> str:
    """Return the text without control characters, which could command the terminal (line ends and tabs stay)."""
    return CONTROL.sub("\ufffd", text)


def write(text: str, *, style: str | None = None, end: str = "\n") -> None:
    """Write text, which may be a source's or the model's, to standard output."""
    out.print(clean(text), style=style, end=end)


def say(ja: str, en: str) -> None:
    """Write one line for a person to standard error, where it never mixes with results."""
    err.print(_one_line(one_of(ja, en)))


def say_notice(notice: "Notice") -> None:
    """Write a notice to standard error, in the person's language."""
    say(notice.ja, notice.en)


def write_json(document: object) -> None:
    """Write one JSON document to standard output, as UTF-8 whatever the terminal's encoding is."""
    text = json.dumps(_plain(document), ensure_ascii=False, indent=2)
    text = UNESCAPED_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    # A file name that is no text holds lone surrogates: their backslash form is also their JSON form.
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")


def _plain(value: object) -> Any:  # noqa: ANN401 - any JSON value
    if is_dataclass(value) and not isinstance(value, type):
        if type(value).__str__ is not object.__str__:  # a Notice: a line of text, and its module may not be imported
            return str(value)
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


def hit_json(hit: "Hit") -> dict[str, object]:
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


def source_json(source: "SourceSummary") -> dict[str, object]:
    """Return a source in the shape of `sources --json`."""
    return {
        "source_id": source.source_id,
        "source": source.name,
        "title": source.title,
        "kind": source.kind,
        "date": source.date,
        "status": source.status,
        "chunk_count": source.chunk_count,
        "vector_count": source.vector_count,
        "size_bytes": source.size_bytes,
        "encoding": source.encoding,
        "encoding_certain": source.encoding_certain,
        "added_at": source.added_at,
        "pinned": source.pinned,
        "notices": source.notices,
    }


def model_json(status: Any) -> dict[str, object]:  # noqa: ANN401 - a ModelStatus, which this module may not import
    """Return a model in the shape of `models list --json`."""
    return {
        "name": status.model.name,
        "state": status.state,
        "present_bytes": status.present_bytes,
        "size_bytes": status.model.size_bytes,
        "sha256": status.model.sha256,
        "licence": status.model.licence,
        "publisher": status.model.publisher,
    }


def show_reports(reports: Sequence["AddReport"], *, as_json: bool = False) -> None:
    """Show a row for each added file, then what went wrong; or all of it as JSON, `error` "" where all is well."""
    if as_json:
        write_json([{**_plain(report), "error": str(report.error or "")} for report in reports])
        return
    headings = (one_of("資料", "source"), one_of("結果", "status"), one_of("断片", "chunks"), one_of("秒", "seconds"))
    _rows(headings, [(one.source, one.status, str(one.chunk_count), f"{one.seconds:.2f}") for one in reports])
    for report in reports:
        if report.error:
            _remark(report.source, report.error)


def show_sources(sources: Sequence["SourceSummary"]) -> None:
    """Show a row for each source of a notebook, then what should be known about them."""
    named = (one_of("資料", "source"), one_of("状態", "status"), one_of("日付", "date"), one_of("断片", "chunks"))
    rows = [(one.source_id, one.name, one.status, one.date or "", str(one.chunk_count)) for one in sources]
    _rows(("id", *named), rows)
    for source in sources:
        for notice in source.notices:
            _remark(source.name, notice)


def show_gauge(gauge: "Gauge") -> None:
    """Show what is resident, a row for each source, and how full the core is."""
    named = (one_of("資料", "source"), one_of("トークン（約）", "tokens (about)"), one_of("読み方", "read"))
    full, searched = one_of("全文", "in full"), one_of("検索", "by search")
    rows = [(one.source, f"{one.token_count:,}", full if one.resident else searched) for one in gauge.shares]
    _rows(named, rows)
    used, room, free = f"{gauge.used_tokens:,}", f"{gauge.room_tokens:,}", f"{gauge.free_tokens:,}"
    say(f"{used} / {room} トークン（残り {free}）", f"{used} of {room} tokens ({free} free)")


def show_models(statuses: Iterable[Any]) -> None:
    """Show the known models with what is here of them."""
    rows = [(one.model.name, one.state, f"{one.model.size_bytes / 1e6:.0f}", one.model.licence) for one in statuses]
    _rows((one_of("モデル", "model"), one_of("状態", "state"), "MB", one_of("ライセンス", "licence")), rows)


def _rows(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table to a terminal (long cells fold, ids stay whole), elsewhere lines of tab-separated fields."""
    lines = [[_one_line(field) for field in row] for row in rows]
    if not out.is_terminal:  # not by rich, which turns tabs into spaces
        out.file.writelines("\t".join(line) + "\n" for line in lines)
        return
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading == "id")
    for line in lines:
        table.add_row(*line)
    out.print(table)


def _one_line(text: str) -> str:
    return clean(text).replace("\t", " ").replace("\n", " ")


def _remark(name: str, notice: "Notice") -> None:
    say(f"{name}: {notice.ja}", f"{name}: {notice.en}")


def show_findings(findings: Iterable[Any]) -> None:
    """Show what doctor found, with the remedy where something is wrong."""
    marks = {"ok": "  ok", "warn": "warn", "fail": "FAIL"}
    for finding in findings:
        write(f"{marks[finding.severity]}  {finding.check}: {one_of(finding.ja, finding.en)}")
        remedy = one_of(finding.remedy_ja, finding.remedy_en)
        if finding.severity != "ok" and remedy:
            write(f"      → {remedy}")


def show_hits(hits: Iterable["Hit"]) -> None:
    """Show passages with their place."""
    for hit in hits:
        place = " / ".join((hit.source, *hit.heading_path))
        write(f"{hit.rank}. {place}  ({hit.score:.4f})", style="bold")
        write(f"{hit.text}\n")


def show_events(events: Iterable["SearchResult | Prompt | str | Usage | Answer"], *, stream: bool) -> None:
    """Show an answer in progress: with `stream` the words as they come, then the checked answer if it differs."""
    draft = ""
    last: object = None  # the hits come first, the checked answer last
    try:
        for event in events:
            if not isinstance(event, str):
                last = event
            elif stream:
                draft += event
                write(event, end="")
    except FumikuraError:
        if draft:
            write(one_of("\n\n（上は確かめていない下書きです。）", "\n\n(The above is an unchecked draft.)"))
        raise
    answer = cast("Answer", last)
    same = draft.strip() == answer.text
    if draft:
        ja = "\n\n（上は確かめる前の下書きです。資料で確かめた答え:）"
        write("" if same else one_of(ja, "\n\n(The above is the unchecked draft. Checked against the sources:)"))
    show_answer(answer, with_text=not same)


def show_answer(answer: "Answer", *, with_text: bool = True) -> None:
    """Show an answer, the passages it rests on, and what should be known about it."""
    if with_text:
        write(answer.text)
    for citation in answer.citations:
        place = " / ".join(part for part in (citation.source, citation.heading) if part)
        write(f"  [{citation.n}] {place}: 「{citation.quote}」", style="dim")
    for notice in answer.notices:
        say_notice(notice)


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
            err.print(f"{stage}: {done}/{total}")
