"""From a failed transport or a server's refusal to our errors."""

import json
import re
from collections.abc import Mapping

import httpx2

from fumikura.backends.server import Server
from fumikura.errors import (
    BackendError,
    BackendRefused,
    BackendReplyInvalid,
    BackendTimeout,
    BackendUnavailable,
    FumikuraError,
    InputTooLong,
    SettingsError,
)

SHOWN_CHARACTERS = 300  # of a server's own error text
TOO_LONG = re.compile(
    r"exceed_context_size|context_length_exceeded|exceeds? the (?:available |maximum )?context"
    r"|maximum (?:context|input) length|context (?:window|length|size) (?:of|is|exceeded|overflow)"
    r"|input length exceeds|(?:prompt|input) (?:\(\d+ tokens\) )?(?:is )?too (?:long|large)"
    r"|longer than the (?:maximum|model|context)|greater than the context length|too many (?:input )?tokens"
    r"|must have less than \d+ tokens",
    re.IGNORECASE,
)
NO_SUCH_MODEL = re.compile(r"model .{0,200}?(?:not found|does not exist)|no such model|unknown model", re.IGNORECASE)


def unreachable(server: Server, error: Exception, waited_s: float | None = None) -> FumikuraError:
    """Return our error for a failure of the transport."""
    where, where_en = f"{server.name}（{server.url}）", f"{server.name} at {server.url}"
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return BackendUnavailable(
            ja=f"{where}に接続できません。{server.start.ja}", en=f"Cannot connect to {where_en}: {server.start.en}"
        )
    if isinstance(error, httpx2.TimeoutException):
        within, within_en = (f"{waited_s:g} 秒以内", f"within {waited_s:g} s") if waited_s else ("時間内", "in time")
        return BackendTimeout(
            ja=f"{where}が{within}に応答しません。しばらく待って再実行するか、待ち時間の設定を延ばしてください。",
            en=f"{where_en} did not answer {within_en}: try again later or raise the timeout setting",
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
            ja=f"{server.name} が一度に読める長さを超えています。{server.shorten.ja}（{message}）",
            en=f"The input is longer than {server.name} reads at once: {server.shorten.en} ({message})",
        )
    if NO_SUCH_MODEL.search(message):
        return BackendRefused(
            ja=f"{server.name} にモデルがありません。{server.model.ja}（{message}）",
            en=f"{server.name} does not have the model: {server.model.en} ({message})",
        )
    if status in (401, 403):
        return BackendRefused(
            ja=f"{server.name}（{server.url}）が API キーを拒否しました（{status}: {message}）。確かめてください。",
            en=f"{server.name} at {server.url} refused the API key ({status}: {message}): check it",
        )
    if status in (429, 502, 503, 504):
        return BackendUnavailable(
            ja=f"{server.name} は今応答できません（{status}: {message}）。少し待って再実行してください。",
            en=f"{server.name} cannot answer now ({status}: {message}): try again in a moment",
        )
    return BackendRefused(
        ja=f"{server.name} がエラーを返しました（{status}: {message}）。{server.check.ja}",
        en=f"{server.name} answered with an error ({status}: {message}): {server.check.en}",
    )


def wrong_reply(server: Server, text: str) -> BackendReplyInvalid:
    """Return our error for a reply that is no JSON, or JSON of another kind than the protocol says."""
    shown = " ".join(text.split())[:80]
    return BackendReplyInvalid(
        ja=f"{server.name}（{server.url}）の応答が期待した JSON ではありません: 「{shown}」。{server.check.ja}",
        en=f"The reply of {server.name} at {server.url} is not JSON of the expected kind: '{shown}': {server.check.en}",
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
