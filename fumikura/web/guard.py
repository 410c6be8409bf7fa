"""The guard before every route: who may ask, how much may be sent, and what every reply must say to the browser.

Pure ASGI, because Starlette's own middleware class would hold back event streams.
"""

import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fumikura.errors import FumikuraError
from fumikura.settings import LimitSettings
from fumikura.web.errors import BodyTooLarge, Forbidden, error_response, internal_error_response
from fumikura.web.language import preferred_language

logger = logging.getLogger(__name__)

LOOPBACK_HOSTS = {"127.0.0.1", "localhost", "[::1]"}
READING_METHODS = {"GET", "HEAD"}
DEFAULT_PORTS = {"http": ":80", "https": ":443"}
JSON_ROOM = 1_000_000  # bytes around a pasted text

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
# The rest is for documents. Scripts and styles are none: without it the whole page takes 22 kB less.
PART_HEADERS = {name: SECURITY_HEADERS[name] for name in ("X-Content-Type-Options", "Cross-Origin-Resource-Policy")}
PART_FOLDERS = ("/js/", "/css/", "/vendor/")


class Guard:
    """Refuses foreign hosts, foreign pages and too large bodies; adds the security headers to every reply.

    An error that nobody foresaw ends here as a 500 whose log line names the place in the code and no text.
    """

    def __init__(self, app: ASGIApp, limits: Callable[[], LimitSettings], any_host: bool) -> None:
        self._app = app
        self._limits = limits
        self._any_host = any_host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":  # there are none here
            await send({"type": "websocket.close"})
        else:
            await _Exchange(self._app, scope, receive, send).serve(self._checked)

    def _checked(self, scope: Scope) -> int:
        """Return how many bytes the body may have. Raises Forbidden and BodyTooLarge."""
        headers = Headers(scope=scope)
        check_host(headers.get("host", ""), self._any_host)
        if scope["method"] not in READING_METHODS:
            check_origin(headers)
        limits = self._limits()
        is_upload = headers.get("content-type", "").startswith("multipart/form-data")
        limit = limits.upload_bytes if is_upload else limits.source_bytes + JSON_ROOM
        if int(headers.get("content-length") or 0) > limit:  # the server has refused what is no number
            raise too_large(limit)
        return limit


class _Exchange:
    """One request and its reply."""

    def __init__(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        self._app = app
        self._scope = scope
        self._receive = receive
        self._send = send
        self._started = False
        self._left_bytes = self._limit = 0

    async def serve(self, check: Callable[[Scope], int]) -> None:
        language = preferred_language(Headers(scope=self._scope).get("accept-language", ""))
        try:
            self._left_bytes = self._limit = check(self._scope)
            await self._app(self._scope, self._counted_receive, self._guarded_send)
        except FumikuraError as error:
            await self._answer(error_response(error, language))
        except Exception as error:
            logger.error("%s %s failed: %s", self._scope["method"], route_of(self._scope), place_of(error))
            await self._answer(internal_error_response(language))

    async def _answer(self, response: ASGIApp) -> None:
        """Send the reply, unless another has begun: then the connection ends, which the browser notices."""
        if not self._started:
            await response(self._scope, self._receive, self._guarded_send)

    async def _counted_receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left_bytes -= len(message.get("body", b""))
            if self._left_bytes < 0:
                raise too_large(self._limit)
        return message

    async def _guarded_send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started = True
            headers = MutableHeaders(scope=message)
            for name, value in security_headers(self._scope["path"], message["status"]).items():
                headers.setdefault(name, value)
            if self._scope["path"].startswith("/api/"):
                headers["Cache-Control"] = "no-store"
        await self._send(message)


def security_headers(path: str, status: int) -> dict[str, str]:
    """Return what a reply must say to the browser: less where it is a script or a style of the page."""
    return PART_HEADERS if path.startswith(PART_FOLDERS) and status < 400 else SECURITY_HEADERS


def check_host(host: str, any_host: bool) -> None:
    """Raise Forbidden for a host name that is not this machine's: a foreign page's name may lead here (rebinding)."""
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    if not any_host and name.lower() not in LOOPBACK_HOSTS:
        raise Forbidden(
            ja=f"ホスト名「{host[:60]}」では開けません。http://127.0.0.1 のアドレスで開いてください"
            "（ほかの名前で使うには FUMIKURA_SERVER_TOKEN が要ります）。",
            en=f"the host name '{host[:60]}' is not served: use the address http://127.0.0.1 "
            "(other names need FUMIKURA_SERVER_TOKEN)",
        )


def check_origin(headers: Headers) -> None:
    """Raise Forbidden when another page sends this request, also one on another port of the same host."""
    origin = headers.get("origin")
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") or (
        origin is not None and not _same_place(origin, headers.get("host", ""))
    ):
        raise Forbidden(
            ja=f"別のページ（{(origin or '')[:60]}）からの操作は受け付けません。",
            en=f"requests from another page ({(origin or '')[:60]}) are refused",
        )


def _same_place(origin: str, host: str) -> bool:
    """Compare host and port; the scheme may differ behind a proxy that ends TLS."""
    parts = urlsplit(origin)
    usual = DEFAULT_PORTS.get(parts.scheme)
    if usual is None:  # "null", as of a sandboxed page or a file
        return False
    return parts.netloc.lower().removesuffix(usual) == host.lower().removesuffix(usual)


def too_large(limit: int) -> BodyTooLarge:
    """Return the error for a body of more than `limit` bytes."""
    return BodyTooLarge(
        ja=f"一度に送れるのは {limit:,} バイトまでです。", en=f"one request may hold at most {limit:,} bytes"
    )


def route_of(scope: Scope) -> str:
    """Return the route's pattern: the path itself may hold a name, the query a question."""
    return str(getattr(scope.get("route"), "path", "(no route)"))


def place_of(error: BaseException) -> str:
    """Return the error's kind and where it arose, without its message, which may quote a source."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-4:]]
    return f"{type(error).__name__} at {' > '.join(places)}"
