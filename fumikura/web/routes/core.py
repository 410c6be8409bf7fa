"""The resident core of a notebook: its gauge, its state, and how much of it the last answers reused."""

from collections.abc import Iterable
from itertools import pairwise

from fastapi import APIRouter

from fumikura.records import CoreSource, Receipt, ReceiptHit
from fumikura.resident import reused_share, why_broken
from fumikura.store import TurnRow
from fumikura.web.deps import NotebookName, Services, Speaks
from fumikura.web.language import Language
from fumikura.web.schemas_common import ERRORS
from fumikura.web.schemas_core import CoreOut, ReuseOut

router = APIRouter(prefix="/api/notebooks/{notebook}", tags=["core"], responses=ERRORS)

ANSWERS_SHOWN = 20


@router.get("/core")
def show_core(service: Services, notebook: NotebookName, language: Speaks) -> CoreOut:
    """Say what is read in full, how full it is, and how the last answers used it. Loads no model: it estimates then."""
    gauge = service.library.residence(notebook).gauge()
    turns = service.library.store.last_answered_turns(notebook, ANSWERS_SHOWN + 1)
    return CoreOut.of(gauge, service.core_state(notebook), _reuse(turns, language), language)


def _reuse(turns: list[TurnRow], language: Language) -> list[ReuseOut]:
    """Return the answers that had a core, newest first; each is compared with the one before it."""
    receipts = [(turn, _receipt(turn.answer["receipt"])) for turn in turns if turn.answer]
    pairs = pairwise([*receipts, (None, None)])
    return [
        _shown(turn, now, before, language)
        for (turn, now), (_, before) in pairs
        if turn is not None and now is not None and now.core_tokens
    ][:ANSWERS_SHOWN]


def _shown(turn: TurnRow, now: Receipt, before: Receipt | None, language: Language) -> ReuseOut:
    broken = why_broken(before, now)
    return ReuseOut(
        turn_id=turn.turn_id,
        asked_at=turn.asked_at,
        mode=now.mode,
        prompt_tokens=now.prompt_tokens,
        cached_tokens=now.cached_tokens,
        ttft_s=now.ttft_s,
        share=reused_share(now),
        broken_by=broken.reason.message(language) if broken else None,
    )


def _receipt(kept: dict[str, object]) -> Receipt:
    """Return the receipt that an answer was kept with; older ones lack the fields of the core."""
    hits, core = kept.get("hits", ()), kept.get("core", ())
    assert isinstance(hits, Iterable) and isinstance(core, Iterable)
    fields = {name: value for name, value in kept.items() if name in Receipt.__dataclass_fields__}
    fields |= {"hits": tuple(ReceiptHit(**hit) for hit in hits), "core": tuple(CoreSource(**one) for one in core)}
    return Receipt(**fields)  # type: ignore[arg-type]
