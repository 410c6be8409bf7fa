"""One run in numbers: points with their intervals, refusals, retrieval, faults, times."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from fumikura.errors import EvaluationError
from fumikura.evaluation.comparison import Interval, bootstrap_interval
from fumikura.evaluation.faults import FAULTS
from fumikura.evaluation.retrieval_metrics import mean
from fumikura.evaluation.run_file import Asked, Run


@dataclass(frozen=True, slots=True)
class TypeScore:
    """Mean points (0 to 2) of one type of question."""

    type: str
    question_count: int
    points: Interval


@dataclass(frozen=True, slots=True)
class Refusals:
    """Of the refusals the share that was right, of the unknown questions the share that was refused.

    `bare`: of the refusals the share without a citation, which should be all. None: there were none to count.
    """

    precision: float | None
    recall: float | None
    bare: float | None


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds and tokens: medians, or None where there is nothing to count.

    `core_s` is what reading the core ahead took (None: nothing is read in full), `cold_s` the first question's time to
    its first word.
    """

    core_s: float | None
    cold_s: float
    ttft_s: float
    total_s: float
    tokens_per_s: float | None
    prompt_tokens: float | None
    cached_tokens: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """The numbers of one run as far as it went."""

    question_count: int
    answer_count: int
    wanted_count: int  # answers of a whole run
    points: Interval
    by_type: tuple[TypeScore, ...]
    refusals: Refusals
    support: float | None  # share of cited sentences whose quotes hold them, mean over answers
    retrieval: dict[str, float | None]
    faults: dict[str, int]
    latency: Latency


def points_by_question(asked: Iterable[Asked]) -> dict[str, list[float]]:
    """Return the points of each question's trials, questions in the order in which they were first asked."""
    points: dict[str, list[float]] = {}
    for one in asked:
        points.setdefault(one.id, []).append(one.points)
    return points


def summarise(run: Run) -> Summary:
    """Return the numbers of a run. Raises EvaluationError for one without a single answer."""
    asked = run.asked
    if not asked:
        raise EvaluationError(
            f"{run.path} には答えがひとつもありません。eval run を続けてください。",
            f"{run.path} holds no answer yet: go on with eval run",
        )
    rows = points_by_question(asked)
    return Summary(
        question_count=len(rows),
        answer_count=len(asked),
        wanted_count=run.header.question_count * max(run.header.trials, *(one.trial for one in asked)),
        points=bootstrap_interval(list(rows.values())),
        by_type=tuple(_type_score(name, asked) for name in dict.fromkeys(one.type for one in asked)),
        refusals=_refusals(asked),
        support=mean(one.support for one in asked),
        retrieval={key: mean(one.retrieval.get(key) for one in asked) for key in asked[0].retrieval},
        faults=_faults(asked),
        latency=_latency(run),
    )


def _type_score(name: str, asked: Sequence[Asked]) -> TypeScore:
    rows = points_by_question(one for one in asked if one.type == name)
    return TypeScore(name, len(rows), bootstrap_interval(list(rows.values())))


def _faults(asked: Sequence[Asked]) -> dict[str, int]:
    counts = Counter(one.fault for one in asked)
    return {label: counts[label] for label in FAULTS if counts[label]}


def _refusals(asked: Sequence[Asked]) -> Refusals:
    refused = [one for one in asked if one.status == "not_in_sources"]
    unknown = [one for one in asked if one.type == "unknown"]
    return Refusals(
        precision=mean(float(one.type == "unknown") for one in refused),
        recall=mean(float(one.status == "not_in_sources") for one in unknown),
        bare=mean(float(not (one.answer or {}).get("citations")) for one in refused),
    )


def _latency(run: Run) -> Latency:
    asked = run.asked
    receipts = [one.answer["receipt"] for one in asked if one.answer]
    written = [receipt for receipt in receipts if receipt["decode_s"] and receipt["answer_tokens"]]
    later = asked[1:] or asked
    return Latency(
        core_s=run.cores[0].seconds if run.cores else None,
        cold_s=asked[0].ttft_s,
        ttft_s=median(one.ttft_s for one in later),
        total_s=median(one.total_s for one in later),
        tokens_per_s=_median(receipt["answer_tokens"] / receipt["decode_s"] for receipt in written),
        prompt_tokens=_median(receipt["prompt_tokens"] for receipt in receipts),
        cached_tokens=_median(receipt["cached_tokens"] for receipt in receipts),
    )


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
