"""One request and its JSON reply."""

import json
import ssl
from functools import cache
from typing import Any, TypeVar

import httpx2

from fumikura.backends.failures import refusal, unreachable, wrong_reply
from fumikura.backends.server import Server

Json = dict[str, Any]
Found = TypeVar("Found")


def ask(server: Server, method: str, path: str, body: Json | None, limits: httpx2.Timeout, kind: type[Found]) -> Found:
    """Return the JSON value of that kind that the server replies with. Raises BackendError, SettingsError."""
    content = None if body is None else encoded(body)
    try:
        with open_client(server, limits) as client:
            response = client.request(method, server.url + path, content=content, headers=server.headers)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise unreachable(server, error, limits.read) from error
    if not response.is_success:
        raise refusal(server, response.status_code, response.text)
    return parse(server, response.text, kind)


def parse(server: Server, text: str, kind: type[Found]) -> Found:
    """Return the JSON value in `text`. Raises BackendReplyInvalid for another kind, and what an error object says."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise wrong_reply(server, text) from error
    if isinstance(value, dict) and value.get("error"):
        raise refusal(server, 200, text)
    if not isinstance(value, kind):
        raise wrong_reply(server, text)
    return value


def open_client(server: Server, limits: httpx2.Timeout) -> httpx2.Client:
    """Return a client for one request. Proxy variables are not read: texts go to the configured address only."""
    # Plain http has no use for a TLS context.
    return httpx2.Client(timeout=limits, trust_env=False, verify=server.url.startswith("https://") and _tls())


@cache
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)  # 80 ms: made once


def encoded(body: Json) -> bytes:
    """Return the body as JSON; lone surrogates, which broken text may hold, are replaced."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
