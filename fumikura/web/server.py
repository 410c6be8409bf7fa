"""Running the server: its socket, the data folder's lock, and a graceful end."""

import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from fumikura.errors import Conflict, SettingsError
from fumikura.file_lock import try_lock
from fumikura.library import Library, Places
from fumikura.web.app import create_app
from fumikura.web.auth import TOKEN_FILE, TOKEN_VARIABLE, read_token
from fumikura.web.service import Service

LOCK_FILE = "server.lock"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
GRACE_S = 2  # until what still runs is cut off, once every answer was told to stop
KEEP_ALIVE_S = 75


class WebServer(uvicorn.Server):
    """Uvicorn that ends the answers under way first, so that their streams come to their end and are kept.

    A signal ends the process with 0: it did what it was asked. The access log is off: addresses may hold questions.
    """

    def __init__(self, app: FastAPI, service: Service, on_start: Callable[[], None] = lambda: None) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                ws="none",
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=GRACE_S,
            )
        )
        self._service = service
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the answers, the connections, then everything else."""
        await self._service.queue.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the two signals that end a program; uvicorn would send them again, which ends it as killed."""
        try:
            kept = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        except ValueError:  # not the main thread
            kept = {}
        try:
            yield
        finally:
            for number, handler in kept.items():
                signal.signal(number, handler)


def serve(
    places: Places,
    preset: str | None,
    environment: dict[str, str],
    *,
    host: str | None,
    port: int | None,
    announce: Callable[[str], None],
) -> None:
    """Serve the library until a signal ends it; `announce` hears the address once it answers.

    Raises SettingsError for a host that needs a token, Conflict for a taken port or data folder, StoreError.
    """
    token = read_token(environment, places.data)
    with only_server(places.data) as lock:
        library = Library.open(places, preset, environment)
        chosen_host, chosen_port = host or library.settings.server.host, port or library.settings.server.port
        try:
            check_host(chosen_host, token, places.data)
            listener = listen(chosen_host, chosen_port)
        except BaseException:
            library.close()
            raise
        address = f"http://{_shown_host(chosen_host)}:{listener.getsockname()[1]}"
        service = Service(library, places, preset, environment)
        tempfile.tempdir = str(places.data)  # uploads under way lie with the data: /tmp may be small, and others'
        lock.write_text(address, encoding="utf-8")
        WebServer(create_app(service, token), service, lambda: announce(address)).run([listener])


def check_host(host: str, token: str | None, data: Path) -> None:
    """Raise SettingsError for an address that others reach, unless there is a token."""
    if host not in LOOPBACK and token is None:
        raise SettingsError(
            f"{host} はほかの機械からも届くので、トークンなしでは開きません。"
            f"{TOKEN_VARIABLE} に 16 文字以上を設定するか、{data / TOKEN_FILE} に書いて chmod 600 してください"
            "（例: openssl rand -hex 24）。",
            f"{host} can be reached by other machines, so a token is needed: set {TOKEN_VARIABLE} to 16 characters "
            f"or more, or write them to {data / TOKEN_FILE} with chmod 600 (say: openssl rand -hex 24)",
        )


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens (port 0: any free one). Raises Conflict when the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":  # there it would allow a second server on the same port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise Conflict(
            f"{host}:{port} で待ち受けできません（{error.strerror}）。--port で別の番号を選んでください。",
            f"cannot listen on {host}:{port} ({error.strerror}): choose another port with --port",
        ) from error
    return listener


@contextmanager
def only_server(data: Path) -> Iterator[Path]:
    """Hold the data folder's lock and give its file, for the address. Raises Conflict while another server has it."""
    data.mkdir(parents=True, exist_ok=True)
    path = data / LOCK_FILE
    with path.open("a+", encoding="utf-8") as file:
        try:
            try_lock(file.fileno())
        except (BlockingIOError, PermissionError) as error:
            file.seek(0)
            where = file.read().strip() or "?"
            raise Conflict(
                f"{data} のサーバーはもう動いています（{where}）。そのページを開くか、先に止めてください。",
                f"a server for {data} is already running ({where}): open its page, or stop it first",
            ) from error
        yield path


def _shown_host(host: str) -> str:
    """Return the host as an address that this machine's browser opens."""
    if host == "0.0.0.0":  # noqa: S104 - every address of this machine, its own among them
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
