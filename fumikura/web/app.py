"""The application: routes, the guard before them, and the one way in which errors are answered."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from fumikura import __version__
from fumikura.web.auth import Access, Gate
from fumikura.web.errors import add_error_handlers
from fumikura.web.guard import Guard
from fumikura.web.routes import (
    ask,
    conversations,
    core,
    health,
    jobs,
    login,
    notebooks,
    notes,
    pages,
    seed,
    settings,
    sources,
)
from fumikura.web.service import Service

DESCRIPTION = "A private notebook that answers from your own sources, and only from them."
ROUTES = (seed, health, notebooks, sources, jobs, core, ask, conversations, notes, settings, login, pages)


def create_app(service: Service, token: str | None = None) -> FastAPI:
    """Return the application. Without a token only loopback host names are answered, with it every request needs it."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        await service.close()

    app = FastAPI(
        title="Fumikura",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a client that shortens …/sources/.. to the notebook's address must not reach it
    )
    app.state.service = service
    app.state.access = access = Access(token)
    for module in ROUTES:
        app.include_router(module.router)
    add_error_handlers(app)
    # The last one added is the outermost: the guard sees every request first and every reply last.
    app.add_middleware(Gate, access=access, is_open=pages.is_open)
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=6)
    app.add_middleware(Guard, limits=lambda: service.settings.limits, any_host=token is not None)
    return app
