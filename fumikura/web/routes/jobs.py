"""What the worker does for a notebook: progress, retry, cancel, dismiss."""

from typing import Annotated

from fastapi import APIRouter, Path

from fumikura.errors import NotFound
from fumikura.store import JobRow, Store
from fumikura.web.deps import LARGEST_ID, NotebookName, Services, Speaks
from fumikura.web.schemas_common import ERRORS
from fumikura.web.schemas_core import CoreStateOut
from fumikura.web.schemas_sources import EmbeddingOut, JobOut, JobsOut, ProgressOut, job_out

router = APIRouter(prefix="/api/notebooks/{notebook}", tags=["jobs"], responses=ERRORS)

DONE_SHOWN_S = 60.0

JobId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


@router.get("/progress")
def show_progress(service: Services, notebook: NotebookName, language: Speaks) -> ProgressOut:
    """Say what is being done. Cheap, to be asked often: the sources are worth listing anew when `listing` changed."""
    store = service.library.store
    embedding = store.embedding(notebook) if service.worker.is_embedding(notebook) else []
    failure = service.worker.failure_of(notebook)
    return ProgressOut(
        listing=store.listing(notebook),
        jobs=[job_out(job, language) for job in store.jobs(notebook, done_within_s=DONE_SHOWN_S)],
        embedding=[
            EmbeddingOut(source_id=one.source_id, vector_count=one.vector_count, chunk_count=one.chunk_count)
            for one in embedding
        ],
        notices=[failure.message(language)] if failure else [],
        core=CoreStateOut.of(service.core_state(notebook), language),
    )


@router.post("/embed", status_code=202)
def embed(service: Services, notebook: NotebookName, language: Speaks) -> JobsOut:
    """Go on embedding, as after a failure."""
    job = service.library.store.add_job(notebook, "embed")
    service.worker.wake()
    return JobsOut(jobs=[job_out(job, language)])


@router.post("/jobs/{job_id}/retry")
def retry_job(service: Services, notebook: NotebookName, language: Speaks, job_id: JobId) -> JobOut:
    """Try a failed or cancelled job again."""
    job = _job(service.library.store, notebook, job_id)
    again = service.library.store.retry_job(job.job_id)
    service.worker.wake()
    return job_out(again, language)


@router.post("/jobs/{job_id}/cancel")
def cancel_job(service: Services, notebook: NotebookName, language: Speaks, job_id: JobId) -> JobOut:
    """Cancel a job; one that runs ends after the step at hand."""
    job = _job(service.library.store, notebook, job_id)
    return job_out(service.library.store.cancel_job(job.job_id), language)


@router.delete("/jobs/{job_id}", status_code=204)
def dismiss_job(service: Services, notebook: NotebookName, job_id: JobId) -> None:
    """Take a job that is over off the list."""
    service.library.store.remove_job(_job(service.library.store, notebook, job_id).job_id)


def _job(store: Store, notebook: str, job_id: int) -> JobRow:
    job = store.job(job_id)
    if job.notebook != notebook:
        raise NotFound(f"処理 {job_id} はこのノートブックにありません。", f"There is no job {job_id} in this notebook")
    return job
