"""The settings page: what can be changed, what it changes, and the change itself."""

from typing import Annotated, Any

from fastapi import APIRouter, Body
from starlette.concurrency import run_in_threadpool

from fumikura.places import DEFAULT_NOTEBOOK
from fumikura.settings_file import preset_settings
from fumikura.web.deps import Services, Speaks, notebook_named
from fumikura.web.schemas_common import ERRORS
from fumikura.web.schemas_settings import BackendOut, SettingsOut
from fumikura.web.schemas_sources import JobsOut, job_out
from fumikura.web.service import Service
from fumikura.web.settings_change import change, needs_reindex, settings_path
from fumikura.web.settings_fields import shown_fields

router = APIRouter(tags=["settings"], responses=ERRORS)


@router.get("/api/settings")
def read_settings(service: Services) -> SettingsOut:
    """Show the settings that a notebook grows with; never waits for a backend that is down."""
    return _shown(service)


@router.patch("/api/settings")
async def change_settings(
    service: Services,
    changes: Annotated[dict[str, Any], Body(examples=[{"chunk.size": 300, "search.top_k": 8}])],
) -> SettingsOut:
    """Change settings by key; null takes a key out of the file, back to its default. 422 changes nothing."""
    await change(service, changes)
    return await run_in_threadpool(_shown, service)


@router.post("/api/reindex", status_code=202)
def reindex(service: Services, language: Speaks, notebook: str = DEFAULT_NOTEBOOK) -> JobsOut:
    """Split and embed every source of every notebook anew; the job is shown in `notebook`.

    One that waits to begin will do all of it: it is returned instead of a second one.
    """
    store = service.library.store
    name = notebook_named(store, notebook)
    job = store.queued_job("reindex") or store.add_job(name, "reindex")
    service.worker.wake()
    return JobsOut(jobs=[job_out(job, language)])


def _shown(service: Service) -> SettingsOut:
    library, settings = service.library, service.settings
    defaults = preset_settings(settings.preset, service.places.settings_file)
    return SettingsOut(
        fields=list(shown_fields(library, defaults, service.environment)),
        file=settings_path(service.places),
        backend=BackendOut(
            kind=settings.llm.backend,
            model=settings.llm.model,
            context_tokens=service.generator.state().context_tokens,
            settings_sha256=settings.sha256,
        ),
        needs_reindex=needs_reindex(library, service.embedder.state().recipe),
    )
