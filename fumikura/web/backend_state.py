"""Whether the embedder and the language model can be reached: asked in the background, read without waiting."""

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fumikura import build
from fumikura.errors import FumikuraError
from fumikura.generators.reach import reach_ollama, reach_openai
from fumikura.library import Library
from fumikura.protocols import Generator
from fumikura.records import Notice

KEPT_S = 5.0
FIRST_WAIT_S = 0.2


@dataclass(frozen=True, slots=True)
class BackendState:
    """Whether a backend can be used, with a line for a person. Unknown while the first check is under way."""

    ready: bool
    detail: Notice
    context_tokens: int | None = None  # of the generator, where it is known without starting it
    recipe: str = ""  # of the embedder


UNKNOWN = BackendState(ready=False, detail=Notice("確かめています。", "being checked"))


class Watched:
    """The last answer of `check`; one older than a few seconds is renewed in a thread, one check at a time."""

    def __init__(self, check: Callable[[], BackendState], kept_s: float = KEPT_S) -> None:
        self._check = check
        self._kept_s = kept_s
        self._state = UNKNOWN
        self._due = 0.0
        self._known = threading.Event()
        self._checking = threading.Lock()

    def state(self, wait_s: float = FIRST_WAIT_S) -> BackendState:
        """Return what is known; waits only for the first answer, `wait_s` at most."""
        if time.monotonic() >= self._due and not self._checking.locked():
            threading.Thread(target=self.refresh, name="backend-check", daemon=True).start()
        self._known.wait(wait_s)
        return self._state

    def refresh(self) -> None:
        """Ask now, unless another thread does."""
        if not self._checking.acquire(blocking=False):
            return
        try:
            self._state = self._check()
        except FumikuraError as error:
            self._state = BackendState(ready=False, detail=Notice(error.ja, error.en))
        finally:
            self._due = time.monotonic() + self._kept_s
            self._known.set()
            self._checking.release()


def embedder_state(library: Library) -> BackendState:
    """Return the embedder's state, its weights loaded. Raises BackendError, MissingExtra."""
    library.embedder.embed_query("文庫")
    detail = Notice(f"{library.embedder.name} を使えます。", f"{library.embedder.name} is ready")
    return BackendState(ready=True, detail=detail, recipe=build.recipe_of(library.embedder))


def generator_state(library: Library, environment: Mapping[str, str] = os.environ) -> BackendState:
    """Return the generator's state; starts no model. Raises ModelFileError, BackendError, SettingsError."""
    settings, generator = library.settings, library.generator
    chosen = settings.llm
    if chosen.backend == "embedded":
        # Neither is the running model asked: that would keep it in memory for ever.
        if not generator.loaded:
            library.models.path(chosen.model)
        return BackendState(True, readiness(generator), chosen.context_tokens)
    if chosen.backend == "ollama":
        reach_ollama(settings.ollama.url, chosen.model)
    else:
        reach_openai(settings.openai.url, environment.get(build.API_KEY_VARIABLE))
    return BackendState(True, readiness(generator), min(chosen.context_tokens, generator.context_tokens()))


def readiness(generator: Generator) -> Notice:
    """Say how soon a generator that works can answer."""
    if generator.loaded:
        return Notice(f"{generator.name} がすぐ答えられます。", f"{generator.name} can answer at once")
    return Notice(
        f"{generator.name} は最初の質問で読み込みます。", f"{generator.name} is loaded with the first question"
    )
