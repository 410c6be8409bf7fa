"""The commands around the server: `serve`, and `upload` to one that runs elsewhere."""

import os
from pathlib import Path
from typing import Annotated

import typer

from fumikura import terminal
from fumikura.cli_options import JsonOption, NotebookOption
from fumikura.errors import SettingsError
from fumikura.places import DEFAULT_NOTEBOOK
from fumikura.terminal import say

app = typer.Typer()

TOKEN_VARIABLE = "FUMIKURA_SERVER_TOKEN"


@app.command()
def serve(
    context: typer.Context,
    port: Annotated[int | None, typer.Option(min=1, max=65_535, help="設定 server.port / port")] = None,
    host: Annotated[str | None, typer.Option(help="設定 server.host（127.0.0.1）/ address to listen on")] = None,
) -> None:
    """ブラウザのページを開く / serve the page."""
    from fumikura.library import find_places
    from fumikura.web.server import serve as run

    where = context.obj
    places = find_places(where["data"], where["settings"])
    run(places, where["preset"], dict(os.environ), host=host, port=port, announce=_announce)


def _announce(address: str) -> None:
    terminal.write(address)
    say("文庫を開きました（止めるには Ctrl+C）。", "Fumikura is open at this address (Ctrl+C ends it)")


@app.command()
def upload(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(help="ファイル・フォルダ / files, folders")],
    url: Annotated[str, typer.Option("--url", help="サーバーのアドレス / the server's address")],
    notebook: NotebookOption = DEFAULT_NOTEBOOK,
    as_json: JsonOption = False,
) -> None:
    """動いているサーバーへ資料を送る（トークンは環境変数 FUMIKURA_SERVER_TOKEN）/ send sources to a running server."""
    from fumikura.upload import Destination, upload_files

    for path in paths:
        if not path.strip() or "://" in path:
            raise SettingsError(
                f"PATH「{path}」はファイルかフォルダにしてください。", f"PATH '{path}' must be a file or a folder"
            )
    destination = Destination(url, notebook, os.environ.get(TOKEN_VARIABLE), terminal.language())
    with terminal.ProgressLine() as progress:
        reports = upload_files(destination, [Path(path) for path in paths], progress)
    terminal.show_reports(reports, as_json=as_json)
    if any(report.status == "failed" for report in reports):
        raise typer.Exit(1)
