"""One run in one file of JSON Lines, written so that a killed run goes on where it stopped.

The first line holds what was measured (`run`). Then there is one for what was read in full ahead (`core`), for each
question and trial (`asked`), for each judge's mark (`mark`) and for each time that the run was taken up again
(`resumed`). A line counts once its end is on the disk.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from fumikura.errors import EvaluationError
from fumikura.records import Notice

Json = dict[str, Any]

RUN_BEGINS = b'{"run"'


@dataclass(frozen=True, slots=True)
class RunHeader:
    """What a run measures. `settings` are all but `paths` and `server`, which change no answer."""

    set_name: str
    set_sha256: str  # of the questions and the sources
    question_count: int
    trials: int
    settings: Mapping[str, Any]
    model: str
    split: str | None = None
    notebook: str | None = None  # the person's own; None: a scratch one
    pin_all: bool = False
    revision: Mapping[str, str | None] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    begun: str = ""  # ISO time

    def identity(self) -> dict[str, Any]:
        """Return what must be the same for a run to go on, by name; settings by their keys."""
        own = {key: getattr(self, key) for key in ("set_name", "set_sha256", "split", "notebook", "pin_all")}
        return own | flat_settings(self.settings)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question asked once: the answer as `ask --json` prints it, what it was given, and its scores.

    Without an answer, `error` says why. `ttft_s` counts from the question to the first word, search included.
    `ranks` and `in_prompt` have one entry for each piece of evidence.
    """

    id: str
    trial: int
    type: str
    split: str
    question: str
    points: int
    model_answer: str = ""
    evidence: list[Json] = field(default_factory=list)
    as_of: str | None = None
    answer: Json | None = None
    error: str = ""
    ttft_s: float = 0.0
    total_s: float = 0.0
    reasons: list[str] = field(default_factory=list)
    fault: str = ""
    support: float | None = None
    ranks: list[int | None] = field(default_factory=list)
    in_prompt: list[bool] = field(default_factory=list)
    retrieval: dict[str, float | None] = field(default_factory=dict)
    passages: list[Json] = field(default_factory=list)

    @property
    def status(self) -> str:
        """The answer's status, "" where there is no answer."""
        return str(self.answer["status"]) if self.answer else ""

    @property
    def text(self) -> str:
        """The answer's text, or why there is none."""
        return str(self.answer["text"]) if self.answer else self.error


@dataclass(frozen=True, slots=True)
class Mark:
    """What one judge gave one answer: 0, 1 or 2."""

    judge: str
    id: str
    trial: int
    points: int


@dataclass(frozen=True, slots=True)
class ComputedCore:
    """What was read in full before the first question, as the server does it in the background."""

    token_count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its file holds it, as far as it went."""

    path: Path
    header: RunHeader
    asked: tuple[Asked, ...]
    marks: tuple[Mark, ...] = ()
    cores: tuple[ComputedCore, ...] = ()  # one each time that the run was begun or taken up again

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem


def flat_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings as {"chunk.size": 256}."""
    flat: dict[str, Any] = {}
    for section, values in settings.items():
        if isinstance(values, Mapping):
            flat |= {f"{section}.{key}": value for key, value in values.items()}
        else:
            flat[section] = values
    return flat


def differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the keys whose values differ, with both values."""
    return {key: (a.get(key), b.get(key)) for key in {**a, **b} if a.get(key) != b.get(key)}


def start_or_resume(path: Path, header: RunHeader) -> Run:
    """Return the run in the file, begun now if there is none. A torn last line is cut off.

    Raises EvaluationError when the file holds another run, naming what differs.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _check_is_run(path)
    cut_torn_line(path)
    if not path.exists() or not path.stat().st_size:
        append(path, "run", header)
        return read_run(path)
    run = read_run(path)
    changed = differing(_as_read(run.header.identity()), _as_read(header.identity()))
    if changed:
        named = ", ".join(f"{key}: {old!r} → {new!r}" for key, (old, new) in changed.items())
        raise EvaluationError(
            f"{path} は別の条件で始めた評価です（{named}）。条件を戻すか、--out で別のファイルにしてください。",
            f"{path} holds a run that was begun otherwise ({named}): change that back or name another file by --out",
        )
    append(path, "resumed", {"revision": header.revision, "machine": header.machine, "begun": header.begun})
    return run


def _as_read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    return json.loads(json.dumps(value))


def append(path: Path, kind: str, record: object) -> None:
    """Write one line and wait until it is on the disk."""
    line = json.dumps({kind: plain(record)}, ensure_ascii=False) + "\n"
    with path.open("ab") as file:
        file.write(line.encode("utf-8", "backslashreplace"))  # a lone surrogate's backslash form is its JSON form
        file.flush()
        os.fsync(file.fileno())


def read_run(path: Path) -> Run:
    """Return the run in the file without a torn last line. Raises EvaluationError naming the broken line."""
    found: dict[str, list[Any]] = {"run": [], "core": [], "asked": [], "mark": [], "resumed": []}
    kinds: dict[str, type[Any]] = {"run": RunHeader, "core": ComputedCore, "asked": Asked, "mark": Mark}
    for number, line in enumerate(_whole_lines(path), start=1):
        try:
            ((kind, record),) = json.loads(line).items()
            found[kind].append(kinds[kind](**record) if kind in kinds else record)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise _broken(path, number) from error
    if len(found["run"]) != 1:
        raise _broken(path, 1)
    return Run(path, found["run"][0], tuple(found["asked"]), tuple(found["mark"]), tuple(found["core"]))


def _check_is_run(path: Path) -> None:
    """Raise EvaluationError for a file that holds something else: it must stay as it is."""
    if path.exists():
        with path.open("rb") as file:
            begins = file.read(len(RUN_BEGINS))
        if not RUN_BEGINS.startswith(begins):
            raise _broken(path, 1)


def _broken(path: Path, number: int) -> EvaluationError:
    return EvaluationError(
        f"{path} の {number} 行目は評価の記録として読めません。eval run が書いたファイルか確かめてください。",
        f"{path}, line {number}, is no line of a run: name a file that eval run wrote",
    )


def _whole_lines(path: Path) -> Iterable[str]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise EvaluationError(
            f"評価の記録 {path} を読めません（{error.strerror}）。パスを確かめてください。",
            f"cannot read the run {path} ({error.strerror}): check the path",
        ) from error
    return content.decode("utf-8", "replace").split("\n")[:-1]


def cut_torn_line(path: Path) -> None:
    """Take away what follows the last line end, so that the next line begins a line."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)


def plain(value: object) -> Any:  # noqa: ANN401 - any JSON value
    """Return records as JSON has them; a notice as its line in both languages, as `ask --json` prints it."""
    if isinstance(value, Notice):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value
