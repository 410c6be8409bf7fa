"""What is ready: asked by the page, by set-up and by whatever watches the server."""

import os
import shutil

from fastapi import APIRouter

from fumikura import __version__
from fumikura.errors import StoreError
from fumikura.jobs import Worker
from fumikura.records import Notice
from fumikura.web.backend_state import readiness
from fumikura.web.deps import Services, Speaks
from fumikura.web.language import Language
from fumikura.web.schemas_common import GeneratorPart, HealthOut, Part
from fumikura.web.service import Service

router = APIRouter(tags=["server"])

LEAST_FREE_BYTES = 10_000_000
ENDED = Notice(
    "資料を処理する部分が止まっています。サーバーを起動し直すと続きから進みます。",
    "What processes the sources has ended: start the server again, and it goes on",
)


@router.get("/api/health")
def read_health(service: Services, language: Speaks) -> HealthOut:
    """Say what is ready. Cheap; a backend's state may be some seconds old."""
    store = _store(service, language)
    embedder = service.embedder.state()
    generator, model = service.generator.state(), service.library.generator
    jobs = _jobs(service.worker, language)
    parts = (store.ready, embedder.ready, generator.ready, jobs.ready)
    return HealthOut(
        status="ok" if all(parts) else "degraded",
        version=__version__,
        uptime_s=round(service.uptime_s, 1),
        store=store,
        embedder=Part(ready=embedder.ready, detail=embedder.detail.message(language)),
        generator=GeneratorPart(
            ready=generator.ready,
            # As it is now: the state may be of before the model was loaded.
            detail=(readiness(model) if generator.ready else generator.detail).message(language),
            model=model.name,
            loaded=generator.ready and model.loaded,
            waiting_count=service.queue.waiting_count,
        ),
        jobs=jobs,
    )


def _store(service: Service, language: Language) -> Part:
    """Read the store and see that it could be written, without waiting for whoever writes now."""
    library = service.library
    try:
        count = len(library.store.notebooks())
        writable = os.access(library.store.path, os.W_OK) and os.access(library.data, os.W_OK)
        free = shutil.disk_usage(library.data).free
    except (StoreError, OSError) as error:
        return Part(ready=False, detail=error.message(language) if isinstance(error, StoreError) else str(error))
    if writable and free >= LEAST_FREE_BYTES:
        return Part(ready=True, detail=Notice(f"ノートブック {count} 冊", f"{count} notebooks").message(language))
    full = Notice("ディスクの空きがありません。", "The disk is full.")
    locked = Notice(f"{library.data} に書き込めません。", f"{library.data} cannot be written to.")
    return Part(ready=False, detail=(full if writable else locked).message(language))


def _jobs(worker: Worker, language: Language) -> Part:
    failure = worker.failure if worker.alive else ENDED
    idle = Notice("作業中です。", "at work") if worker.busy else Notice("待機中です。", "idle")
    return Part(ready=failure is None, detail=(failure or idle).message(language))
