"""The command line: a contract that scripts rely on (results to standard output, all else to standard error).

Exit codes: 0 done, 1 failed, 2 wrong use or settings. The parts are loaded when a command runs, not for --help.
"""

import logging
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fumikura import __version__, cli_core, cli_eval, cli_server, terminal
from fumikura.cli_options import JsonOption, NotebookOption, open_for, open_library
from fumikura.errors import FumikuraError, SettingsError
from fumikura.places import DEFAULT_NOTEBOOK
from fumikura.terminal import say, write_json

if TYPE_CHECKING:
    from fumikura.records import Answer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="文庫: 自分の資料だけから答えるノートブック / a notebook that answers from your own sources only",
)
models_app = typer.Typer(no_args_is_help=True, help="モデルファイル / model files")
app.add_typer(models_app, name="models")
app.add_typer(cli_server.app)
app.add_typer(cli_core.app)
app.add_typer(cli_eval.app, name="eval")

QuestionArgument = Annotated[str, typer.Argument(help="質問 / question")]

TO_COME = ("backup", "restore")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    data: Annotated[str | None, typer.Option(metavar="DIR", help="データフォルダ / data folder")] = None,
    settings: Annotated[Path | None, typer.Option(help="設定ファイル / settings file")] = None,
    preset: Annotated[str | None, typer.Option(help="embedded | ollama | vllm")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="詳しいログ / detailed log")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="版 / version")
    ] = False,
) -> None:
    """Remember where settings and data lie."""
    level = logging.INFO if verbose else logging.WARNING
    logging.basicConfig(stream=sys.stderr, level=level, format="%(levelname)s %(name)s: %(message)s")
    _refuse_blank(data, "--data")
    context.obj = {"data": Path(data) if data else None, "settings": settings, "preset": preset}


def _refuse_blank(text: str | None, name: str) -> None:
    """Refuse "" where a path is wanted: it would mean the current folder, all of it."""
    if text is not None and not text.strip():
        raise SettingsError(f"{name} が空です。パスを書いてください。", f"{name} is blank: write a path")


@app.command()
def add(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(help="ファイル・フォルダ / files, folders")],
    notebook: NotebookOption = DEFAULT_NOTEBOOK,
    as_json: JsonOption = False,
) -> None:
    """資料を加える / add sources."""
    for path in paths:
        _refuse_blank(path, "PATH")
        if "://" in path:
            raise SettingsError(
                f"URL（{path}）を加える機能はこれからです。ファイルに保存して加えてください。",
                f"URL sources ({path}) are to come: save it as a file and add that",
            )
    with terminal.ProgressLine() as progress:
        reports = open_library(context).add(notebook, [Path(path) for path in paths], progress)
    terminal.show_reports(reports, as_json=as_json)
    if any(report.status == "failed" for report in reports):
        raise typer.Exit(1)


@app.command()
def sources(context: typer.Context, notebook: NotebookOption = DEFAULT_NOTEBOOK, as_json: JsonOption = False) -> None:
    """資料の一覧 / list the sources."""
    found = open_for(context, notebook).store.sources(notebook)
    if as_json:
        write_json({"sources": [terminal.source_json(source) for source in found]})
    elif found:
        terminal.show_sources(found)
    else:
        say("まだ資料がありません。fumikura add PATH で加えてください。", "No sources yet: fumikura add PATH")


@app.command()
def remove(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(help="資料の名前か id / source names or ids")],
    notebook: NotebookOption = DEFAULT_NOTEBOOK,
    as_json: JsonOption = False,
) -> None:
    """資料を消す / remove sources with their text, vectors and index entries."""
    removed = open_for(context, notebook).remove(notebook, names)
    for notice in removed.notices:
        terminal.say_notice(notice)
    if as_json:
        write_json({"removed": [terminal.source_json(source) for source in removed.sources]})
    else:
        for source in removed.sources:
            say(f"消しました: {source.name}", f"removed: {source.name}")


@app.command()
def reindex(context: typer.Context, as_json: JsonOption = False) -> None:
    """今の設定で索引を作り直す / rebuild the index with the present settings."""
    with terminal.ProgressLine() as progress:
        reports = open_library(context).reindex(progress)
    terminal.show_reports(reports, as_json=as_json)


@app.command()
def search(
    context: typer.Context,
    question: QuestionArgument,
    top_k: Annotated[int | None, typer.Option("--top-k", min=1, max=100)] = None,
    notebook: NotebookOption = DEFAULT_NOTEBOOK,
    as_json: JsonOption = False,
) -> None:
    """関係する箇所を探す / find passages."""
    result = open_for(context, notebook).notebook(notebook).search(question, top_k)
    for notice in result.notices:
        terminal.say_notice(notice)
    if as_json:
        hits = [terminal.hit_json(hit) for hit in result.hits]
        write_json({"hits": hits, "embed_s": result.embed_s, "search_s": result.search_s})
    else:
        terminal.show_hits(result.hits)


