"""Two runs of one set side by side, and whether one may be called better."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fumikura.errors import EvaluationError
from fumikura.evaluation.comparison import PairedComparison, compare_paired
from fumikura.evaluation.run_file import Asked, Run, differing, flat_settings
from fumikura.evaluation.summary import points_by_question
from fumikura.records import Notice

Winner = Literal["a", "b"]
OWN_FIELDS = ("split", "notebook", "pin_all")  # of a run that are chosen like settings


@dataclass(frozen=True, slots=True)
class QuestionPair:
    """Mean points of one question in both runs."""

    id: str
    type: str
    question: str
    a: float
    b: float


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Run B against run A: all questions that both hold, by type and by question.

    `winner` is None when the difference may be chance, and when `verdict` says that no winner is called.
    """

    a: str
    b: str
    settings: dict[str, tuple[Any, Any]]
    revisions: tuple[str, str] | None  # None: the same
    left_out: tuple[str, ...]  # questions that only one run holds
    total: PairedComparison
    by_type: dict[str, PairedComparison]
    pairs: tuple[QuestionPair, ...]
    winner: Winner | None
    verdict: Notice


def set_side_by_side(a: Run, b: Run, *, anyway: bool = False) -> SideBySide:
    """Compare two runs. With several settings changed no winner is called unless `anyway`.

    Raises EvaluationError for runs of different sets, and for runs without a question in common.
    """
    _check_same_set(a, b)
    rows_a, rows_b = points_by_question(a.asked), points_by_question(b.asked)
    shared = [key for key in rows_a if key in rows_b]
    if not shared:
        raise EvaluationError(
            f"{a.path} と {b.path} に共通の質問がありません。eval run を最後まで行ってください。",
            f"{a.path} and {b.path} have no question in common: finish both with eval run",
        )
    first = {one.id: one for one in reversed(a.asked)}
    changed = changed_settings(a, b)
    total = _paired(shared, rows_a, rows_b)
    winner, verdict = _verdict(total, changed, anyway=anyway)
    return SideBySide(
        a=str(a.path),
        b=str(b.path),
        settings=changed,
        revisions=_revisions(a, b),
        left_out=tuple(sorted(rows_a.keys() ^ rows_b.keys())),
        total=total,
        by_type={name: _paired(ids, rows_a, rows_b) for name, ids in _ids_by_type(shared, first).items()},
        pairs=tuple(_pair(first[key], rows_a[key], rows_b[key]) for key in shared),
        winner=winner,
        verdict=verdict,
    )


def changed_settings(a: Run, b: Run) -> dict[str, tuple[Any, Any]]:
    """Return the settings that differ, with both values."""
    own = ({key: getattr(run.header, key) for key in OWN_FIELDS} for run in (a, b))
    return differing(*(flat_settings(run.header.settings) | fields for run, fields in zip((a, b), own, strict=True)))


def _check_same_set(a: Run, b: Run) -> None:
    one, other = a.header, b.header
    if one.set_sha256 != other.set_sha256:
        named = f"{one.set_name} ({one.set_sha256[:12]}), {other.set_name} ({other.set_sha256[:12]})"
        raise EvaluationError(
            f"質問集か資料が違う評価は比べられません：{named}。同じ質問集で eval run をやり直してください。",
            f"runs of different questions or sources cannot be compared: {named}; run both with one set",
        )


def _paired(ids: Sequence[str], a: Mapping[str, list[float]], b: Mapping[str, list[float]]) -> PairedComparison:
    return compare_paired([a[key] for key in ids], [b[key] for key in ids])


def _ids_by_type(ids: Sequence[str], asked: Mapping[str, Asked]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key in ids:
        found.setdefault(asked[key].type, []).append(key)
    return found


def _pair(asked: Asked, a: Sequence[float], b: Sequence[float]) -> QuestionPair:
    return QuestionPair(asked.id, asked.type, asked.question, sum(a) / len(a), sum(b) / len(b))


def _revisions(a: Run, b: Run) -> tuple[str, str] | None:
    one, other = (f"{run.header.revision.get('version')} {run.header.revision.get('commit') or ''}" for run in (a, b))
    return (one.strip(), other.strip()) if one != other else None


def _verdict(total: PairedComparison, changed: Mapping[str, Any], *, anyway: bool) -> tuple[Winner | None, Notice]:
    if len(changed) > 1 and not anyway:
        named = ", ".join(changed)
        return None, Notice(
            f"設定が {len(changed)} か所違うので、どれの効果か言えません（{named}）。それでも比べるなら --anyway。",
            f"no winner: {len(changed)} settings differ, so none can take the credit ({named}); --anyway calls one",
        )
    if total.within_noise():
        return None, Notice(
            f"差は偶然の範囲です（p = {total.p_value:.3f}）。", f"within noise (p = {total.p_value:.3f})"
        )
    winner: Winner = "b" if total.difference.mean > 0 else "a"
    name = winner.upper()
    return winner, Notice(
        f"{name} のほうが良い（p = {total.p_value:.3f}）。", f"{name} is better (p = {total.p_value:.3f})"
    )
