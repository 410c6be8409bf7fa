"""What all routes share: library, queue before the model, worker behind the jobs, warmer, state of the backends."""

import asyncio
import os
import threading
import time
from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool

from fumikura.jobs import Worker
from fumikura.library import Library, Places
from fumikura.protocols import Generator
from fumikura.resident import Warmer, WarmState
from fumikura.settings import Settings
from fumikura.web.backend_state import Watched, embedder_state, generator_state
from fumikura.web.generator_queue import GeneratorQueue

WORKER_STOP_S = 2.0


class Service:
    """One open library with what serves it. `start` begins the background work, `close` ends everything."""

    def __init__(
        self,
        library: Library,
        places: Places,
        preset: str | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.library = library
        self.places = places
        self.preset = preset
        self.environment = environment
        self.queue = GeneratorQueue()
        self.worker = Worker(library, answering=lambda: self.queue.is_taken)
        self.warmer = Warmer(library.residence, lambda: self.queue.is_taken or self.worker.busy)
        self.embedder = Watched(lambda: embedder_state(library))
        self.generator = Watched(lambda: generator_state(library, environment))
        self.settings_lock = asyncio.Lock()
        self._retiring: set[asyncio.Task[None]] = set()
        self._born = time.monotonic()

    @property
    def settings(self) -> Settings:
        """The settings in use; they change when a person changes them on the page."""
        return self.library.settings

    @property
    def uptime_s(self) -> float:
        """Seconds since the service was made."""
        return time.monotonic() - self._born

    def start(self) -> None:
        """Begin the background work: the jobs, and loading what the first question needs."""
        self.library.store.break_off_running_turns()
        self.worker.start()
        self.warmer.start()
        if notebook := self.library.store.last_prefix_notebook():
            self.warmer.wake(notebook)
        threading.Thread(target=self._warm_up, name="warm-up", daemon=True).start()

    async def close(self) -> None:
        """End the answers, the worker (its transaction is finished first) and the library with its child processes."""
        await self.queue.close()
        await asyncio.gather(*self._retiring)
        await run_in_threadpool(self.warmer.stop, WORKER_STOP_S)
        await run_in_threadpool(self.worker.stop, WORKER_STOP_S)
        await run_in_threadpool(self.library.close)

    def core_state(self, notebook: str) -> WarmState:
        """Return how far the core of a notebook that somebody looks at is; a changed one is computed from now on."""
        store = self.library.store
        self.warmer.follow(notebook, f"{store.listing(notebook)} {store.mode(notebook)} {self.settings.sha256}")
        return self.warmer.state(notebook)

    def retire(self, generator: Generator) -> None:
        """Close a generator that is no longer used, after the answer that it may be writing."""

        async def close() -> None:
            async with self.queue.exclusive():
                await run_in_threadpool(generator.close)

        task = asyncio.create_task(close())
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    def _warm_up(self) -> None:
        """Load the embedder's weights, then ask the model's server: loading takes 0.3 s, which no question should."""
        self.embedder.refresh()
        self.generator.refresh()
