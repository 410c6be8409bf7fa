"""From an error to the one shape in which the page and programs receive it; the server's own refusals stand here too.

FumikuraError (fumikura/errors.py)
└── RequestRefused
    ├── TokenWanted        401  no token, a wrong one, or a session that has ended
    ├── Forbidden          403  a foreign page or host name
    ├── SettingRefused     422  a setting that cannot be so
    ├── BodyTooLarge       413  more bytes than one request may hold
    └── TooManyRequests    429  too many wrong tokens, or too many questions waiting
"""

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from fumikura.errors import FumikuraError
from fumikura.records import Notice
from fumikura.web.hints import HINTS, WRONG_INPUT
from fumikura.web.language import Language, preferred_language

logger = logging.getLogger(__name__)

# The codes of what no error class stands for.
INTERNAL = "internal"
INPUT = "input"
METHOD = "method_not_allowed"
NO_SUCH_PATH = "no_such_path"


class RequestRefused(FumikuraError):
    """A request that the server does not take."""

    code = "refused"
    status = 400


class TokenWanted(RequestRefused):
    """No token, a wrong one, or a session that has ended."""

    code = "token_wanted"
    status = 401


class Forbidden(RequestRefused):
    """A foreign page or an unknown host name."""

    code = "forbidden"
    status = 403


class BodyTooLarge(RequestRefused):
    """More bytes than one request may hold."""

    code = "body_too_large"
    status = 413


class SettingRefused(RequestRefused):
    """A setting that cannot have this value; nothing was changed."""

    code = "setting_refused"
    status = 422


class TooManyRequests(RequestRefused):
    """Too many wrong tokens, or too many questions waiting; `retry_after_s` says when to come again."""

    code = "too_many_requests"
    status = 429
    transient = True

    def __init__(self, ja: str, en: str, retry_after_s: int = 1) -> None:
        super().__init__(ja, en)
        self.retry_after_s = retry_after_s


def language_of(request: Request) -> Language:
    """Return the language in which this request wants its messages."""
    return preferred_language(request.headers.get("accept-language", ""))


def error_body(error: FumikuraError, language: Language) -> dict[str, Any]:
    """Return {"error": {"code", "message", "hint"}}: a reply's body, and the payload of an `error` event."""
    return notice_body(Notice(error.ja, error.en), language, error.code)


def notice_body(notice: Notice, language: Language, code: str = "error") -> dict[str, Any]:
    """Return the same shape for a kept message, as of a job that failed."""
    hint = HINTS.get(code, HINTS["error"]).message(language)
    # What is quoted may hold lone surrogates, which have no UTF-8 form.
    message = notice.message(language).encode("utf-8", "replace").decode()
    return {"error": {"code": code, "message": message, "hint": hint}}


def error_response(error: FumikuraError, language: Language) -> JSONResponse:
    """Return the reply for an error."""
    headers = {"Retry-After": str(error.retry_after_s)} if isinstance(error, TooManyRequests) else {}
    if isinstance(error, TokenWanted):
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(error_body(error, language), error.status, headers)


def internal_error_response(language: Language) -> JSONResponse:
    """Return the reply for an error that nobody foresaw."""
    notice = Notice("サーバーの中で思わぬエラーが起きました。", "The server failed in a way nobody foresaw.")
    return JSONResponse(notice_body(notice, language, INTERNAL), 500)


def add_error_handlers(app: FastAPI) -> None:
    """Answer every error in the one shape."""
    app.add_exception_handler(FumikuraError, _on_our_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_input)
    app.add_exception_handler(HTTPException, _on_http_error)


async def _on_our_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, FumikuraError)
    if error.status >= 500:
        logger.warning("%s", error.code)  # not the message: it may quote what was asked
    return error_response(error, language_of(request))


async def _on_invalid_input(request: Request, error: Exception) -> JSONResponse:
    """Name the first wrong field. The value is not repeated: it may be a question or a whole text."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"][1:] if part != "body") or str(first["loc"][0])
    wanted = str(first["msg"])
    wanted_ja = WRONG_INPUT.get(first["type"], wanted).format(**first.get("ctx", {}))
    notice = Notice(
        f"入力「{field}」が正しくありません（{wanted_ja}）。", f"The input '{field}' is not valid: {wanted}"
    )
    return JSONResponse(notice_body(notice, language_of(request), INPUT), 422)


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404 and not request.url.path.startswith("/api"):
        return _nothing_here(language_of(request))
    if isinstance(error.__cause__, FumikuraError):  # FastAPI wraps what reading the body raised
        return error_response(error.__cause__, language_of(request))
    code, notice = _http_notice(error.status_code, request)
    return JSONResponse(notice_body(notice, language_of(request), code), error.status_code, error.headers)


def _nothing_here(language: Language) -> Response:
    """Return a small page: somebody typed an address."""
    text = Notice("このページはありません。", "There is no such page.").message(language)
    page = (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8"><title>404 文庫 Fumikura</title>'
        f'<p>{text}</p><p><a href="/">文庫 Fumikura</a></p></html>'
    )
    return HTMLResponse(page, 404)


def _http_notice(status: int, request: Request) -> tuple[str, Notice]:
    path = request.url.path
    if status == 404:
        return NO_SUCH_PATH, Notice(f"{path} はありません。", f"There is no {path}")
    if status == 405:
        return METHOD, Notice(f"{path} に {request.method} は使えません。", f"{path} does not take {request.method}")
    return INPUT, Notice("要求の本文を読めません。", "The body of the request cannot be read")
