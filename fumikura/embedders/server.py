"""The border to an embedding server: HTTP in, our errors out. Does not know what a vector is."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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

SHOWN_CHARACTERS = 300  # of a server's own error text
TOO_LONG = re.compile(
    r"input length exceeds|exceeds? the (?:available |maximum )?context|maximum (?:context|input) length"
    r"|input (?:\(\d+ tokens\) )?is too (?:long|large)|too many (?:input )?tokens|exceed_context_size",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class EmbeddingServer:
    """Where a server listens, how long to wait, and what a person must do when it does not answer."""

    name: str
    url: str
    start_ja: str
    start_en: str
    api_key: str | None = None
    connect_s: float = 5.0
    reply_s: float = 120.0

    def post(self, path: str, body: Json) -> Json:
        """Return the JSON object of the reply. Raises BackendError, SettingsError."""
        limits = httpx2.Timeout(self.reply_s, connect=self.connect_s)
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        try:
            # Proxy variables are not read: sources go to the configured address and nowhere else.
            # A TLS context costs 80 ms to make; plain http has no use for one.
            with httpx2.Client(timeout=limits, trust_env=False, verify=self.url.startswith("https://")) as client:
                response = client.post(
                    self.url + path, content=content, headers={"Content-Type": "application/json", **headers}
                )
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._unreachable(error) from error
        if not response.is_success:
            raise self._refusal(response.status_code, response.text)
        return self._object(response)

    def _object(self, response: httpx2.Response) -> Json:
        try:
            reply = response.json()
        except ValueError as error:
            raise self._not_json(response.text) from error
        if not isinstance(reply, dict):
            raise self._not_json(response.text)
        if reply.get("error"):
            raise self._refusal(response.status_code, response.text)
        return reply

    def _unreachable(self, error: Exception) -> Exception:
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            return BackendUnavailable(
                ja=f"{self.name}（{self.url}）に接続できません。{self.start_ja}",
                en=f"Cannot connect to {self.name} at {self.url}: {self.start_en}",
            )
        if isinstance(error, httpx2.TimeoutException):
            return BackendTimeout(
                ja=f"{self.name}（{self.url}）が {self.reply_s:g} 秒以内に応答しません。待ち時間を延ばしてください。",
                en=f"{self.name} at {self.url} did not answer within {self.reply_s:g} s: raise the timeout setting",
            )
        if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
            return SettingsError(
                ja=f"{self.name} の URL が正しくありません: {self.url}（例: http://127.0.0.1:11434）",
                en=f"The URL of {self.name} is not valid: {self.url} (example: http://127.0.0.1:11434)",
            )
        return BackendUnavailable(
            ja=f"{self.name}（{self.url}）との接続が切れました（{error}）。サーバーのログを確認してください。",
            en=f"The connection to {self.name} at {self.url} was dropped ({error}): look at the server's log",
        )

    def _refusal(self, status: int, text: str) -> BackendError:
        message = _error_message(text)
        if TOO_LONG.search(message):
            return InputTooLong(
                ja=f"文章が {self.name} の上限より長いです（{message}）。chunk.size を小さくしてください。",
                en=f"The text is longer than {self.name} accepts ({message}): make chunk.size smaller",
            )
        if status in (429, 502, 503, 504):
            return BackendUnavailable(
                ja=f"{self.name} は今応答できません（{status}: {message}）。少し待って再実行してください。",
                en=f"{self.name} cannot answer now ({status}: {message}): try again in a moment",
            )
        return BackendRefused(
            ja=f"{self.name} がエラーを返しました（{status}: {message}）。{self.start_ja}",
            en=f"{self.name} answered with an error ({status}: {message}): {self.start_en}",
        )

    def _not_json(self, text: str) -> BackendReplyInvalid:
        shown = " ".join(text.split())[:80]
        return BackendReplyInvalid(
            ja=f"{self.name}（{self.url}）の応答が JSON ではありません: 「{shown}」。URL の設定を確かめてください。",
            en=f"The reply of {self.name} at {self.url} is not JSON: '{shown}'. Check the URL in the settings",
        )


def _error_message(text: str) -> str:
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
        return next((_message_in(value[key]) for key in ("error", "message", "detail") if value.get(key)), "")
    return ""
