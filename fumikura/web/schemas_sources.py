"""Inputs and outputs of sources, jobs and the seed's ingest."""

from typing import Literal

from pydantic import BaseModel, Field

from fumikura.records import AddReport, Notice, SourceSummary
from fumikura.store import JobRow, JobState
from fumikura.web.errors import notice_body
from fumikura.web.language import Language
from fumikura.web.schemas_common import Error, Input
from fumikura.web.schemas_core import CoreStateOut

LONGEST_TEXT_SLICE = 200_000


class SourceOut(BaseModel):
    """A source as it is listed. `keyword_ready`: found by keyword, its vectors are still to come."""

    source_id: str
    name: str
    title: str
    kind: str
    date: str | None
    size_bytes: int
    status: Literal["ready", "keyword_ready", "no_text"]
    chunk_count: int
    vector_count: int
    included: bool
    pinned: bool
    encoding: str | None
    encoding_certain: bool
    added_at: str
    updated_at: str
    notices: list[str]


class SourcesOut(BaseModel):
    """All sources of a notebook, by name."""

    sources: list[SourceOut]


class ListingOut(BaseModel):
    """`listing` is another number as soon as GET /sources would list something else."""

    listing: int


class ListedSourcesOut(SourcesOut, ListingOut):
    """All sources of a notebook, with the number of this state of the list."""


class HeadingOut(BaseModel):
    """Where a section begins; `level` 1 is the outermost."""

    heading: str
    level: int
    start: int
    page: int | None


class SourceDetailOut(SourceOut):
    """A source with its outline; `length` counts the characters of its extracted text."""

    length: int
    outline: list[HeadingOut]
    has_original: bool


class TextOut(BaseModel):
    """`text` is the source's extracted text from `start` to `end`; `length` that of the whole."""

    start: int
    end: int
    length: int
    text: str


class PassageInput(Input):
    """A passage as an answer quoted it."""

    source_id: str = Field(max_length=200)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    quote: str


class PassageOut(BaseModel):
    """Where the quote stands now: at its place, elsewhere (`start`, `end`), or nowhere (the source was changed)."""

    state: Literal["same", "moved", "changed"]
    start: int
    end: int
    source: SourceOut


class TextInput(Input):
    """A pasted text. One of a name that is there already replaces that source."""

    name: str = Field("", max_length=400)
    text: str


class UrlInput(Input):
    """The address of a web page."""

    url: str = Field(max_length=2_000)


class SourceChanges(Input):
    """What is given is changed."""

    name: str | None = None
    included: bool | None = None
    pinned: bool | None = None


class IncludedInput(Input):
    """Whether questions use the sources."""

    included: bool


class RemovedOut(BaseModel):
    """What was removed; for `undo_s` seconds it can be restored."""

    source_id: str
    name: str
    undo_s: float
    notices: list[str]


class JobOut(BaseModel):
    """A job as it stands; `step` names what it is doing, the counts how far that is."""

    job_id: int
    kind: str
    name: str
    state: JobState
    step: str
    done_count: int
    total_count: int
    error: Error | None
    source_id: str | None
    created_at: str
    updated_at: str


class JobsOut(BaseModel):
    """The jobs that were begun, in the order of what was sent."""

    jobs: list[JobOut]


class EmbeddingOut(BaseModel):
    """How many of a source's chunks have their vector."""

    source_id: str
    vector_count: int
    chunk_count: int


class ProgressOut(ListingOut):
    """What the server is doing for this notebook."""

    jobs: list[JobOut]
    embedding: list[EmbeddingOut]
    notices: list[str]
    core: CoreStateOut


class ReportOut(BaseModel):
    """What became of one file."""

    source_id: str
    source: str
    status: str
    chunk_count: int
    seconds: float
    error: str


class ReportsOut(BaseModel):
    """What became of the files, in order."""

    reports: list[ReportOut]


def source_fields(source: SourceSummary, language: Language) -> dict[str, object]:
    """Return the fields of a SourceOut."""
    fields = {name: getattr(source, name) for name in SourceOut.model_fields if name != "notices"}
    return fields | {"notices": [notice.message(language) for notice in source.notices]}


def source_out(source: SourceSummary, language: Language) -> SourceOut:
    """Return the source as it is shown."""
    return SourceOut.model_validate(source_fields(source, language))


def job_out(job: JobRow, language: Language) -> JobOut:
    """Return the job as it is shown."""
    fields = {name: getattr(job, name) for name in JobOut.model_fields if name != "error"}
    code = "source" if job.kind == "add" else "error"
    error = notice_body(job.error, language, code)["error"] if job.error else None
    return JobOut.model_validate(fields | {"error": error})


def report_out(report: AddReport, language: Language) -> ReportOut:
    """Return the report as it is shown."""
    fields = {name: getattr(report, name) for name in ReportOut.model_fields if name != "error"}
    return ReportOut.model_validate(fields | {"error": _line(report.error, language)})


def _line(notice: Notice | None, language: Language) -> str:
    return notice.message(language) if notice else ""
