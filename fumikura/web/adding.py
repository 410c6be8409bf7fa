"""Files on their way to the worker: the parts of a request, and the jobs made of them."""

from collections.abc import AsyncIterator, Iterable
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.datastructures import UploadFile

from fumikura.records import Notice, SourceFile
from fumikura.store import JobRow
from fumikura.web.service import Service
from fumikura.web.uploads import Refused

FILE_COUNT = 10_000  # of one request: a folder of notes at once
MULTIPART: dict[str, Any] = {
    "requestBody": {
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
                }
            }
        }
    }
}


async def _uploads(request: Request) -> AsyncIterator[list[UploadFile]]:
    """Give the files of a multipart request, spooled to disk, whatever their fields are called."""
    async with request.form(max_files=FILE_COUNT) as form:
        yield [part for _, part in form.multi_items() if isinstance(part, UploadFile)]


Uploads = Annotated[list[UploadFile], Depends(_uploads)]


def add_files(service: Service, notebook: str, files: Iterable[SourceFile | Refused]) -> list[JobRow]:
    """Keep each file in the store and let the worker know; a refused one is a job that has failed."""
    jobs = []
    for file in files:
        jobs.append(_job(service, notebook, file))
        service.worker.wake()
    return jobs


def _job(service: Service, notebook: str, file: SourceFile | Refused) -> JobRow:
    store = service.library.store
    if isinstance(file, Refused):
        return store.add_job(notebook, "add", file.name, error=Notice(file.error.ja, file.error.en))
    return store.add_job(notebook, "add", file.name, file)
