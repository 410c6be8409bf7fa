"""Outputs of the resident core: how full it is, how far it is computed, how much of it the last answers reused."""

from typing import Self

from pydantic import BaseModel

from fumikura.records import Coverage, Mode, Notice
from fumikura.resident import Gauge, WarmStage, WarmState
from fumikura.web.language import Language


class CoreStateOut(BaseModel):
    """How far the resident core is computed, in tokens; `stage`: none, waiting, computing, ready, failed."""

    stage: WarmStage
    done_tokens: int
    total_tokens: int
    notice: str | None

    @classmethod
    def of(cls, state: WarmState, language: Language) -> Self:
        """Return the state in the reader's language."""
        notice = shown(state.notice, language)
        return cls(stage=state.stage, done_tokens=state.done_tokens, total_tokens=state.total_tokens, notice=notice)


class ShareOut(BaseModel):
    """A source's part of the core, about; `resident`: read in full."""

    source_id: str
    source: str
    token_count: int
    pinned: bool
    resident: bool


class ReuseOut(BaseModel):
    """An answer from a core: the share of the core that was in the cache, and what broke it when it fell."""

    turn_id: str
    asked_at: str
    mode: Mode
    prompt_tokens: int | None
    cached_tokens: int | None
    ttft_s: float
    share: float | None
    broken_by: str | None


class CoreOut(BaseModel):
    """The resident core; sizes in tokens. `room_tokens` is what rules and core may have; not `exact`: estimated."""

    mode: Mode
    coverage: Coverage
    window_tokens: int
    room_tokens: int
    used_tokens: int
    rules_tokens: int
    free_tokens: int
    exact: bool
    notice: str | None
    sources: list[ShareOut]
    state: CoreStateOut
    answers: list[ReuseOut]

    @classmethod
    def of(cls, gauge: Gauge, state: WarmState, answers: list[ReuseOut], language: Language) -> Self:
        """Return what a page shows."""
        return cls(
            mode=gauge.mode,
            coverage=gauge.coverage,
            window_tokens=gauge.window_tokens,
            room_tokens=gauge.room_tokens,
            used_tokens=gauge.used_tokens,
            rules_tokens=gauge.rules_tokens,
            free_tokens=gauge.free_tokens,
            exact=gauge.exact,
            notice=shown(gauge.notice, language),
            sources=[ShareOut.model_validate(share, from_attributes=True) for share in gauge.shares],
            state=CoreStateOut.of(state, language),
            answers=answers,
        )


def shown(notice: Notice | None, language: Language) -> str | None:
    """Return the notice in the reader's language, None for none."""
    return notice.message(language) if notice else None
