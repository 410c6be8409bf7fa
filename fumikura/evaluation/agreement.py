"""How far judges agree with one another and with the rubric."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from fumikura.evaluation.comparison import weighted_kappa
from fumikura.evaluation.run_file import Run
from fumikura.evaluation.tables import Table
from fumikura.evaluation.wording import label, number_text

Marks = Mapping[tuple[str, int], int]  # points by question and trial


def marks_by_judge(run: Run) -> dict[str, dict[tuple[str, int], int]]:
    """Return each judge's points; a judge that marked an answer twice keeps the later mark."""
    marks: dict[str, dict[tuple[str, int], int]] = {}
    answered = {(one.id, one.trial) for one in run.asked}
    for mark in (mark for mark in run.marks if (mark.id, mark.trial) in answered):
        marks.setdefault(mark.judge, {})[mark.id, mark.trial] = mark.points
    return marks


def kappa(first: Marks, second: Marks) -> float | None:
    """Return the agreement on what both marked; None when that is nothing, or one mark throughout."""
    shared = sorted(first.keys() & second.keys())
    return weighted_kappa([first[key] for key in shared], [second[key] for key in shared]) if shared else None


def agreement(run: Run) -> dict[str, dict[str, object]]:
    """Return for each judge how many answers it marked, its mean, and its agreement with the rubric and the others."""
    rubric = {(one.id, one.trial): one.points for one in run.asked}
    judges = marks_by_judge(run)
    return {
        name: {
            "answer_count": len(marks),
            "mean_points": sum(marks.values()) / len(marks),
            "rubric_mean_points": sum(rubric[key] for key in marks) / len(marks),
            "same_count": sum(marks[key] == rubric[key] for key in marks),
            "kappa": {"rubric": kappa(rubric, marks)}
            | {other: kappa(marks, theirs) for other, theirs in judges.items() if other != name},
        }
        for name, marks in judges.items()
    }


def calibration_table(runs: Sequence[Run], language: str) -> Table:
    """Return each judge against the rubric: answers marked, means, agreement, and how many got the same points."""
    rows = []
    for run in runs:
        rubric = {(one.id, one.trial): one.points for one in run.asked}
        for judge, marks in marks_by_judge(run).items():
            own = [rubric[key] for key in marks]
            rows.append(
                (
                    run.name,
                    judge,
                    str(len(marks)),
                    number_text(sum(own) / len(own)),
                    number_text(sum(marks.values()) / len(marks)),
                    number_text(kappa(rubric, marks)),
                    str(sum(marks[key] == rubric[key] for key in marks)),
                )
            )
    names = ("run", "judges", "answers", "rubric", "judge_points", "kappa", "same")
    return Table([label(key, language) for key in names], rows)


def agreement_table(runs: Sequence[Run], language: str) -> Table:
    """Return the agreement of each pair of judges."""
    rows = [
        (run.name, one, other, str(len(first.keys() & second.keys())), number_text(kappa(first, second)))
        for run in runs
        for (one, first), (other, second) in combinations(marks_by_judge(run).items(), 2)
    ]
    names = ("run", "judges", "judges", "answers", "kappa")
    return Table([label(key, language) for key in names], rows)
