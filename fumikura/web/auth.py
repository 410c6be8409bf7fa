"""The token that opens the server to other machines: where it is read, how it is checked, the cookie it becomes."""

import asyncio
import hashlib
import hmac
import os
import stat
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from fumikura.errors import SettingsError
from fumikura.web.errors import TokenWanted, TooManyRequests

TOKEN_VARIABLE = "FUMIKURA_SERVER_TOKEN"
TOKEN_FILE = "server.token"
SHORTEST_TOKEN = 16  # characters
COOKIE = "fumikura_session"
SESSION_S = 30 * 86_400
FIRST_DELAY_S = 0.25  # doubled with every wrong try
LONGEST_DELAY_S = 4.0
TRIES_IN_WINDOW = 10
WINDOW_S = 60.0


def read_token(environment: Mapping[str, str], data: Path) -> str | None:
    """Return the token of the environment, else of the file in the data folder; None: there is none.

    Raises SettingsError for one that is too short, and for a file that others may read.
    """
    file = data / TOKEN_FILE
    token, where = environment.get(TOKEN_VARIABLE, "").strip(), TOKEN_VARIABLE
    if not token and file.is_file():
        token, where = _private_text(file), str(file)
    elif not token:
        return None
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
        raise SettingsError(
            f"{where} のトークンは {SHORTEST_TOKEN} 文字以上の英数字にしてください（例: openssl rand -hex 24）。",
            f"the token of {where} must be {SHORTEST_TOKEN} ASCII characters or more (say: openssl rand -hex 24)",
        )
    return token


def _private_text(file: Path) -> str:
    """Return what the file holds. Raises SettingsError when others than its owner may read it."""
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
        if os.name == "posix" and mode & 0o077:
            raise SettingsError(
                f"{file} はほかの利用者にも読めます（{mode:04o}）。chmod 600 {file} を実行してください。",
                f"{file} can be read by others ({mode:04o}): run chmod 600 {file}",
            )
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{file} を読めません（{error}）。", f"{file} cannot be read ({error}): check its permissions"
        ) from error


class Access:
    """Who may ask: with a token its bearer, or a session's cookie; without one everybody who reaches the server.

    The cookie is an HMAC over its expiry, keyed by the token: nothing is stored, and a new token ends all sessions.
    """

    def __init__(
        self,
        token: str | None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.required = token is not None
        self._token = (token or "").encode()
        self._key = hmac.digest(self._token, b"fumikura session 1", "sha256")
        self._clock = clock
        self._sleep = sleep
        self._wrong_tries: deque[float] = deque()

    async def check(self, request: Request) -> None:
        """Return when the request may pass. Raises TokenWanted and TooManyRequests."""
        if not self.required:
            return
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            await self.check_token(bearer.strip())
        elif not self.is_session(request.cookies.get(COOKIE, "")):
            raise TokenWanted(
                "このサーバーにはトークンが必要です。", "This server asks for its token: Authorization: Bearer TOKEN"
            )

    async def check_token(self, given: str) -> None:
        """Return at once for the right token; a wrong one waits, longer each time.

        Raises TokenWanted, and TooManyRequests after ten wrong ones in a minute.
        """
        if self.required and hmac.compare_digest(given.encode("utf-8", "replace"), self._token):
            return
        await self._slow_down()
        raise TokenWanted("トークンが違います。", "The token is wrong")

    async def _slow_down(self) -> None:
        now = self._clock()
        while self._wrong_tries and self._wrong_tries[0] <= now - WINDOW_S:
            self._wrong_tries.popleft()
        if len(self._wrong_tries) >= TRIES_IN_WINDOW:
            wait_s = int(self._wrong_tries[0] + WINDOW_S - now) + 1
            raise TooManyRequests(
                f"違うトークンが続きました。{wait_s} 秒待ってください。",
                f"Too many wrong tokens: wait {wait_s} s",
                wait_s,
            )
        delay_s = min(FIRST_DELAY_S * 2 ** len(self._wrong_tries), LONGEST_DELAY_S)
        self._wrong_tries.append(now)
        await self._sleep(delay_s)

    def new_session(self) -> str:
        """Return the value of a fresh session's cookie."""
        expiry = str(int(self._clock()) + SESSION_S)
        return f"{expiry}.{self._sign(expiry)}"

    def is_session(self, cookie: str) -> bool:
        """Tell whether the cookie is one of ours and has not expired."""
        expiry, _, signature = cookie.partition(".")
        if not expiry.isascii() or not expiry.isdigit() or not signature.isascii():
            return False
        return hmac.compare_digest(signature, self._sign(expiry)) and int(expiry) > self._clock()

    def _sign(self, expiry: str) -> str:
        return hmac.new(self._key, expiry.encode(), hashlib.sha256).hexdigest()


class Gate:
    """Lets a request pass when `access` does; `is_open` names the paths that need no token. Pure ASGI."""

    def __init__(self, app: ASGIApp, access: Access, is_open: Callable[[str], bool]) -> None:
        self._app = app
        self._access = access
        self._is_open = is_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. Raises TokenWanted and TooManyRequests, which the guard answers.

        A person who opens the page without a session is led to the login page.
        """
        if scope["type"] == "http" and not self._is_open(scope["path"]):
            try:
                await self._access.check(Request(scope))
            except TokenWanted:
                if scope["path"] != "/" or scope["method"] != "GET" or "authorization" in Headers(scope=scope):
                    raise
                await RedirectResponse("/login", 303)(scope, receive, send)
                return
        await self._app(scope, receive, send)
