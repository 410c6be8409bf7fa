"""The settings as the page shows them."""

from typing import Any, Literal

from pydantic import BaseModel

Kind = Literal["integer", "number", "text", "choice"]
Effect = Literal["next_question", "reload", "reindex"]


class FieldOut(BaseModel):
    """One value: its bounds, what it changes, and the environment variable that has the last word on it, if any."""

    key: str
    value: Any
    default: Any
    kind: Kind
    minimum: float | None = None
    maximum: float | None = None
    choices: list[str] = []
    effect: Effect
    fixed_by: str | None = None


class BackendOut(BaseModel):
    """What writes the answers. `context_tokens` is the real size; null while the server cannot be asked."""

    kind: str
    model: str
    context_tokens: int | None
    settings_sha256: str


class SettingsOut(BaseModel):
    """The values that a person grows a notebook with, and where they are written."""

    fields: list[FieldOut]
    file: str
    backend: BackendOut
    needs_reindex: bool
