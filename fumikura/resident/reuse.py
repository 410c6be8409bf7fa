"""Why a prefix that had been computed was of no use to the next question."""

from collections.abc import Iterable
from dataclasses import dataclass

from fumikura.records import CoreSource, Notice, Receipt

REUSED_SHARE = 0.98  # of the core's tokens: below that the prefix counts as broken


@dataclass(frozen=True, slots=True)
class Break:
    """What broke the prefix between two answers, and the share of the core that was reused."""

    share: float
    reason: Notice


def reused_share(receipt: Receipt) -> float | None:
    """Return the share of the core's tokens that the backend took from its cache; None: no core, or it does not say."""
    if not receipt.core_tokens or receipt.cached_tokens is None:
        return None
    return min(1.0, receipt.cached_tokens / receipt.core_tokens)


def why_broken(before: Receipt | None, now: Receipt) -> Break | None:
    """Name what made the core be read anew; None when it was reused (or the backend does not say)."""
    share = reused_share(now)
    if share is None or share >= REUSED_SHARE:
        return None
    return Break(share, _reason(before, now))


def _reason(before: Receipt | None, now: Receipt) -> Notice:
    if before is None or not before.prefix_sha256:
        return Notice("常駐の資料を初めて読みました。", "The resident core was read for the first time.")
    if before.model != now.model:
        return Notice(
            f"モデルが {before.model} から {now.model} に変わりました。",
            f"The model changed from {before.model} to {now.model}.",
        )
    if before.prefix_sha256 == now.prefix_sha256:
        return Notice(
            "サーバーが計算済みの部分を手放していました（再起動、ほかの利用、メモリー不足など）。",
            "The server no longer held the computed part (restart, other use, or memory).",
        )
    return _difference(before.core, now.core)


def _difference(before: Iterable[CoreSource], now: Iterable[CoreSource]) -> Notice:
    earlier, present = {one.source_id: one for one in before}, {one.source_id: one for one in now}
    added = [one.source for key, one in present.items() if key not in earlier]
    gone = [one.source for key, one in earlier.items() if key not in present]
    changed = [one.source for key, one in present.items() if key in earlier and earlier[key] != one]
    parts = [
        Notice(f"{ja}: {'、'.join(names)}", f"{en}: {', '.join(names)}")
        for ja, en, names in (("加わった", "added", added), ("外れた", "left", gone), ("変わった", "changed", changed))
        if names
    ]
    if not parts:
        return Notice("指示文（system_prompt）が変わりました。", "The instructions (system_prompt) changed.")
    return Notice(
        f"常駐の資料が変わりました（{'／'.join(part.ja for part in parts)}）。",
        f"The resident core changed ({'; '.join(part.en for part in parts)}).",
    )
