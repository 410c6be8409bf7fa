"""The commands of the resident core: what is always read in full."""

from typing import TYPE_CHECKING, Annotated

import typer

from fumikura import terminal
from fumikura.cli_options import JsonOption, NotebookOption, open_for
from fumikura.errors import FumikuraError, SettingsError
from fumikura.places import DEFAULT_NOTEBOOK
from fumikura.terminal import say, write_json

if TYPE_CHECKING:
    from fumikura.library import Library
    from fumikura.records import Mode, SourceSummary
    from fumikura.resident import Gauge, Residence

app = typer.Typer()

NamesArgument = Annotated[list[str], typer.Argument(help="資料の名前か id / source names or ids")]


def _residence(context: typer.Context, notebook: str) -> "Residence":
    return open_for(context, notebook).residence(notebook)


@app.command()
def pin(
    context: typer.Context,
    names: NamesArgument,
    notebook: NotebookOption = DEFAULT_NOTEBOOK,
    as_json: JsonOption = False,
) -> None:
    """資料を常に全文読む / always read these sources in full."""
    residence = _residence(context, notebook)
    changed = residence.pin(names)
    _show(changed, residence.gauge(), as_json=as_json)


@app.command()
def unpin(
    context: typer.Context,
    names: NamesArgument,
    notebook: NotebookOption = DEFAULT_NOTEBOOK,
    as_json: JsonOption = False,
) -> None:
    """資料を常駐から外す / no longer read them in full every time."""
    residence = _residence(context, notebook)
    changed = residence.unpin(names)
    _show(changed, residence.gauge(), as_json=as_json)


@app.command()
def warm(context: typer.Context, notebook: NotebookOption = DEFAULT_NOTEBOOK, as_json: JsonOption = False) -> None:
    """常に全文読む資料を先に読んでおく / read in advance what is read in full."""
    residence = _residence(context, notebook)
    with terminal.ProgressLine() as progress:
        residence.prepare(lambda done, total: progress("read", done, total))
    _show([], residence.gauge(), as_json=as_json)


@app.command()
def core(context: typer.Context, notebook: NotebookOption = DEFAULT_NOTEBOOK, as_json: JsonOption = False) -> None:
    """常に全文読む資料と、使っている量 / what is read in full, and how full it is."""
    _show([], _residence(context, notebook).gauge(), as_json=as_json)


def _show(changed: "list[SourceSummary]", gauge: "Gauge", *, as_json: bool) -> None:
    if gauge.notice:
        terminal.say_notice(gauge.notice)
    if as_json:
        write_json({"changed": [terminal.source_json(source) for source in changed], **gauge_json(gauge)})
        return
    for source in changed:
        if source.pinned:
            say(f"常に全文読みます: {source.name}", f"always read in full: {source.name}")
        else:
            say(f"常駐から外しました: {source.name}", f"no longer resident: {source.name}")
    terminal.show_gauge(gauge)


def gauge_json(gauge: "Gauge") -> dict[str, object]:
    """Return the gauge in the shape of `core --json`."""
    return {
        "mode": gauge.mode,
        "coverage": gauge.coverage,
        "window_tokens": gauge.window_tokens,
        "room_tokens": gauge.room_tokens,
        "used_tokens": gauge.used_tokens,
        "rules_tokens": gauge.rules_tokens,
        "free_tokens": gauge.free_tokens,
        "exact": gauge.exact,
        "sources": gauge.shares,
    }


def mode_of(name: str) -> "Mode":
    """Return the mode of this name. Raises SettingsError."""
    from fumikura.store import check_mode

    try:
        return check_mode(name)
    except FumikuraError as error:
        raise SettingsError(error.ja, error.en) from error


def keep_core(library: "Library", notebook: str, mode: "Mode | None" = None) -> None:
    """Keep what was computed for the next command; the answer is there, so a failure is only told."""
    residence = library.residence(notebook)
    try:
        if residence.generator.loaded:
            used = residence.core(mode, library.store.usable_source_ids(notebook))
            if used and not residence.generator.restore_prefix(used.prefix):
                residence.keep(used)
    except FumikuraError as error:
        say(error.ja, error.en)
