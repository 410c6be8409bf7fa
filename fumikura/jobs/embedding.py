"""Which notebooks have texts to embed, in which order, and what to do when the embedder fails."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from fumikura.errors import FumikuraError, NotFound
from fumikura.library import Library
from fumikura.records import Notice
from fumikura.store import JobRow

logger = logging.getLogger(__name__)

BATCH_COUNT = 16  # about 0.2 s of the built-in embedder: the longest that a new file waits for it
FIRST_WAIT_S = 5.0
LONGEST_WAIT_S = 300.0
UNFORESEEN = Notice(
    "思わぬエラーで処理が止まりました。ログを見て、もう一度試してください。",
    "The job stopped with an error nobody foresaw: look at the log and try again",
)

End = Callable[[JobRow, Notice | None], None]
"""Called when a job that waited for vectors is over, with the reason if it failed."""


@dataclass
class _Waiting:
    """A notebook with chunks to embed, the jobs that wait for that, and how often it failed in a row."""

    jobs: list[JobRow] = field(default_factory=list)
    total_count: int = 0
    failure_count: int = 0
    due: float = 0.0


class Embedding:
    """Embeds what the notebooks hold without a vector. The questions about it are safe from any thread."""

    def __init__(self, library: Library, end: End, first_wait_s: float = FIRST_WAIT_S) -> None:
        self._library = library
        self._end = end
        self._first_wait_s = first_wait_s
        self._lock = threading.Lock()
        self._waiting: dict[str, _Waiting] = {}
        self._failures: dict[str, Notice] = {}

    def waits_in(self, notebook: str) -> bool:
        """Whether texts of this notebook are being embedded, or wait for it."""
        with self._lock:
            return notebook in self._waiting

    def failure_of(self, notebook: str) -> Notice | None:
        """Why it stands still in this notebook, None when it does not."""
        with self._lock:
            return self._failures.get(notebook)

    @property
    def is_waiting(self) -> bool:
        """Whether anything waits anywhere."""
        with self._lock:
            return bool(self._waiting)

    @property
    def failure(self) -> Notice | None:
        """Why it stands still somewhere, None when it does not."""
        with self._lock:
            return next(iter(self._failures.values()), None)

    def later(self, notebook: str) -> None:
        """Note that this notebook has texts without a vector."""
        with self._lock:
            self._waiting.setdefault(notebook, _Waiting())

    def under(self, job: JobRow) -> None:
        """Let the job run for as long as its notebook has texts to embed; begin at once even after failures."""
        self.later(job.notebook)
        waiting = self._waiting[job.notebook]
        waiting.jobs.append(job)
        waiting.due, waiting.failure_count = 0.0, 0

    def forget_failures(self) -> None:
        """Everything has been embedded anew."""
        with self._lock:
            self._failures.clear()

    @property
    def jobs(self) -> list[JobRow]:
        """The jobs that run until their notebook's texts are embedded."""
        return [job for waiting in self._waiting.values() for job in waiting.jobs]

    def forget_missing(self) -> list[JobRow] | None:
        """Forget the notebooks that were renamed or deleted and return the jobs that waited there; None: all exist."""
        with self._lock:
            known = {*self._waiting, *self._failures}
        missing = known.difference(self._library.store.notebooks()) if known else None
        if not missing:
            return None
        with self._lock:
            for notebook in missing:
                self._failures.pop(notebook, None)
            waited = [self._waiting.pop(notebook, _Waiting()) for notebook in missing]
        return [job for waiting in waited for job in waiting.jobs]

    def go_on(self, keep_on: Callable[[], bool]) -> bool:
        """Embed the first notebook that is due, while `keep_on` says so; False when none is."""
        now = time.monotonic()
        notebook = next((name for name, waiting in self._waiting.items() if waiting.due <= now), None)
        if notebook is not None:
            self._embed(notebook, self._waiting[notebook], keep_on)
        return notebook is not None

    def _embed(self, notebook: str, waiting: _Waiting, keep_on: Callable[[], bool]) -> None:
        waiting.jobs = [job for job in waiting.jobs if not self._is_cancelled(job)]
        broken_off = False

        def keep_on_and_note() -> bool:
            nonlocal broken_off
            broken_off = not keep_on()
            return not broken_off

        def show(step: str, done: int, total: int) -> None:
            self._show(waiting, total, total - done)

        try:
            reason = self._library.embed_pending(notebook, show, batch_count=BATCH_COUNT, keep_on=keep_on_and_note)
        except FumikuraError as error:
            if self._exists(notebook):
                self._failed(notebook, waiting, Notice(error.ja, error.en), error.transient)
        except Exception as error:
            logger.error("embedding failed with %s", type(error).__name__)  # its message may quote a source
            self._failed(notebook, waiting, UNFORESEEN, is_transient=False)
        else:
            if not broken_off and self._exists(notebook):
                self._leave(notebook, waiting, reason)

    def _exists(self, notebook: str) -> bool:
        """Whether it still has this name: else it was not embedded to the end, and `forget_missing` sees to it."""
        return self._library.store.has_notebook(notebook)

    def _is_cancelled(self, job: JobRow) -> bool:
        """End a job that a person cancelled; the texts are embedded all the same, as after any addition."""
        cancelled = self._library.store.job_cancelled(job.job_id)
        if cancelled:
            with suppress(NotFound):  # it went with its notebook
                self._library.store.update_job(job.job_id, state="cancelled")
        return cancelled

    def _show(self, waiting: _Waiting, total: int, left_count: int) -> None:
        waiting.total_count = max(waiting.total_count, total)  # that of the first round: later ones count the rest
        done = waiting.total_count - left_count
        for job in waiting.jobs:
            with suppress(NotFound):
                self._library.store.update_job(job.job_id, done_count=done, total_count=waiting.total_count)

    def _failed(self, notebook: str, waiting: _Waiting, why: Notice, is_transient: bool) -> None:
        """Keep the reason to be shown; try again later where time can heal it, else when a person asks for it."""
        if not is_transient:
            self._leave(notebook, waiting, why)
            return
        waiting.due = time.monotonic() + min(LONGEST_WAIT_S, self._first_wait_s * 2**waiting.failure_count)
        waiting.failure_count += 1
        with self._lock:
            self._failures[notebook] = why
        self._end_jobs(waiting, why)

    def _leave(self, notebook: str, waiting: _Waiting, reason: Notice | None) -> None:
        with self._lock:
            del self._waiting[notebook]
            if reason is None:
                self._failures.pop(notebook, None)
            else:
                self._failures[notebook] = reason
        self._end_jobs(waiting, reason)

    def _end_jobs(self, waiting: _Waiting, reason: Notice | None) -> None:
        ended, waiting.jobs = waiting.jobs, []
        for job in ended:
            self._end(job, reason)
