"""What is within noise: intervals of a mean score, two runs side by side, two judges side by side.

Questions are what was sampled (others could have been asked), trials are repeats of one question. So a bootstrap
draws questions first and trials within each drawn question. Same seed, same numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

Scores = Sequence[Sequence[float]]  # one row a question, its trials in it; rows may differ in length
_Floats = NDArray[np.float64]
_EXACT_QUESTIONS = 14  # up to here all sign changes are tried (16,384)


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the interval that holds it at the given level."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Run B minus run A over the same questions. `p_value`: how often chance alone makes as large a difference."""

    difference: Interval
    p_value: float
    better: int  # questions on which B scores higher
    worse: int
    question_count: int

    def within_noise(self, alpha: float = 0.05) -> bool:
        """Tell whether the difference may be chance."""
        return self.p_value >= alpha


def bootstrap_interval(scores: Scores, *, level: float = 0.95, resamples: int = 10_000, seed: int = 0) -> Interval:
    """Return the mean over questions of the means over trials, with its percentile bootstrap interval."""
    rows = _rows(scores)
    rng = np.random.default_rng(seed)
    drawn = np.stack([_drawn_means(row, resamples, rng) for row in rows])  # trials within each question
    questions = rng.integers(len(rows), size=(len(rows), resamples))
    return _interval(np.array([row.mean() for row in rows]), _pick(drawn, questions), level)


def compare_paired(
    a: Scores, b: Scores, *, level: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> PairedComparison:
    """Compare two runs question by question: bootstrap of the difference, and a sign-change permutation test.

    Raises ValueError when the runs do not hold the same number of questions.
    """
    rows_a, rows_b = _rows(a), _rows(b)
    if len(rows_a) != len(rows_b):
        raise ValueError(f"{len(rows_a)} and {len(rows_b)} questions: compare runs of the same questions")
    rng = np.random.default_rng(seed)
    difference = np.array([one_b.mean() - one_a.mean() for one_a, one_b in zip(rows_a, rows_b, strict=True)])
    drawn = np.stack(
        [
            _drawn_means(one_b, resamples, rng) - _drawn_means(one_a, resamples, rng)
            for one_a, one_b in zip(rows_a, rows_b, strict=True)
        ]
    )
    questions = rng.integers(len(difference), size=(len(difference), resamples))
    return PairedComparison(
        difference=_interval(difference, _pick(drawn, questions), level),
        p_value=_sign_change_p(difference, resamples, rng),
        better=int((difference > 0).sum()),
        worse=int((difference < 0).sum()),
        question_count=len(difference),
    )


def weighted_kappa(first: Sequence[int], second: Sequence[int], *, categories: int = 3) -> float | None:
    """Return the agreement of two judges on the same answers, quadratic weights: 1 whole, 0 as by chance.

    None when both gave one and the same mark throughout: then chance and agreement cannot be told apart.
    """
    if len(first) != len(second) or not first:
        raise ValueError(f"{len(first)} and {len(second)} marks: both judges must mark the same answers")
    table = np.zeros((categories, categories))
    np.add.at(table, (np.asarray(first), np.asarray(second)), 1.0)
    apart = (np.subtract.outer(np.arange(categories), np.arange(categories)) / (categories - 1)) ** 2
    by_chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    expected = float((apart * by_chance).sum())
    return 1.0 - float((apart * table).sum()) / expected if expected else None


def _rows(scores: Scores) -> list[_Floats]:
    rows = [np.asarray(row, dtype=np.float64) for row in scores]
    if not rows or not all(len(row) for row in rows):
        raise ValueError("every question needs at least one score")
    return rows


def _drawn_means(row: _Floats, resamples: int, rng: np.random.Generator) -> _Floats:
    if len(row) == 1:
        return np.full(resamples, row[0])
    drawn: _Floats = row[rng.integers(len(row), size=(resamples, len(row)))].mean(axis=1)
    return drawn


def _pick(drawn: _Floats, questions: NDArray[np.int64]) -> _Floats:
    means: _Floats = np.take_along_axis(drawn, questions, axis=0).mean(axis=0)
    return means


def _interval(values: _Floats, means: _Floats, level: float) -> Interval:
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(values.mean()), float(low), float(high))


def _sign_change_p(difference: _Floats, resamples: int, rng: np.random.Generator) -> float:
    """Return the two-sided p: how often scores swapped at random, question by question, differ as much."""
    changed = difference[difference != 0]
    if not len(changed):
        return 1.0
    observed = abs(float(changed.sum())) - 1e-12
    if len(changed) <= _EXACT_QUESTIONS:
        signs = np.array(list(product((-1.0, 1.0), repeat=len(changed))))
        return float((np.abs(signs @ changed) >= observed).mean())
    signs = rng.choice((-1.0, 1.0), size=(resamples, len(changed)))
    return float(((np.abs(signs @ changed) >= observed).sum() + 1) / (resamples + 1))
