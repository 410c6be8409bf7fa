"""The two endpoints of the seed about sources; the third, asking, stands in ask.py."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from fumikura.errors import NotFound, SourceError
from fumikura.loaders import find_files, read_file, told_apart
from fumikura.places import DEFAULT_NOTEBOOK
from fumikura.records import AddReport, SourceFile
from fumikura.store import JobRow
from fumikura.web.adding import MULTIPART, Uploads, add_files
from fumikura.web.deps import Services, Speaks, notebook_named
from fumikura.web.schemas_common import ERRORS
from fumikura.web.schemas_sources import ReportsOut, SourcesOut, report_out, source_out
from fumikura.web.service import Service
from fumikura.web.uploads import Refused, read_uploads

router = APIRouter(prefix="/api", tags=["seed"], responses=ERRORS)

POLL_S = 0.1


@router.get("/sources")
def list_sources(service: Services, language: Speaks, notebook: str = DEFAULT_NOTEBOOK) -> SourcesOut:
    """List the sources of a notebook (its name or id)."""
    store = service.library.store
    sources = store.sources(notebook_named(store, notebook))
    return SourcesOut(sources=[source_out(source, language) for source in sources])


@router.post("/ingest", openapi_extra=MULTIPART)
async def ingest(
    request: Request, service: Services, language: Speaks, uploads: Uploads, notebook: str = DEFAULT_NOTEBOOK
) -> ReportsOut:
    """Add the files sent, or without any those in the folder `paths.docs`; wait until they can be searched."""

    def add() -> list[JobRow]:
        name = notebook_named(service.library.store, notebook)
        limit = service.settings.limits.source_bytes
        return add_files(service, name, read_uploads(uploads, limit) if uploads else _docs(service, name))

    jobs = await run_in_threadpool(add)
    # Who waits holds no thread: the other routes need them.
    while (reports := await run_in_threadpool(_reports, service, jobs)) is None:
        if await request.is_disconnected():
            return ReportsOut(reports=[])  # nobody reads it; the jobs go on
        await asyncio.sleep(POLL_S)
    return ReportsOut(reports=[report_out(report, language) for report in reports])


def _reports(service: Service, jobs: list[JobRow]) -> list[AddReport] | None:
    reports = service.worker.reports_if_over(jobs)
    return reports and [_settled(service, job, report) for job, report in zip(jobs, reports, strict=True)]


def _docs(service: Service, notebook: str) -> Iterator[SourceFile | Refused]:
    folder = service.library.data / service.settings.paths.docs
    found = find_files([folder]) if folder.is_dir() else []
    if not found:
        raise NotFound(
            f"{folder} に読めるファイルがありません（設定 paths.docs）。ファイルを置くか、送ってください。",
            f"there is no file to read in {folder} (setting paths.docs): put some there, or send them",
        )
    names = {source.name: source.origin for source in service.library.store.sources(notebook)}
    for file in told_apart(found, names):
        try:
            yield read_file(file, service.settings.limits.source_bytes)
        except SourceError as error:
            yield Refused(file.name, error)


def _settled(service: Service, job: JobRow, report: AddReport) -> AddReport:
    """Say so when the vectors of a source did not come."""
    if report.status in ("failed", "no_text"):
        return report
    store = service.library.store
    try:
        notebook = store.job(job.job_id).notebook  # by now it may have another name
        source = store.get_source(notebook, report.source_id)
    except NotFound:  # removed since
        return report
    if source.status != "keyword_ready":
        return report
    return replace(report, status="keyword_ready", error=service.worker.failure_of(notebook) or report.error)
