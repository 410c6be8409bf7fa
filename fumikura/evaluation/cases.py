"""Frozen records of a question set: what is asked, what answers it, where that is written, how it is scored."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from fumikura.errors import EvaluationError
from fumikura.records import Notice

QuestionType = Literal[
    "simple",
    "detail",
    "relation",
    "timeline",
    "inference",
    "unknown",
    "fact",
    "paraphrase",
    "cross",
    "count",
    "time",
]
Split = Literal["tune", "held_out"]
QUESTION_TYPES: tuple[str, ...] = get_args(QuestionType)
SPLITS: tuple[str, ...] = get_args(Split)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words of a source that answer a question: `quote` is an exact substring of the source's extracted text."""

    source: str  # the source's file name
    quote: str


@dataclass(frozen=True, slots=True)
class FacetGroup:
    """One thing that an answer must say; any of the patterns says it.

    A pattern is plain words, or a regular expression after `re:`. Both are matched on normalised text.
    """

    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rubric:
    """How many facet groups an answer must hit.

    `full` groups give 2 points when the first `required` ones are among them; `half` groups give 1 (0: never).
    An answer that makes a `forbidden` claim gets at most `cap` points.
    """

    groups: tuple[FacetGroup, ...] = ()
    full: int = 0
    half: int = 0
    required: int = 0
    forbidden: tuple[str, ...] = ()
    cap: int = 1


@dataclass(frozen=True, slots=True)
class Case:
    """One question with its model answer. `unknown`: no source answers it, `near` holds what misleads."""

    id: str
    type: QuestionType
    question: str
    answer: str
    rubric: Rubric
    evidence: tuple[Evidence, ...] = ()
    near: tuple[Evidence, ...] = ()
    wrong: tuple[str, ...] = ()  # answers that must score at most 1
    as_of: str | None = None  # ISO date that counts as today
    split: Split = "tune"
    line: int = 0  # where the case begins in its file

    @property
    def answerable(self) -> bool:
        """Whether the sources hold the answer."""
        return self.type != "unknown"


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions over one folder of sources."""

    name: str
    path: Path
    cases: tuple[Case, ...]

    @property
    def sources_folder(self) -> Path:
        """Where the sources lie: the folder `sources` beside the question file."""
        return self.path.parent / "sources"

    def source_files(self) -> tuple[Path, ...]:
        """Return the sources in the order of their names; hidden files are none."""
        return tuple(sorted(path for path in self.sources_folder.glob("[!.]*") if path.is_file()))

    def of_split(self, split: Split) -> tuple[Case, ...]:
        """Return the cases that may be tuned on, or those that may not."""
        return tuple(case for case in self.cases if case.split == split)

    def type_counts(self) -> Mapping[str, int]:
        """Return how many questions there are of each type, in the order in which types appear."""
        return dict(Counter(case.type for case in self.cases))


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with one case of a question set, and what to do about it."""

    file: str
    line: int
    case_id: str
    problem: Notice

    @property
    def notice(self) -> Notice:
        """The problem with the place where it stands."""
        name = f" {self.case_id}" if self.case_id else ""
        return Notice(
            f"{self.file} の {self.line} 行目{name}：{self.problem.ja}",
            f"{self.file}, line {self.line}{name}: {self.problem.en}",
        )


class QuestionSetError(EvaluationError):
    """A question set that cannot be used. `findings` holds every problem, the message the first one."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        first, others = findings[0].notice, len(findings) - 1
        more_ja, more_en = (f"（ほかに {others} 件）", f" (and {others} more)") if others else ("", "")
        super().__init__(first.ja + more_ja, first.en + more_en)
        self.findings = findings
