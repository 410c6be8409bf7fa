"""What is known of a server before it is asked."""

from dataclasses import dataclass
from typing import NamedTuple


class Words(NamedTuple):
    """What a person should do: a sentence in Japanese, the same in English without a full stop."""

    ja: str
    en: str


CHECK = Words(
    "URL などの設定とサーバーの版、ログを確かめてください。",
    "check the URL in the settings, the server's version and its log",
)


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server listens, and what a person should do about each kind of failure.

    `start`: nobody answers; `model`: it lacks the model; `shorten`: the input is too long; `check`: anything else.
    """

    name: str
    url: str
    start: Words
    model: Words
    shorten: Words
    check: Words = CHECK
    api_key: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of a request: JSON, and the authorization where there is a key."""
        key = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        return {"Content-Type": "application/json", **key}
