"""Sources: added, listed, read, changed, removed, restored."""

from itertools import pairwise
from pathlib import PurePosixPath
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Response
from starlette.concurrency import run_in_threadpool

from fumikura.errors import NotFound, UnreadableSource
from fumikura.jobs import UNDO_S
from fumikura.records import Section
from fumikura.removal import quotes_left
from fumikura.web.adding import MULTIPART, Uploads, add_files
from fumikura.web.deps import NotebookName, Services, Speaks
from fumikura.web.fetching import fetch_page
from fumikura.web.schemas_common import ERRORS
from fumikura.web.schemas_sources import (
    LONGEST_TEXT_SLICE,
    HeadingOut,
    IncludedInput,
    JobsOut,
    ListedSourcesOut,
    ListingOut,
    PassageInput,
    PassageOut,
    RemovedOut,
    SourceChanges,
    SourceDetailOut,
    SourceOut,
    TextInput,
    TextOut,
    UrlInput,
    job_out,
    source_fields,
    source_out,
)
from fumikura.web.uploads import pasted_text, read_uploads

router = APIRouter(prefix="/api/notebooks/{notebook}", tags=["sources"], responses=ERRORS)


@router.get("/sources")
def list_sources(service: Services, notebook: NotebookName, language: Speaks) -> ListedSourcesOut:
    """List the sources by name. `listing` is the number of this state: GET /progress says when it changed."""
    store = service.library.store
    listing = store.listing(notebook)  # first: a change in between is then listed again, never missed
    return ListedSourcesOut(listing=listing, sources=[source_out(one, language) for one in store.sources(notebook)])


@router.post("/sources", status_code=202, openapi_extra=MULTIPART)
def add_sources(service: Services, notebook: NotebookName, language: Speaks, uploads: Uploads) -> JobsOut:
    """Take files; their bytes are on disk before the answer. A refused file is a failed job, the others are taken.

    The name of a file in a folder is kept with it (2024/memo.md). A name that is there already replaces that source.
    """
    if not uploads:
        raise UnreadableSource(
            "ファイルが送られていません。multipart の files に入れてください。",
            "no file was sent: put it into the multipart field 'files'",
        )
    jobs = add_files(service, notebook, read_uploads(uploads, service.settings.limits.source_bytes))
    return JobsOut(jobs=[job_out(job, language) for job in jobs])


@router.post("/sources/text", status_code=202)
def add_text(service: Services, notebook: NotebookName, language: Speaks, given: TextInput) -> JobsOut:
    """Take a pasted text, read as Markdown."""
    file = pasted_text(given.text, given.name, service.settings.limits.source_bytes)
    return JobsOut(jobs=[job_out(job, language) for job in add_files(service, notebook, [file])])


@router.post("/sources/url", status_code=202)
async def add_url(service: Services, notebook: NotebookName, language: Speaks, given: UrlInput) -> JobsOut:
    """Fetch a web page once and keep it. Addresses of this machine and its network are refused."""
    limits = service.settings.limits
    file = await fetch_page(given.url, limits.source_bytes, private=limits.private_urls)
    jobs = await run_in_threadpool(add_files, service, notebook, [file])
    return JobsOut(jobs=[job_out(job, language) for job in jobs])


@router.patch("/sources")
def include_all(service: Services, notebook: NotebookName, given: IncludedInput) -> ListingOut:
    """Let questions use all sources, or none."""
    service.library.store.include_all(notebook, given.included)
    return ListingOut(listing=service.library.store.listing(notebook))


@router.get("/sources/{source_id}")
def read_source(service: Services, notebook: NotebookName, language: Speaks, source_id: str) -> SourceDetailOut:
    """Return a source with its outline."""
    store = service.library.store
    source = store.get_source(notebook, source_id)
    sections = store.sections(notebook, source.source_id)
    return SourceDetailOut.model_validate(
        source_fields(source, language)
        | {
            "length": sections[-1].end if sections else 0,
            "outline": _outline(sections),
            "has_original": store.has_original(notebook, source.source_id),
        }
    )


