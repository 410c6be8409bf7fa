"""The commands of `eval`: ask a question set, compare runs, report them. Results to standard output."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fumikura import terminal
from fumikura.cli_options import JsonOption
from fumikura.errors import SettingsError
from fumikura.terminal import say, write_json

if TYPE_CHECKING:
    from fumikura.evaluation.cases import Split
    from fumikura.evaluation.judge import Judge
    from fumikura.evaluation.run_file import Run
    from fumikura.evaluation.runner import RunOptions
    from fumikura.library import Places
    from fumikura.settings import Settings

app = typer.Typer(no_args_is_help=True, help="質問集で測り、比べる / measure with a question set, and compare")

SetArgument = Annotated[str, typer.Argument(metavar="SET", help="story | notes | PATH")]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="評価の記録 / a run file")]
RunsArgument = Annotated[list[Path], typer.Argument(metavar="RUN…", help="評価の記録 / run files")]
ChangesArgument = Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]…", hidden=True)]
SettingsOption = Annotated[
    list[str] | None, typer.Option("--settings", metavar="KEY=VALUE…", help="変える設定 / settings to change")
]
TrialsOption = Annotated[int, typer.Option(min=1, max=100, help="一問を何回聞くか / times each question is asked")]
FolderOption = Annotated[Path | None, typer.Option(metavar="FOLDER", help="記録の置き場所 / folder of runs")]
OnlyOption = Annotated[str | None, typer.Option(help="held-out | tune")]
PinOption = Annotated[bool, typer.Option("--pin-all", help="全資料を常駐させる / pin every source")]


def _places(context: typer.Context) -> "Places":
    from fumikura.library import find_places

    return find_places(context.obj["data"], context.obj["settings"])


def _way(context: typer.Context, name: str | None, changes: list[str]) -> "tuple[Settings, bool]":
    """Return the settings of a baseline (None: those that hold here) with changes, and whether it pins all sources."""
    from fumikura.evaluation.baselines import baseline
    from fumikura.evaluation.changes import read_changes

    named = baseline(name) if name else None
    base = dict(named.settings) if named else {}
    return _settings(context, base | read_changes(changes)), bool(named and named.pin_all)


def _settings(context: typer.Context, changes: "dict[str, str]") -> "Settings":
    from fumikura.evaluation.changes import settings_with

    return settings_with(changes, _places(context).settings_file, os.environ, context.obj["preset"])


def _split(only: str | None) -> "Split | None":
    splits: dict[str, Split] = {"held-out": "held_out", "held_out": "held_out", "tune": "tune"}
    if only is not None and only not in splits:
        raise SettingsError(
            f"--only {only} は使えません。held-out か tune です。", f"--only {only} is unknown: held-out or tune"
        )
    return splits[only] if only else None


def _default_out(places: "Places", words: Sequence[str], *told: object) -> Path:
    """Return a file that the same command names again, so that it goes on where it stopped."""
    from fumikura.evaluation.sweep import file_name

    told_apart = hashlib.sha256(str(told).encode()).hexdigest()[:6]
    return places.data / "evaluation" / f"{file_name('_'.join(words))}_{told_apart}.jsonl"


def _show_run(run: "Run", *, as_json: bool) -> None:
    from fumikura.evaluation.report_markdown import summary_markdown
    from fumikura.evaluation.summary import summarise

    if as_json:
        write_json({"run": str(run.path), "summary": summarise(run)})
    else:
        terminal.write(summary_markdown([run], terminal.language()))
    say(f"記録: {run.path}", f"run file: {run.path}")


@app.command("run")
def run_command(
    context: typer.Context,
    questions: SetArgument,
    more: ChangesArgument = None,
    trials: TrialsOption = 1,
    settings: SettingsOption = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="記録の置き場所 / the run file")] = None,
    only: OnlyOption = None,
    notebook: Annotated[str | None, typer.Option(help="自分のノートに聞く / ask your own notebook (read only)")] = None,
    pin_all: PinOption = False,
    baseline: Annotated[str | None, typer.Option(help="seed1 | seed2 | whole")] = None,
    as_json: JsonOption = False,
) -> None:
    """質問集を全部聞いて採点する。止めても同じコマンドで続く / ask a set and score it; give it again to go on."""
    from fumikura.evaluation import open_set
    from fumikura.evaluation.runner import Bench, RunOptions

    changes = [*(settings or []), *(more or [])]
    chosen, pinned = _way(context, baseline, changes)
    asked, places = open_set(questions), _places(context)
    options = RunOptions(trials, _split(only), pin_all or pinned)
    words = [asked.name, *filter(None, [baseline, notebook]), *changes]
    out = out or _default_out(places, words, chosen.sha256, options.split, options.pin_all, notebook)
    with terminal.ProgressLine() as progress:
        bench = Bench(places.data, progress=progress)
        if notebook:
            run = bench.run_notebook(asked, chosen, out, options, notebook)
        else:
            run = bench.run_set(asked, chosen, out, options)
    _show_run(run, as_json=as_json)


@app.command()
def compare(
    a: RunArgument,
    b: RunArgument,
    anyway: Annotated[bool, typer.Option("--anyway", help="設定が幾つ違っても / however many settings differ")] = False,
    as_json: JsonOption = False,
) -> None:
    """二つの評価を並べ、差が偶然かを言う / set two runs side by side and say what is within noise."""
    from fumikura.evaluation.run_file import read_run
    from fumikura.evaluation.side_by_side import set_side_by_side
    from fumikura.evaluation.tables import comparison_markdown

    side = set_side_by_side(read_run(a), read_run(b), anyway=anyway)
    if as_json:
        write_json(side)
    else:
        terminal.write(comparison_markdown(side, terminal.language()))


@app.command()
def report(
    runs: RunsArgument,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="書き込む先 / where to write it")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Markdown で / as Markdown")] = False,
    as_json: JsonOption = False,
) -> None:
    """評価を一枚のページにする / make one page of runs (HTML without network or script, or Markdown)."""
    from fumikura.evaluation.report_html import report_html
    from fumikura.evaluation.report_markdown import report_markdown
    from fumikura.evaluation.run_file import read_run
    from fumikura.evaluation.summary import summarise

    found = [read_run(path) for path in runs]
    if as_json:
        write_json({"runs": [{"run": str(run.path), "summary": summarise(run)} for run in found]})
        return
    make = report_markdown if markdown else report_html
    text = make(found, terminal.language())
    if out is None and markdown:
        terminal.write(text)
        return
    out = out or runs[0].with_suffix(".html")
    if out.absolute() in {run.absolute() for run in runs}:
        raise SettingsError(
            f"{out} は評価の記録です。--out で別のファイルにしてください。",
            f"{out} is one of the runs: name another file by --out",
        )
    out.write_text(text, encoding="utf-8", errors="backslashreplace")
    say(f"書きました: {out}", f"written: {out}")


@app.command()
def sweep(
    context: typer.Context,
    questions: SetArgument,
    key: Annotated[str, typer.Argument(metavar="KEY", help="chunk.size, search.top_k …")],
    values: Annotated[list[str], typer.Argument(metavar="VALUE…")],
    trials: TrialsOption = 1,
    settings: SettingsOption = None,
    out: FolderOption = None,
    only: OnlyOption = None,
    pin_all: PinOption = False,
    as_json: JsonOption = False,
) -> None:
    """設定をひとつだけ変えて、値ごとに聞く / change one setting only, one run a value; a table and a plot."""
    from fumikura.evaluation.changes import check_key, read_changes
    from fumikura.evaluation.runner import RunOptions

    check_key(key, key)
    base = read_changes(settings or [])
    variants = {f"{key}={value}": _settings(context, base | {key: value}) for value in values}
    options = RunOptions(trials, _split(only), pin_all)
    _run_each(context, questions, variants, options, out, as_json=as_json)


@app.command()
def servers(
    context: typer.Context,
    questions: SetArgument,
    urls: Annotated[list[str], typer.Argument(metavar="URL[#MODEL]…", help="http://HOST:PORT/v1#MODEL")],
    trials: TrialsOption = 1,
    settings: SettingsOption = None,
    out: FolderOption = None,
    only: OnlyOption = None,
    as_json: JsonOption = False,
) -> None:
    """OpenAI 互換サーバーを同じ質問集で比べる / the same set against several OpenAI-compatible servers."""
    from fumikura.evaluation.changes import read_changes
    from fumikura.evaluation.runner import RunOptions
    from fumikura.evaluation.servers import server_changes

    base = read_changes(settings or [])
    here = _settings(context, base)
    variants = {url: _settings(context, base | server_changes(here, url, os.environ)) for url in urls}
    _run_each(context, questions, variants, RunOptions(trials, _split(only)), out, as_json=as_json)


def _run_each(
    context: typer.Context,
    questions: str,
    variants: "dict[str, Settings]",
    options: "RunOptions",
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    from fumikura.evaluation import open_set
    from fumikura.evaluation.runner import Bench
    from fumikura.evaluation.summary import summarise
    from fumikura.evaluation.sweep import run_each, write_sweep

    asked, places = open_set(questions), _places(context)
    told = [one.sha256 for one in variants.values()]
    words = [asked.name, next(iter(variants)).partition("=")[0]]
    folder = out or _default_out(places, words, told, options.split, options.pin_all).with_suffix("")
    with terminal.ProgressLine() as progress:
        done = run_each(Bench(places.data, progress=progress), asked, variants, folder, options)
    for name, error in done.failures.items():
        say(f"{name}: {error.ja}", f"{name}: {error.en}")
    if done.runs:
        table = write_sweep(done, terminal.language())
        if as_json:
            runs = {name: {"run": str(run.path), "summary": summarise(run)} for name, run in done.runs.items()}
            write_json({"folder": str(folder), "runs": runs})
        else:
            terminal.write(table.markdown())
        say(f"記録・表・図: {folder}", f"run files, table and plot: {folder}")
    if done.failures:
        raise typer.Exit(1)


def _judge(context: typer.Context, name: str) -> "Judge":
    from fumikura.evaluation.judge import Judge
    from fumikura.evaluation.servers import judge_at
    from fumikura.library import Library

    if name != "own":
        return judge_at(name, os.environ)
    library = Library(_settings(context, {"llm.temperature": "0"}), _places(context).data)
    context.call_on_close(library.close)
    return Judge(library.generator.name, library.generator)


@app.command()
def judge(
    context: typer.Context,
    run: RunArgument,
    judges: Annotated[
        list[str] | None, typer.Option("--judge", metavar="own|URL[#MODEL]", help="審判 / judges, any number")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """言語モデルに採点させ、採点表との一致を見る / let models mark the answers beside the rubric."""
    from fumikura.evaluation.agreement import agreement
    from fumikura.evaluation.judge import judge_run
    from fumikura.evaluation.report_markdown import summary_markdown
    from fumikura.evaluation.run_file import read_run

    panel = [_judge(context, name) for name in judges or ["own"]]
    with terminal.ProgressLine() as progress:
        unclear = judge_run(read_run(run), panel, progress)
    for one in unclear:
        say(
            f"{one.judge} は質問 {one.id}（{one.trial} 回目）に点を返しませんでした：{one.reply}",
            f"{one.judge} gave no mark for question {one.id} (trial {one.trial}): {one.reply}",
        )
    marked = read_run(run)
    if as_json:
        write_json({"judges": agreement(marked), "unclear": unclear})
    else:
        terminal.write(summary_markdown([marked], terminal.language()))
    if unclear:
        raise typer.Exit(1)
