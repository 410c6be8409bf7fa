"""Runs as one HTML page that needs nothing else: no network, no script, light and dark by the reader's choice.

Whatever comes from a source, a question, a model or a file name is escaped in one place, `_text`.
"""

import json
from collections.abc import Sequence
from html import escape

from fumikura.evaluation.plot import plot, point_of
from fumikura.evaluation.report_markdown import report_tables
from fumikura.evaluation.run_file import Asked, Run
from fumikura.evaluation.summary import summarise
from fumikura.evaluation.tables import Table
from fumikura.evaluation.wording import label

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.6 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .25rem .75rem;
  text-align: left; vertical-align: top; }
td:not(:first-child) { font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; }
details { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: .4rem;
  padding: .4rem .8rem; margin: .4rem 0; }
details details { border: 0; padding: 0; }
summary { cursor: pointer; }
blockquote, pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0; padding-left: .8rem;
  border-left: 3px solid color-mix(in srgb, currentColor 25%, transparent); }
pre { font-size: .85rem; }
.points { font-weight: bold; }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def report_html(runs: Sequence[Run], language: str) -> str:
    """Return the whole report. Raises EvaluationError for a run without a single answer."""
    title = label("title", language)
    tables = "".join(f"<h2>{_text(name)}</h2>{_table(table)}" for name, table in report_tables(runs, language))
    picture = plot([point_of(run.name, summarise(run)) for run in runs], language)
    answers = "".join(_run(run, language) for run in runs)
    return (
        f'<!doctype html>\n<html lang="{"ja" if language == "ja" else "en"}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(title)}</title><style>{STYLE}</style></head>"
        f"<body><main><h1>{_text(title)}</h1>{picture}{tables}{answers}</main></body></html>\n"
    )


def _text(value: object) -> str:
    return escape(str(value))


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{_text(cell)}</th>' for cell in table.headings)
    rows = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _run(run: Run, language: str) -> str:
    header = run.header
    about = (
        f"{header.set_name} · {header.model} · {header.revision.get('version')} {header.revision.get('commit') or ''}"
    )
    settings = json.dumps(dict(header.settings), ensure_ascii=False, indent=1)
    return (
        f"<h2>{_text(label('each_answer', language))}: {_text(run.name)}</h2>"
        f"<p>{_text(about)} · {_text(header.begun)}</p>"
        + _folded(label("settings", language), f"<pre>{_text(settings)}</pre>")
        + "".join(_answer(one, language) for one in run.asked)
    )


def _answer(asked: Asked, language: str) -> str:
    fault = f" · {label(asked.fault, language)}" if asked.fault else ""
    about = f"{asked.id} ({asked.trial}) · {asked.type}{fault} · {asked.question}"
    shown = [
        _field(label("answer", language), asked.text),
        _field(label("model_answer", language), asked.model_answer),
        "".join(f"<p>{_text(reason)}</p>" for reason in asked.reasons),
        _evidence(asked, language),
        _passages(asked, language),
        _receipt(asked, language),
    ]
    points = f'<span class="points">{asked.points}</span> '
    return f"<details><summary>{points}{_text(about)}</summary>{''.join(shown)}</details>"


def _field(name: str, text: str) -> str:
    return f"<h4>{_text(name)}</h4><blockquote>{_text(text)}</blockquote>"


def _evidence(asked: Asked, language: str) -> str:
    rows = [
        f"<li>{_text(piece['source'])}: 「{_text(piece['quote'])}」 "
        f"({_text(label('reached' if given else 'not_reached', language))})</li>"
        for piece, given in zip(asked.evidence, asked.in_prompt, strict=False)
    ]
    return f"<h4>{_text(label('evidence', language))}</h4><ul>{''.join(rows)}</ul>" if rows else ""


def _passages(asked: Asked, language: str) -> str:
    shown = [
        _field(" / ".join(part for part in (f"[{one['n']}] {one['source']}", one["heading"]) if part), one["text"])
        for one in asked.passages
    ]
    return _folded(f"{label('passages', language)} ({len(shown)})", "".join(shown))


def _receipt(asked: Asked, language: str) -> str:
    receipt = json.dumps(asked.answer["receipt"], ensure_ascii=False, indent=1) if asked.answer else asked.error
    return _folded(label("receipt", language), f"<pre>{_text(receipt)}</pre>")


def _folded(name: str, content: str) -> str:
    return f"<details><summary>{_text(name)}</summary>{content}</details>"
