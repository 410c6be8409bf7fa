"""Sending files to a server that runs elsewhere: one request a file, each with its own report."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from fumikura.backends import Json, Server, Words, open_client, parse, unreachable
from fumikura.errors import BackendRefused, FumikuraError, NotFound, UnreadableSource
from fumikura.loaders import FoundFile, find_files, told_apart
from fumikura.places import DEFAULT_NOTEBOOK
from fumikura.records import AddReport, Notice

# The server answers when the file is registered: behind others that may take a while.
LIMITS = httpx2.Timeout(3600.0, connect=10.0)

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Destination:
    """Where to send: the server's address, the notebook, the token if it asks for one, the language of its messages."""

    url: str
    notebook: str
    token: str | None
    language: str

    @property
    def server(self) -> Server:
        """Return the server as the border to HTTP knows it."""
        again = Words("サーバーのログを確かめてください。", "look at the server's log")
        return Server(
            "Fumikura",
            self.url.rstrip("/"),
            start=Words(
                "fumikura serve で起動し、--url を確かめてください。", "start it with fumikura serve and check --url"
            ),
            model=again,
            shorten=again,
            api_key=self.token,
        )


def upload_files(destination: Destination, paths: Sequence[Path], progress: Progress) -> list[AddReport]:
    """Send files and folders; a file that is refused has the reason in its report.

    Raises NotFound for a missing path or a folder without files, BackendError when the server is not there or wants
    another token.
    """
    files = find_files(paths)
    if not files:
        named = ", ".join(str(path) for path in paths)
        raise NotFound(f"{named} に読めるファイルがありません。", f"there is no file to read in {named}")
    reports = []
    with open_client(destination.server, LIMITS) as client:
        _make_notebook(client, destination)
        for done, file in enumerate(told_apart(files, {}), 1):  # a file of a folder keeps that before its name
            reports.append(_send(client, destination, file))
            progress("upload", done, len(files))
    return reports


def _make_notebook(client: httpx2.Client, destination: Destination) -> None:
    """See that the server is there and has the notebook. Raises BackendError."""
    known = _ask(client, destination, "GET", "/api/notebooks")
    if destination.notebook not in {notebook["name"] for notebook in known["notebooks"]} | {DEFAULT_NOTEBOOK}:
        _ask(client, destination, "POST", "/api/notebooks", json={"name": destination.notebook})


def _send(client: httpx2.Client, destination: Destination, file: FoundFile) -> AddReport:
    """Send one file and return what became of it; no error of this file stops the others."""
    begun = time.monotonic()
    address = f"/api/ingest?notebook={quote(destination.notebook, safe='')}"
    try:
        with _opened(file) as content:
            sent = _ask(client, destination, "POST", address, files={"files": (file.name, content)})
        return _report(sent["reports"][0])
    except FumikuraError as error:
        seconds = round(time.monotonic() - begun, 3)
        return AddReport(source=file.name, status="failed", seconds=seconds, error=Notice(error.ja, error.en))


def _opened(file: FoundFile) -> Any:  # noqa: ANN401 - a binary file
    try:
        return file.path.open("rb")
    except OSError as error:
        raise UnreadableSource(
            f"{file.name} を読めません（{error.strerror}）。", f"cannot read {file.name} ({error.strerror})"
        ) from error


def _report(entry: Json) -> AddReport:
    error = entry.get("error")
    text = error.get("message", "") if isinstance(error, dict) else error
    return AddReport(
        source=entry["source"],
        status=entry["status"],
        source_id=entry["source_id"] or "",
        chunk_count=entry["chunk_count"],
        seconds=entry["seconds"],
        error=Notice(text, text) if text else None,
    )


def _ask(client: httpx2.Client, destination: Destination, method: str, path: str, **body: Any) -> Json:  # noqa: ANN401
    """Return the reply's JSON. Raises BackendError with the server's own words, SettingsError."""
    server = destination.server
    token = {"Authorization": f"Bearer {server.api_key}"} if server.api_key else {}
    headers = {"Accept-Language": destination.language, **token}
    try:
        response = client.request(method, server.url + path, headers=headers, **body)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise unreachable(server, error, LIMITS.read) from error
    if not response.is_success:
        raise _refused(server, response)
    found: Json = parse(server, response.text, dict)
    return found


def _refused(server: Server, response: httpx2.Response) -> BackendRefused:
    """Return the server's refusal in its words."""
    text = _message(response)
    if response.status_code == 401:
        remedy = (
            "環境変数 FUMIKURA_SERVER_TOKEN を設定してください。",
            "set the environment variable FUMIKURA_SERVER_TOKEN",
        )
        return BackendRefused(f"{server.url}: {text}{remedy[0]}", f"{server.url}: {text}: {remedy[1]}")
    return BackendRefused(
        f"{server.url}: {text}（{response.status_code}）", f"{server.url}: {text} ({response.status_code})"
    )


def _message(response: httpx2.Response) -> str:
    try:
        return str(response.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return " ".join(response.text.split())[:200]