@router.get("/sources/{source_id}/text")
def read_text(
    service: Services,
    notebook: NotebookName,
    source_id: str,
    start: Annotated[int, Query(ge=0)] = 0,
    end: Annotated[int | None, Query(ge=0)] = None,
) -> TextOut:
    """Return the extracted text from `start` to `end`, at most 200,000 characters of it."""
    text = service.library.store.source_text(notebook, source_id)
    start = min(start, len(text))
    end = min(max(start, len(text) if end is None else end), start + LONGEST_TEXT_SLICE, len(text))
    return TextOut(start=start, end=end, length=len(text), text=text[start:end])


@router.get("/sources/{source_id}/original", response_class=Response)
def download_original(service: Services, notebook: NotebookName, source_id: str) -> Response:
    """Return the bytes as they were added. Always a download: nothing of a source is shown as a page."""
    file = service.library.store.original(notebook, source_id)
    if file is None:
        raise NotFound(
            f"資料「{source_id}」の元のファイルは残っていません。もう一度追加すると残ります。",
            f"The file of source '{source_id}' was not kept: add it again to keep it",
        )
    name = quote(PurePosixPath(file.name).name, safe="")
    return Response(
        file.content,
        media_type="application/octet-stream",
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{name}", "X-Content-Type-Options": "nosniff"},
    )


@router.patch("/sources/{source_id}")
def change_source(
    service: Services, notebook: NotebookName, language: Speaks, source_id: str, given: SourceChanges
) -> SourceOut:
    """Rename the source, tick it in or out of questions, pin it (409 when the pinned ones no longer fit)."""
    store = service.library.store
    source = store.get_source(notebook, source_id)
    if given.pinned is not None:  # first: what is refused must change nothing
        residence = service.library.residence(notebook)
        change = residence.pin if given.pinned else residence.unpin
        (source,) = change([source.source_id])
    if given.name is not None:
        source = store.rename_source(notebook, source.source_id, given.name)
    if given.included is not None:
        source = store.set_included(notebook, source.source_id, given.included)
    return source_out(source, language)


@router.delete("/sources/{source_id}")
def remove_source(
    service: Services, notebook: NotebookName, language: Speaks, source_id: str, undo: bool = False
) -> RemovedOut:
    """Remove the source; with `undo` it is hidden at once and gone for good 20 seconds later."""
    library = service.library
    source = library.store.get_source(notebook, source_id)
    if undo:
        notices = quotes_left(library.store, notebook, source.source_id)
        library.store.hide_source(notebook, source.source_id)
    else:
        notices = library.remove(notebook, [source.source_id]).notices
    return RemovedOut(
        source_id=source.source_id,
        name=source.name,
        undo_s=UNDO_S if undo else 0,
        notices=[notice.message(language) for notice in notices],
    )


@router.post("/sources/{source_id}/restore")
def restore_source(service: Services, notebook: NotebookName, language: Speaks, source_id: str) -> SourceOut:
    """Bring back what was removed with `undo`."""
    return source_out(service.library.store.restore_source(notebook, source_id), language)


@router.post("/passage")
def find_passage(service: Services, notebook: NotebookName, language: Speaks, given: PassageInput) -> PassageOut:
    """Say where the quote of an older answer stands now. 404 when its source was removed."""
    store = service.library.store
    source = store.get_source(notebook, given.source_id)
    text = store.source_text(notebook, source.source_id)
    place = _nearest(text, given.quote, given.start)
    if place is None:
        start, end = min(given.start, len(text)), min(given.end, len(text))
        return PassageOut(state="changed", start=start, end=max(start, end), source=source_out(source, language))
    end = place + len(given.quote)
    state = "same" if (place, end) == (given.start, given.end) else "moved"
    return PassageOut(state=state, start=place, end=end, source=source_out(source, language))


def _nearest(text: str, quote: str, start: int) -> int | None:
    """Return where `quote` stands nearest to `start`, None where it stands nowhere."""
    if not quote:
        return None
    found = (text.rfind(quote, 0, start + len(quote)), text.find(quote, start))
    return min((place for place in found if place >= 0), key=lambda place: abs(place - start), default=None)


def _outline(sections: list[Section]) -> list[HeadingOut]:
    """Return a line a heading; a long section's continuations have none of their own."""
    paths = [(), *(section.heading_path for section in sections)]
    return [
        HeadingOut(heading=path[-1], level=len(path), start=section.start, page=section.page)
        for section, (before, path) in zip(sections, pairwise(paths), strict=True)
        if path and (path != before or path[-1] in section.text.partition("\n")[0])
    ]
