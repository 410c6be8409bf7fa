"""One streamed request whose lines arrive in a thread of their own.

So that it can be closed at any moment by any thread (also before the first byte), and so that the wait for the
first token and the wait between tokens have limits of their own. Does not know what the lines mean.
"""

import queue
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

import httpx2

from fumikura.backends import Json, Server, Words, encoded, open_client, refusal, unreachable
from fumikura.errors import BackendTimeout, BackendUnavailable

SHORTEN = Words("資料を減らしてください。", "choose fewer sources")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds to wait: for the connection, for the first token (model load and prompt), between two tokens."""

    connect_s: float = 10.0
    first_token_s: float = 600.0
    idle_s: float = 60.0

    @property
    def short(self) -> httpx2.Timeout:
        """Return the limits of a request that generates nothing."""
        return httpx2.Timeout(self.idle_s, connect=self.connect_s)


class _End(Enum):
    DONE = "the server ended the reply"
    CLOSED = "close() was called"


Received = queue.SimpleQueue[str | Exception | _End]


class Exchange:
    """A POST whose reply is read line by line. Every exchange has its own connection, closed when it ends."""

    def __init__(self, server: Server, path: str, body: Json, timeouts: Timeouts) -> None:
        self.server = server
        self._path = path
        self._content = encoded(body)
        self._timeouts = timeouts
        self._received: Received = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._started_at = time.monotonic()
        self._token_at: float | None = None
        self._shut = False
        self.closed_by_caller = False

    def lines(self) -> Iterator[str]:
        """Send the request and yield the lines of its reply. Raises BackendError."""
        self._started_at = time.monotonic()
        receiver = threading.Thread(target=self._receive, args=(self._received,), name="generator-reply", daemon=True)
        receiver.start()
        try:
            while not isinstance(line := self._next(), _End):
                yield line
        finally:
            self._shut_down()

    def again(self, body: Json) -> "Exchange":
        """Make ready to send another body after the server refused the first."""
        self._content = encoded(body)
        self._received = queue.SimpleQueue()
        with self._lock:
            self._socket = None
            self._shut = self.closed_by_caller
        return self

    def token_arrived(self) -> None:
        """Start the wait for the next token: from now on `idle_s` is the limit."""
        self._token_at = time.monotonic()

    def close(self) -> None:
        """Close the connection; a thread that waits in `lines` is released."""
        self.closed_by_caller = True
        self._shut_down()
        self._received.put(_End.CLOSED)

    def _shut_down(self) -> None:
        with self._lock:
            self._shut = True
            if self._socket is not None:
                with suppress(OSError):  # the other side may have closed it already
                    self._socket.shutdown(socket.SHUT_RDWR)

    def _next(self) -> str | _End:
        while True:
            received = self._take()
            if isinstance(received, Exception):
                if self._shut:  # our own shutdown of the socket, seen by the receiving thread
                    return _End.CLOSED
                raise received
            if received != "":
                return received

    def _take(self) -> str | Exception | _End:
        if self._shut:
            return _End.CLOSED
        try:
            return self._received.get(timeout=max(0.0, self._deadline() - time.monotonic()))
        except queue.Empty:
            return self._too_late()

    def _deadline(self) -> float:
        if self._token_at is None:
            return self._started_at + self._timeouts.first_token_s
        return self._token_at + self._timeouts.idle_s

    def _too_late(self) -> BackendTimeout:
        first = self._token_at is None
        waited = self._timeouts.first_token_s if first else self._timeouts.idle_s
        what_ja, what_en = ("最初の語", "first token") if first else ("続きの語", "next token")
        return BackendTimeout(
            ja=f"{self.server.name} が{waited:g}秒たっても{what_ja}を返しません。待ち時間の設定を延ばしてください。",
            en=f"{self.server.name} sent no {what_en} within {waited:g} s: ask again or raise the timeout setting",
        )

    def _receive(self, received: Received) -> None:
        try:
            self._request(received)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            received.put(unreachable(self.server, error))
        except OSError as error:  # a socket shut down between two calls of the HTTP library
            received.put(unreachable(self.server, error))
        finally:
            received.put(_End.DONE)

    def _request(self, received: Received) -> None:
        limits = httpx2.Timeout(None, connect=self._timeouts.connect_s)
        with (
            open_client(self.server, limits) as client,
            client.stream(
                "POST",
                self.server.url + self._path,
                content=self._content,
                headers=self.server.headers,
                extensions={"trace": self._note_socket},
            ) as response,
        ):
            if not response.is_success:
                response.read()
                received.put(refusal(self.server, response.status_code, response.text))
                return
            for line in split_lines(response.iter_bytes()):
                received.put(line)

    def _note_socket(self, event: str, values: Mapping[str, object]) -> None:
        stream = values.get("return_value")
        if event not in ("connection.connect_tcp.complete", "connection.start_tls.complete") or stream is None:
            return
        with self._lock:
            self._socket = stream.get_extra_info("socket")  # type: ignore[attr-defined]
            if self._shut and self._socket is not None:
                self._socket.shutdown(socket.SHUT_RDWR)


def split_lines(chunks: Iterator[bytes]) -> Iterator[str]:
    r"""Yield lines split at \n only: a JSON string may hold U+2028 or U+0085, which str.splitlines would cut."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace").strip("\r")
    if rest:
        yield rest.decode("utf-8", "replace")


def dropped(server: Server) -> BackendUnavailable:
    """Return the error for a reply that ended without saying that it is complete."""
    return BackendUnavailable(
        ja=f"{server.name} の応答が途中で切れました。サーバーのログを確認し、もう一度質問してください。",
        en=f"The reply of {server.name} ended early: look at the server's log and ask again",
    )
