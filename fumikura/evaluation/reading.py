"""Read a question set: JSON Lines, one case a line; blank lines and lines that start with `//` are skipped.

    {"id": "story-01", "type": "simple", "question": "…", "answer": "…",
     "rubric": {"groups": [["15時"], ["re:水門.?番"]], "full": 2, "half": 1, "forbidden": ["午前"], "cap": 1},
     "evidence": [{"source": "story.md", "quote": "…"}], "wrong": ["…"], "as_of": "2026-03-31", "split": "tune"}

`full` is every group when left out, `half` the larger half of several groups (one group: never), `cap` 1.
Every problem of the file is reported at once, each with file, line and id.

Where `split` is left out, the 2nd, 5th, 8th … question of each type is held out: a third of the set, of every type
alike, and questions added at the end move none of the earlier ones. Held-out questions take no part in any tuning.
"""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from fumikura.evaluation.cases import Case, Finding, QuestionSetError, Split
from fumikura.evaluation.fields import Problem, read_case
from fumikura.records import Notice


def read_cases(path: Path) -> tuple[Case, ...]:
    """Return the cases of a question file in its order. Raises QuestionSetError with every finding."""
    cases: list[Case] = []
    unsplit: set[str] = set()
    findings: list[Finding] = []
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        case_id = ""
        try:
            fields = _fields(line)
            case_id = str(fields.get("id", ""))
            cases.append(_unused(read_case(fields, number), cases))
            unsplit |= set() if "split" in fields else {case_id}
        except Problem as problem:
            findings.append(Finding(path.name, number, case_id, problem.notice))
    if not cases and not findings:
        findings.append(Finding(path.name, 0, "", Notice("質問がひとつもありません。", "holds no question")))
    if findings:
        raise QuestionSetError(tuple(findings))
    return _with_split(cases, unsplit)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except FileNotFoundError:
        problem = Notice("ファイルがありません。場所を確かめてください。", "no such file: check the path")
    except (OSError, UnicodeDecodeError) as error:
        problem = Notice(
            f"読めません（{error}）。UTF-8で保存してください。", f"cannot be read ({error}): save it as UTF-8"
        )
    raise QuestionSetError((Finding(path.name, 0, "", problem),))


def _fields(line: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        where = f"{error.msg}, {error.colno}" if isinstance(error, json.JSONDecodeError) else "nesting"
        raise Problem(
            f"JSONとして読めません（{where}）。1行に1問を書いてください。",
            f"is not JSON ({where}): write one question a line",
        ) from error
    if not isinstance(fields, dict):
        raise Problem(
            "{…} ではありません。1行に1問を書いてください。", "is no JSON object: write one question a line as {…}"
        )
    return fields


def _unused(case: Case, earlier: list[Case]) -> Case:
    for other in earlier:
        if other.id == case.id:
            raise Problem(
                f"id「{case.id}」は {other.line} 行目にもあります。どちらかを変えてください。",
                f"id '{case.id}' is taken by line {other.line}: change one of them",
            )
    return case


def _with_split(cases: list[Case], unsplit: set[str]) -> tuple[Case, ...]:
    return tuple(
        replace(case, split=split) if case.id in unsplit else case
        for case, split in zip(cases, splits_by_rule(cases), strict=True)
    )


def splits_by_rule(cases: list[Case] | tuple[Case, ...]) -> list[Split]:
    """Return the split that the rule gives each case: the 2nd, 5th, 8th … of its type is held out."""
    seen: Counter[str] = Counter()
    splits: list[Split] = []
    for case in cases:
        seen[case.type] += 1
        splits.append("held_out" if seen[case.type] % 3 == 2 else "tune")
    return splits
