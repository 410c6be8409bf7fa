"""A small question set on disk, to be broken in one place at a time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fumikura.evaluation import Case, PlainReply, read_cases, score

MakeSet = Callable[..., Path]


@pytest.fixture
def fields() -> Callable[..., dict[str, Any]]:
    def make(**changes: Any) -> dict[str, Any]:
        base: dict[str, Any] = {
            "id": "a1",
            "type": "fact",
            "question": "会議は何時からですか。",
            "answer": "午後三時からです。",
            "rubric": {"groups": [["午後三時", "15時"]]},
            "evidence": [{"source": "note.md", "quote": "会議は十五時から"}],
        }
        return base | changes

    return make


@pytest.fixture
def make_set(tmp_path: Path) -> MakeSet:
    def make(*lines: str | dict[str, Any]) -> Path:
        (tmp_path / "sources").mkdir(exist_ok=True)
        (tmp_path / "sources" / "note.md").write_text("# 予定\n\n会議は十五時から。\n", encoding="utf-8")
        path = tmp_path / "questions.jsonl"
        written = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
        path.write_text("\n".join(written) + "\n", encoding="utf-8")
        return path

    return make


@pytest.fixture
def points(make_set: MakeSet, fields: Callable[..., dict[str, Any]]) -> Callable[..., int]:
    """Score one answer against a rubric."""

    def of(rubric: dict[str, Any], text: str, status: str = "answered", **changes: Any) -> int:
        case: Case = read_cases(make_set(fields(rubric=rubric, **changes)))[0]
        return score(case, PlainReply(status, text)).points  # type: ignore[arg-type]

    return of