@app.command()
def ask(
    context: typer.Context,
    question: QuestionArgument,
    stream: Annotated[bool, typer.Option("--stream", help="できた所から表示 / show as it comes")] = False,
    as_of: Annotated[str | None, typer.Option("--as-of", help="YYYY-MM-DD")] = None,
    mode: Annotated[str, typer.Option(help="auto | rag | resident | hybrid")] = "auto",
    notebook: NotebookOption = DEFAULT_NOTEBOOK,
    as_json: JsonOption = False,
) -> None:
    """資料だけから答える / answer from the sources only."""
    wanted = cli_core.mode_of(mode)
    library = open_for(context, notebook)
    events = library.notebook(notebook).stream(question, today=_date(as_of), mode=wanted)
    if as_json:
        *_, answer = events
        write_json(answer)
    else:
        terminal.show_events(events, stream=stream)
    cli_core.keep_core(library, notebook, wanted)


def _date(text: str | None) -> date:
    try:
        return date.fromisoformat(text) if text else date.today()
    except ValueError as error:
        raise SettingsError(
            f"--as-of {text} は日付ではありません。2026-03-05 の形で書いてください。",
            f"--as-of {text} is not a date: write it like 2026-03-05",
        ) from error


@models_app.command("list")
def models_list(context: typer.Context, as_json: JsonOption = False) -> None:
    """モデルの一覧 / list the known models."""
    found = open_library(context).models.list()
    if as_json:
        write_json({"models": [terminal.model_json(status) for status in found]})
    else:
        terminal.show_models(found)


@models_app.command("fetch")
def models_fetch(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="無指定なら設定のモデル / default: the one in the settings")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """モデルを取得して検査する / fetch and verify a model."""
    with terminal.ProgressLine() as progress:
        path = open_library(context).fetch_model(name, progress)
    if as_json:
        write_json({"path": str(path) if path else None})
    elif path:
        say(f"使えます: {path}", f"ready: {path}")
    else:
        say("この設定では取得するモデルはありません。", "these settings need no model file")


@app.command()
def doctor(
    context: typer.Context,
    quick: Annotated[bool, typer.Option("--quick", help="生成は試さない / without starting the model")] = False,
    as_json: JsonOption = False,
) -> None:
    """点検し、直し方を言う / check everything and name remedies."""
    from fumikura.doctor import examine
    from fumikura.library import find_places

    where = context.obj
    findings = examine(find_places(where["data"], where["settings"]), where["preset"], quick=quick)
    if as_json:
        write_json({"findings": findings})
    else:
        terminal.show_findings(findings)
    if any(finding.severity == "fail" for finding in findings):
        raise typer.Exit(1)


@app.command()
def demo(context: typer.Context, as_json: JsonOption = False) -> None:
    """見本のノートを加えて三つ質問する / add the sample notes and ask three questions."""
    from fumikura.library import SAMPLE_QUESTIONS

    library = open_library(context)
    with terminal.ProgressLine() as progress:
        library.add_samples("sample", progress)
    answers: list[Answer] = []
    for question in SAMPLE_QUESTIONS:
        if not as_json:
            terminal.write(f"\n> {question}", style="bold")
        answers.append(library.notebook("sample").ask(question, today=date.today()))
        if not as_json:
            terminal.show_answer(answers[-1])
    cli_core.keep_core(library, "sample")
    if as_json:
        pairs = zip(SAMPLE_QUESTIONS, answers, strict=True)
        write_json({"answers": [{"question": question, "answer": answer} for question, answer in pairs]})
    if not any(answer.citations for answer in answers):
        say("どの答えにも出典がありません。fumikura doctor をどうぞ。", "no answer cites a source: try fumikura doctor")
        raise typer.Exit(1)


def _to_come(context: typer.Context) -> None:
    name = context.info_name
    raise SettingsError(f"fumikura {name} はこれからの機能です。", f"fumikura {name} is to come (see fumikura --help)")


for _name in TO_COME:
    # Whatever follows the name is taken, so that the answer is always the same.
    _anything = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    app.command(_name, hidden=True, context_settings=_anything)(_to_come)


def main() -> None:
    """Run the command line; errors become one line and an exit code."""
    terminal.show_any_character()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # a reader that has gone or a full disk is noticed here, not when Python ends
    except KeyboardInterrupt:
        sys.exit(130)
    except FumikuraError as error:
        say(f"エラー: {error.ja}", f"error: {error.en}")
        sys.exit(2 if isinstance(error, SettingsError) else 1)
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            what = ": ".join(str(part) for part in (error.filename, error.strerror) if part) or str(error)
            say(f"エラー: {what}", f"error: {what}")
        terminal.discard_output()
        sys.exit(1)
