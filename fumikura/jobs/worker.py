"""The one thread that does the jobs, and what the server may ask it."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import count

from fumikura.errors import FumikuraError, NotFound, StoreError
from fumikura.jobs.embedding import FIRST_WAIT_S, UNFORESEEN, Embedding
from fumikura.jobs.outcomes import CANCELLED, Outcomes
from fumikura.jobs.safely import kind_and_place, safely
from fumikura.library import Library
from fumikura.records import AddReport, Notice
from fumikura.store import JobRow

logger = logging.getLogger(__name__)

NOTE_ORIGIN = "note:"  # begins the origin of a source that was a note; the note's id follows
UNDO_S = 20.0  # a source removed on the page can be brought back for so long
KEEP_DONE_S = 86_400.0
SLICE_S = 2.0  # of embedding; then removed sources are looked after, also when nobody calls
REST_S = 1.0
LOOK_S = 0.05  # whoever waits for a job looks this often
RETRY_WAITS_S = (2.0, 10.0, 30.0)


class _Interrupted(Exception):  # noqa: N818 - no error: the person cancelled, or the worker stops
    """Ends a job between two of its steps."""


def _never() -> bool:
    """Nothing is answered."""
    return False


class Worker:
    """Does the store's jobs one after the other. `wake` it after adding one; any thread may ask it."""

    def __init__(
        self,
        library: Library,
        *,
        answering: Callable[[], bool] = _never,
        undo_s: float = UNDO_S,
        retry_waits_s: Sequence[float] = RETRY_WAITS_S,
        first_wait_s: float = FIRST_WAIT_S,
    ) -> None:
        """`answering` says whether a question is answered now: embedding then leaves most of the time to that."""
        self._library = library
        self._answering = answering
        self._store = library.store
        self._undo_s = undo_s
        self._retry_waits_s = retry_waits_s
        self._embedding = Embedding(library, self._end_embedding, first_wait_s)
        self._outcomes = Outcomes(self._store)
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._working = False
        self._later: list[tuple[float, int, JobRow]] = []  # (when, tries so far, job)
        self._forget_at = 0.0

    def start(self) -> None:
        """Begin, with what an earlier run left unfinished."""
        self._thread = threading.Thread(target=self._run, name="worker", daemon=True)
        self._thread.start()

    def stop(self, wait_s: float = 5.0) -> None:
        """End after the step at hand; what is left goes on at the next start."""
        self._stopping.set()
        self.wake()
        if self._thread is not None:
            self._thread.join(wait_s)

    def wake(self) -> None:
        """Say that there is a new job."""
        self._woken.set()

    @property
    def alive(self) -> bool:
        """Whether jobs are done at all."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def busy(self) -> bool:
        """Whether a job runs, or texts are embedded or wait for it."""
        return self._working or self._embedding.is_waiting

    @property
    def failure(self) -> Notice | None:
        """Why embedding stands still somewhere, None when it does not."""
        return self._embedding.failure

    def failure_of(self, notebook: str) -> Notice | None:
        """Why embedding stands still in this notebook, None when it does not."""
        return self._embedding.failure_of(notebook)

    def is_embedding(self, notebook: str) -> bool:
        """Whether texts of this notebook are being embedded, or wait for it."""
        return self._embedding.waits_in(notebook)

    def reports_of(self, jobs: Sequence[JobRow]) -> list[AddReport]:
        """Wait until `reports_if_over` has reports, and return them."""
        while (reports := self.reports_if_over(jobs)) is None:
            self._stopping.wait(LOOK_S)
        return reports

    def reports_if_over(self, jobs: Sequence[JobRow]) -> list[AddReport] | None:
        """Return what became of each job; None while one is not over, or its texts are still being embedded."""
        states = []
        for job in jobs:
            states.append(self._outcomes.state_of(job))
            if states[-1].state in ("queued", "running") and not self._stopping.is_set():
                return None
        if not (self._stopping.is_set() or all(map(self._is_settled, {job.notebook for job in states}))):
            return None
        return [self._outcomes.report_of(job) for job in states]

    def _is_settled(self, notebook: str) -> bool:
        return self.failure_of(notebook) is not None or not self.is_embedding(notebook)

    # From here on: the worker's own thread.

    def _run(self) -> None:
        while not (self._stopping.is_set() or safely(self._begin)):
            self._stopping.wait(REST_S)
        safely(partial(self._purge, 0.0))
        while not self._stopping.is_set():
            self._woken.clear()  # before looking, so that no call is missed
            safely(self._tidy)
            if not safely(self._step):
                safely(self._empty_log)
                self._woken.wait(REST_S)
        safely(self._put_back)
        safely(partial(self._purge, 0.0))

    def _begin(self) -> bool:
        self._store.requeue_unfinished_jobs()
        self._look_for_texts()
        return True

    def _look_for_texts(self) -> None:
        for notebook in self._store.notebooks():
            if any(source.status == "keyword_ready" for source in self._store.sources(notebook)):
                self._embedding.later(notebook)

    def _put_back(self) -> bool:
        """Queue what goes on at the next start: only what runs when the process dies counts as tried there."""
        for job in [*(job for _, _, job in self._later), *self._embedding.jobs]:
            with suppress(NotFound):
                self._store.update_job(job.job_id, state="queued", step="wait")
        return True

    def _purge(self, older_than_s: float) -> bool:
        purged = self._store.purge_hidden(older_than_s)
        for notebook in {notebook for notebook, _ in purged}:
            for notice in self._library.refresh(notebook):
                logger.warning("%s", notice.en)
        return bool(purged)

    def _tidy(self) -> bool:
        """Do what falls due beside the jobs."""
        self._outcomes.write_again()
        safely(partial(self._purge, self._undo_s))
        moved = self._embedding.forget_missing()
        if moved is not None:
            self._later += [(0.0, 0, now) for job in moved if (now := self._moved(job))]
            self._look_for_texts()
        if self._forget_at <= time.monotonic():
            self._store.forget_done_jobs(KEEP_DONE_S)
            self._forget_at = time.monotonic() + KEEP_DONE_S
        return True

    def _empty_log(self) -> bool:
        """Overwrite deleted text that a reader kept in the log."""
        return self._store.log_dirty and self._store.checkpoint()

    def _step(self) -> bool:
        """Do one job, or embed for a while; False when there is nothing to do."""
        job, tries = self._due_again() or (self._store.claim_job(), 0)
        if job is None:
            return self._embed_for_a_while()
        self._working = True
        try:
            self._do(job, tries)
        finally:
            self._working = False
        return True

    def _embed_for_a_while(self) -> bool:
        """Embed until something else is to be done; while a question is answered only one batch, and then rest."""
        end = time.monotonic() + SLICE_S
        batches = count()

        def keep_on() -> bool:
            has_time = time.monotonic() < end and not self._answering()
            is_called = self._woken.is_set() or self._stopping.is_set()
            return not is_called and (next(batches) == 0 or has_time)

        return self._embedding.go_on(keep_on) and not self._answering()

    def _due_again(self) -> tuple[JobRow, int] | None:
        due = next((entry for entry in self._later if entry[0] <= time.monotonic()), None)
        if due is None:
            return None
        self._later.remove(due)
        return due[2], due[1]

    def _do(self, job: JobRow, tries: int) -> None:
        try:
            self._check(job)
            report = {"add": self._add, "embed": self._embed, "reindex": self._reindex}[job.kind](job)
        except _Interrupted:
            if self._stopping.is_set():
                self._later.append((0.0, tries, job))
            else:
                self._outcomes.end(job, AddReport(job.name, "failed", error=CANCELLED), "cancelled")
        except FumikuraError as error:
            self._failed(job, error, tries)
        except Exception as error:
            logger.error("job %d failed: %s", job.job_id, kind_and_place(error))
            self._outcomes.end(job, AddReport(job.name, "failed", error=UNFORESEEN), "failed")
        else:  # not inside `try`: a source that is written is not reported failed when this cannot be noted yet
            if report is not None:
                self._outcomes.end(job, report, "failed" if report.status == "failed" else "done")

    def _check(self, job: JobRow) -> None:
        if self._stopping.is_set() or self._store.job_cancelled(job.job_id):
            raise _Interrupted

    def _failed(self, job: JobRow, error: FumikuraError, tries: int) -> None:
        if isinstance(error, NotFound) and (moved := self._moved(job)):
            self._later.append((0.0, tries, moved))
        elif error.transient and tries < len(self._retry_waits_s):
            self._later.append((time.monotonic() + self._retry_waits_s[tries], tries + 1, job))
            with suppress(StoreError, NotFound):  # only shown; `_do` finds out when the job went with its notebook
                self._store.update_job(job.job_id, step="wait")
        else:
            self._outcomes.end(job, AddReport(job.name, "failed", error=Notice(error.ja, error.en)), "failed")

    def _moved(self, job: JobRow) -> JobRow | None:
        """Return the job as it stands now when its notebook was renamed meanwhile."""
        with suppress(NotFound, StoreError):
            now = self._store.job(job.job_id)
            return now if now.notebook != job.notebook else None
        return None

    def _end_embedding(self, job: JobRow, reason: Notice | None) -> None:
        if reason:
            self._outcomes.end(job, AddReport(job.name, "failed", error=reason), "failed")
        else:
            self._outcomes.end(job, AddReport(job.name, "updated"), "done")

    def _add(self, job: JobRow) -> AddReport:
        def progress(step: str, done: int, total: int) -> None:
            self._check(job)
            self._store.update_job(job.job_id, step=step, done_count=done, total_count=total)

        file = self._store.job_file(job.job_id)
        report = self._library.add_bytes(job.notebook, file, progress, create=False)
        if report.chunk_count:
            self._embedding.later(job.notebook)
        if report.source_id and file.origin.startswith(NOTE_ORIGIN):
            self._tie_note(job, file.origin.removeprefix(NOTE_ORIGIN), report.source_id)
        return report

    def _tie_note(self, job: JobRow, note_id: str, source_id: str) -> None:
        try:
            self._store.set_note_source(job.notebook, note_id, source_id)
        except NotFound:
            logger.info("job %d: the note was deleted after it was made a source", job.job_id)

    def _embed(self, job: JobRow) -> None:
        self._store.update_job(job.job_id, step="embed")
        self._embedding.under(job)

    def _reindex(self, job: JobRow) -> AddReport:
        def progress(step: str, done: int, total: int) -> None:
            self._check(job)
            self._store.update_job(job.job_id, step=step, done_count=done, total_count=total)
            safely(partial(self._purge, self._undo_s))  # this may take hours

        failed = [report for report in self._library.reindex(progress) if report.status == "failed"]
        self._embedding.forget_failures()
        return failed[0] if failed else AddReport(job.name, "updated")
