"""The fields of one case: JSON to records, with a problem in words for whatever does not fit."""

import difflib
import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from fumikura.evaluation.cases import QUESTION_TYPES, SPLITS, Case, Evidence, FacetGroup, Rubric
from fumikura.evaluation.patterns import compile_pattern
from fumikura.records import Notice

_CASE_KEYS = ("id", "type", "question", "answer", "rubric", "evidence", "near", "wrong", "as_of", "split")
_RUBRIC_KEYS = ("groups", "full", "half", "required", "forbidden", "cap")
_EVIDENCE_KEYS = ("source", "quote")


class Problem(Exception):
    """A field that does not fit; becomes a finding where file and line are known."""

    def __init__(self, ja: str, en: str) -> None:
        super().__init__(en)
        self.notice = Notice(ja, en)


def read_case(fields: Mapping[str, Any], line: int) -> Case:
    """Return the case that one line of a question file describes. Raises Problem."""
    _check_keys(fields, _CASE_KEYS, needed=("id", "type", "question", "answer"))
    return Case(
        id=_text(fields, "id"),
        type=_one_of(fields["type"], QUESTION_TYPES, "type"),
        question=_text(fields, "question"),
        answer=_text(fields, "answer"),
        rubric=_rubric(fields.get("rubric", {})),
        evidence=_evidence(fields.get("evidence", []), "evidence"),
        near=_evidence(fields.get("near", []), "near"),
        wrong=_texts(fields.get("wrong", []), "wrong"),
        as_of=_day(fields.get("as_of")),
        split=_one_of(fields.get("split", "tune"), SPLITS, "split"),
        line=line,
    )


def _rubric(value: Any) -> Rubric:  # noqa: ANN401
    fields = _object(value, "rubric")
    _check_keys(fields, _RUBRIC_KEYS)
    groups = tuple(FacetGroup(_patterns(group, "groups")) for group in _list(fields.get("groups", []), "groups"))
    count = len(groups)
    full = _bounded(fields, "full", count, 1 if count else 0, count)
    return Rubric(
        groups=groups,
        full=full,
        half=_bounded(fields, "half", (count + 1) // 2 if count > 1 else 0, 0, count),
        required=_bounded(fields, "required", 0, 0, count),
        forbidden=_patterns(fields.get("forbidden", []), "forbidden", empty=True),
        cap=_bounded(fields, "cap", 1, 0, 1),
    )


def _evidence(value: Any, key: str) -> tuple[Evidence, ...]:  # noqa: ANN401
    entries = [_object(entry, key) for entry in _list(value, key)]
    for entry in entries:
        _check_keys(entry, _EVIDENCE_KEYS, needed=_EVIDENCE_KEYS)
    return tuple(Evidence(_text(entry, "source"), _text(entry, "quote")) for entry in entries)


def _check_keys(fields: Mapping[str, Any], known: tuple[str, ...], needed: tuple[str, ...] = ()) -> None:
    for key in fields:
        if key not in known:
            near = _nearest(key, known)
            raise Problem(
                f"「{key}」という項目はありません。「{near}」ではありませんか。",
                f"unknown key '{key}': did you mean '{near}'?",
            )
    for key in needed:
        if key not in fields:
            raise Problem(f"「{key}」がありません。書き足してください。", f"'{key}' is missing: add it")


def _nearest(word: str, known: Iterable[str]) -> str:
    return difflib.get_close_matches(word, known, n=1, cutoff=0.0)[0]


def _one_of(value: Any, known: tuple[str, ...], key: str) -> Any:  # noqa: ANN401
    if value in known:
        return value
    near = _nearest(str(value), known)
    raise Problem(
        f"{key}「{value}」はありません。「{near}」ではありませんか（{'、'.join(known)}）。",
        f"unknown {key} '{value}': did you mean '{near}'? ({', '.join(known)})",
    )


def _patterns(value: Any, key: str, *, empty: bool = False) -> tuple[str, ...]:  # noqa: ANN401
    patterns = _texts(value, key)
    if not patterns and not empty:
        raise Problem(
            f"{key} に空の要点があります。語を書くか、消してください。",
            f"an empty group in '{key}': give it words or drop it",
        )
    for pattern in patterns:
        try:
            compile_pattern(pattern)
        except (re.error, ValueError) as error:
            raise Problem(
                f"{key} の「{pattern}」は使えません（{error}）。正規表現を直してください。",
                f"bad pattern '{pattern}' in '{key}' ({error}): mend the expression",
            ) from error
    return patterns


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields[key]
    if isinstance(value, str) and value.strip():
        return value
    raise Problem(f"「{key}」は空でない文字列にしてください。", f"'{key}' must be a text that is not empty")


def _list(value: Any, key: str) -> list[Any]:  # noqa: ANN401
    if isinstance(value, list):
        return value
    raise Problem(f"「{key}」は [ ] で囲んだ並びにしてください。", f"'{key}' must be a list in [ ]")


def _texts(value: Any, key: str) -> tuple[str, ...]:  # noqa: ANN401
    return tuple(_text({key: entry}, key) for entry in _list(value, key))


def _object(value: Any, key: str) -> dict[str, Any]:  # noqa: ANN401
    if isinstance(value, dict):
        return value
    raise Problem(f"「{key}」は {{ }} で囲んでください。", f"'{key}' must be an object in {{ }}")


def _bounded(fields: Mapping[str, Any], key: str, default: int, low: int, high: int) -> int:
    value = fields.get(key, default)
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    raise Problem(
        f"「{key}」は {low} から {high} までの整数にしてください（{value!r}）。",
        f"'{key}' must be a whole number from {low} to {high}, not {value!r}",
    )


def _day(value: Any) -> str | None:  # noqa: ANN401
    if value is None:
        return None
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError) as error:
        raise Problem(
            f"as_of「{value}」は日付ではありません。2026-03-31 の形にしてください。",
            f"as_of '{value}' is no date: write it as 2026-03-31",
        ) from error
