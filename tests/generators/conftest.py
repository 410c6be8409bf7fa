"""Short waits, both server protocols, and the real model for the tests marked `live`."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stub_llm import StubServer

from fumikura.generators import LlamaCppGenerator, LlamaCppOptions, OllamaGenerator, OpenAIGenerator, Timeouts
from fumikura.models import ModelStore
from fumikura.records import Message

SHORT = Timeouts(connect_s=2.0, first_token_s=5.0, idle_s=5.0)
Maker = Callable[..., OllamaGenerator | OpenAIGenerator]


@pytest.fixture(params=["ollama", "openai"])
def make(request: pytest.FixtureRequest, stub: StubServer) -> Maker:
    """Make a generator that speaks with the stand-in; once for each protocol."""

    def ollama(**given: object) -> OllamaGenerator:
        return OllamaGenerator(stub.url, "stub", **{"timeouts": SHORT, **given})

    def openai(**given: object) -> OpenAIGenerator:
        return OpenAIGenerator(stub.url + "/v1", "stub", **{"timeouts": SHORT, **given})

    return {"ollama": ollama, "openai": openai}[request.param]


@pytest.fixture
def question() -> list[Message]:
    return [Message("system", "資料だけで答える。"), Message("user", "開館は何時ですか？")]


@pytest.fixture(scope="session")
def model_path() -> Path:
    """The default model's file; fetched into a cache folder when the machine has none."""
    folder = os.environ.get("FUMIKURA_TEST_MODELS") or Path.home() / ".cache" / "fumikura" / "models"
    store = ModelStore(Path(folder))
    return store.fetch(store.default_name)


@pytest.fixture(scope="module")
def llamacpp(model_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaCppGenerator]:
    log = tmp_path_factory.mktemp("logs") / "llamacpp.log"
    generator = LlamaCppGenerator("default", lambda: model_path, LlamaCppOptions(context_tokens=2048, log_path=log))
    yield generator
    generator.close()
