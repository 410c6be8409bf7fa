"""The border to a language model server: HTTP in, our errors out.

Knows addresses, keys and time limits. Does not know what a prompt or an answer is.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2

from fumikura.errors import (
    BackendError,
    BackendRefused,
    BackendReplyInvalid,
    BackendTimeout,
    BackendUnavailable,
    InputTooLong,
    SettingsError,
)

Json = dict[str, Any]
Found = TypeVar("Found")

SHOWN_CHARACTERS = 300  # of a server's own error text
TOO_LONG = re.compile(
    r"exceed_context_size|context_length_exceeded|exceeds? the (?:available |maximum )?context"
    r"|maximum context length|context (?:window|length|size) (?:of|is|exceeded|overflow)|input length exceeds"
    r"|(?:prompt|input) (?:is )?too long|longer than the (?:maximum|model|context)|too many (?:input )?tokens"
    r"|greater than the context length",
    re.IGNORECASE,
)
NO_SUCH_MODEL = re.compile(r"model .{0,200}?(?:not found|does not exist)|no such model|unknown model", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds to wait: for the connection, for the first token (model load and prompt), between two tokens."""

    connect_s: float = 5.0
    first_token_s: float = 600.0
    idle_s: float = 120.0


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server listens, and what a person must do when it or its model is missing."""

    name: str
    url: str
    start_ja: str
    start_en: str
    model_ja: str
    model_en: str
    api_key: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """Return the authorization header where there is a key."""
        return {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}


def open_client(server: Server, limits: httpx2.Timeout) -> httpx2.Client:
    """Return a client for one request. Proxy variables are not read: a prompt goes to the configured address only."""
    # A TLS context costs 80 ms to make; plain http has no use for one.
    return httpx2.Client(timeout=limits, trust_env=False, verify=server.url.startswith("https://"))


def ask(
    server: Server, method: str, path: str, body: Json | None, timeouts: Timeouts, read_s: float | None = None
) -> Json:
    """Return the JSON object that the server replies with. Raises BackendError, SettingsError."""
    limits = httpx2.Timeout(read_s or timeouts.idle_s, connect=timeouts.connect_s)
    try:
        with open_client(server, limits) as client:
            response = client.request(method, server.url + path, json=body, headers=server.headers)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise unreachable(server, error) from error
    if not response.is_success:
        raise refusal(server, response.status_code, response.text)
    reply = parse_object(server, response.text)
    if reply.get("error"):
        raise refusal(server, response.status_code, response.text)
    return reply


def required(server: Server, reply: Json, key: str, kind: type[Found]) -> Found:
    """Return `reply[key]`. Raises BackendReplyInvalid when it is missing or of another kind."""
    value = reply.get(key)
    if not isinstance(value, kind):
        raise BackendReplyInvalid(
            ja=f"{server.name} の応答に「{key}」がありません。サーバーの版と URL の設定を確かめてください。",
            en=f"The reply of {server.name} has no '{key}': check the server's version and the URL in the settings",
        )
    return value


def parse_object(server: Server, text: str) -> Json:
    """Return the JSON object in `text`. Raises BackendReplyInvalid."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise _not_json(server, text) from error
    if not isinstance(value, dict):
        raise _not_json(server, text)
    return value


def unreachable(server: Server, error: Exception) -> Exception:
    """Return our error for a failure of the transport."""
    where = f"{server.name}（{server.url}）"
    where_en = f"{server.name} at {server.url}"
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return BackendUnavailable(
            ja=f"{where}に接続できません。{server.start_ja}", en=f"Cannot connect to {where_en}: {server.start_en}"
        )
    if isinstance(error, httpx2.TimeoutException):
        return BackendTimeout(
            ja=f"{where}が時間内に応答しませんでした。しばらく待って再実行するか、待ち時間の設定を延ばしてください。",
            en=f"{where_en} did not answer in time: try again later or raise the timeout settings",
        )
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
        return SettingsError(
            ja=f"{server.name} の URL が正しくありません: {server.url}（例: http://127.0.0.1:11434）",
            en=f"The URL of {server.name} is not valid: {server.url} (example: http://127.0.0.1:11434)",
        )
    return BackendUnavailable(
        ja=f"{where}との接続が途中で切れました（{error}）。サーバーのログを確認し、もう一度実行してください。",
        en=f"The connection to {where_en} was dropped ({error}): look at the server's log and try again",
    )


def refusal(server: Server, status: int, text: str) -> BackendError:
    """Return our error for a reply that is an error, whatever its status says (llama.cpp sends some with 200)."""
    message = error_message(text)
    if TOO_LONG.search(message):
        return InputTooLong(
            ja=f"資料が多すぎて {server.name} の文脈に入りません。資料を減らしてください（{message}）",
            en=f"Too much material for the context of {server.name}: choose fewer sources ({message})",
        )
    if NO_SUCH_MODEL.search(message):
        return BackendRefused(
            ja=f"{server.name} にモデルがありません。{server.model_ja}（{message}）",
            en=f"{server.name} does not have the model: {server.model_en} ({message})",
        )
    if status in (401, 403):
        return BackendRefused(
            ja=f"{server.name}（{server.url}）が認証を拒否しました。API キーを確かめてください。",
            en=f"{server.name} at {server.url} refused the API key: check it",
        )
    if status in (429, 502, 503, 504):
        return BackendUnavailable(
            ja=f"{server.name} は今応答できません（{status}: {message}）。少し待って再実行してください。",
            en=f"{server.name} cannot answer now ({status}: {message}): try again in a moment",
        )
    return BackendRefused(
        ja=f"{server.name} がエラーを返しました（{status}: {message}）。設定とサーバーのログを確認してください。",
        en=f"{server.name} answered with an error ({status}: {message}): check the settings and the server's log",
    )


def error_message(text: str) -> str:
    """Return the readable part of an error reply: one line, without the JSON around it."""
    try:
        found = _message_in(json.loads(text))
    except ValueError:
        found = ""
    return " ".join((found or text).split())[:SHOWN_CHARACTERS]


def _message_in(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        kind = str(value.get("type") or "")
        for key in ("error", "message", "detail"):
            if value.get(key):
                found = _message_in(value[key])
                return f"{found} [{kind}]" if "exceed_context" in kind else found
    return ""


def _not_json(server: Server, text: str) -> BackendReplyInvalid:
    shown = " ".join(text.split())[:80]
    return BackendReplyInvalid(
        ja=f"{server.name}（{server.url}）の応答が JSON ではありません: 「{shown}」。URL の設定を確かめてください。",
        en=f"The reply of {server.name} at {server.url} is not JSON: '{shown}'. Check the URL in the settings",
    )
