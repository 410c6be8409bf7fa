"""The one thread that does the jobs, and what the server may ask it."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from fumikura.errors import FumikuraError, NotFound, StoreError
from fumikura.jobs.embedding import FIRST_WAIT_S, UNFORESEEN, Embedding
from fumikura.library import Library
from fumikura.records import AddReport, Notice
from fumikura.store import JobRow, JobState

logger = logging.getLogger(__name__)

NOTE_ORIGIN = "note:"  # begins the origin of a source that was a note; the note's id follows
UNDO_S = 20.0  # a source removed on the page can be brought back for so long
KEEP_DONE_S = 86_400.0
SLICE_S = 2.0  # of embedding; then removed sources are looked after, also when nobody calls
REST_S = 1.0
LOOK_S = 0.05  # whoever waits for a job looks this often
RETRY_WAITS_S = (2.0, 10.0, 30.0)
REPORTS_KEPT = 10_000
CANCELLED = Notice("取り消しました。", "Cancelled")
SERVER_ENDS = Notice("サーバーが止まるので、次の起動で続けます。", "The server ends: this goes on at its next start")


class _Interrupted(Exception):  # noqa: N818 - no error: the person cancelled, or the worker stops
    """Ends a job between two of its steps."""


class Worker:
    """Does the store's jobs one after the other. `wake` it after adding one; any thread may ask it."""

    def __init__(
        self,
        library: Library,
        *,
        undo_s: float = UNDO_S,
        retry_waits_s: Sequence[float] = RETRY_WAITS_S,
        first_wait_s: float = FIRST_WAIT_S,
    ) -> None:
        self._library = library
        self._store = library.store
        self._undo_s = undo_s
        self._retry_waits_s = retry_waits_s
        self._embedding = Embedding(library, self._end_embedding, first_wait_s)
        self._reports: dict[int, AddReport] = {}
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._working = False
        self._later: list[tuple[float, int, JobRow]] = []  # (when, tries so far, job)

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
        """Wait until these jobs are over and their texts embedded (or cannot be); return what became of each."""
        for job in jobs:
            while not (self._is_over(job) or self._stopping.wait(LOOK_S)):
                pass
        for notebook in {job.notebook for job in jobs}:
            while not (self._is_settled(notebook) or self._stopping.wait(LOOK_S)):
                pass
        return [self._reports.get(job.job_id) or _without_report(self._state(job)) for job in jobs]

    def _is_over(self, job: JobRow) -> bool:
        return self._state(job).state not in ("queued", "running")

    def _state(self, job: JobRow) -> JobRow:
        try:
            return self._store.job(job.job_id)
        except NotFound:
            return replace(job, state="cancelled")

    def _is_settled(self, notebook: str) -> bool:
        return self.failure_of(notebook) is not None or not self.is_embedding(notebook)

    # From here on: the worker's own thread.

    def _run(self) -> None:
        self._safely(self._begin)
        while not self._stopping.is_set():
            if not self._safely(self._step):
                self._woken.wait(REST_S)
        self._safely(self._purge_all)

    def _safely(self, work: Callable[[], bool]) -> bool:
        """Return what `work` returns; False when the store fails, so that it is tried again after a rest."""
        try:
            return work()
        except StoreError as error:
            logger.warning("the worker rests: %s", error.en)
            return False

    def _begin(self) -> bool:
        self._store.requeue_unfinished_jobs()
        self._store.forget_done_jobs(KEEP_DONE_S)
        for notebook in self._store.notebooks():
            if any(source.status == "keyword_ready" for source in self._store.sources(notebook)):
                self._embedding.later(notebook)
        return self._purge_all()

    def _purge_all(self) -> bool:
        return self._purge(0.0)

    def _purge(self, older_than_s: float) -> bool:
        purged = self._store.purge_hidden(older_than_s)
        for notebook in {notebook for notebook, _ in purged}:
            for notice in self._library.refresh(notebook):
                logger.warning("%s", notice.en)
        return bool(purged)

    def _step(self) -> bool:
        """Do one job, or embed for a while; False when there is nothing to do."""
        self._woken.clear()  # before looking, so that no call is missed
        self._purge(self._undo_s)
        job, tries = self._due_again() or (self._store.claim_job(), 0)
        if job is not None:
            self._working = True
            self._do(job, tries)
            self._working = False
            return True
        end = time.monotonic() + SLICE_S
        return self._embedding.go_on(lambda: not self._woken.is_set() and time.monotonic() < end)

    def _due_again(self) -> tuple[JobRow, int] | None:
        due = next((entry for entry in self._later if entry[0] <= time.monotonic()), None)
        if due is None:
            return None
        self._later.remove(due)
        return due[2], due[1]

    def _do(self, job: JobRow, tries: int) -> None:
        try:
            self._check(job)
            {"add": self._add, "embed": self._embed, "reindex": self._reindex}[job.kind](job)
        except _Interrupted:
            if not self._stopping.is_set():
                self._end(job, AddReport(job.name, "failed", error=CANCELLED), "cancelled")
        except FumikuraError as error:
            self._failed(job, error, tries)
        except Exception as error:
            logger.error("job %d failed with %s", job.job_id, type(error).__name__)  # its message may quote a source
            self._end(job, AddReport(job.name, "failed", error=UNFORESEEN), "failed")

    def _check(self, job: JobRow) -> None:
        if self._stopping.is_set() or self._store.job_cancelled(job.job_id):
            raise _Interrupted

    def _failed(self, job: JobRow, error: FumikuraError, tries: int) -> None:
        if error.transient and tries < len(self._retry_waits_s):
            self._later.append((time.monotonic() + self._retry_waits_s[tries], tries + 1, job))
            self._store.update_job(job.job_id, step="wait")
        else:
            self._end(job, AddReport(job.name, "failed", error=Notice(error.ja, error.en)), "failed")

    def _end(self, job: JobRow, report: AddReport, state: JobState) -> None:
        error = report.error if state == "failed" else None
        # The report first: whoever sees that the job is over finds it.
        self._keep(job, report)
        try:
            self._store.update_job(job.job_id, state=state, error=error, source_id=report.source_id or None)
        except NotFound:
            logger.info("job %d went with its notebook", job.job_id)

    def _keep(self, job: JobRow, report: AddReport) -> None:
        self._reports[job.job_id] = report
        if len(self._reports) > REPORTS_KEPT:
            del self._reports[next(iter(self._reports))]

    def _end_embedding(self, job: JobRow, reason: Notice | None) -> None:
        if reason:
            self._end(job, AddReport(job.name, "failed", error=reason), "failed")
        else:
            self._end(job, AddReport(job.name, "updated"), "done")

    def _add(self, job: JobRow) -> None:
        def stage(step: str) -> None:
            self._check(job)
            self._store.update_job(job.job_id, step=step)

        file = self._store.job_file(job.job_id)
        report = self._library.add_bytes(job.notebook, file, stage)
        if report.chunk_count:
            self._embedding.later(job.notebook)
        if report.source_id and file.origin.startswith(NOTE_ORIGIN):
            self._tie_note(job, file.origin.removeprefix(NOTE_ORIGIN), report.source_id)
        self._end(job, report, "failed" if report.status == "failed" else "done")

    def _tie_note(self, job: JobRow, note_id: str, source_id: str) -> None:
        try:
            self._store.update_note(job.notebook, note_id, source_id=source_id)
        except NotFound:
            logger.info("job %d: the note was deleted after it was made a source", job.job_id)

    def _embed(self, job: JobRow) -> None:
        self._store.update_job(job.job_id, step="embed")
        self._embedding.under(job)

    def _reindex(self, job: JobRow) -> None:
        def progress(step: str, done: int, total: int) -> None:
            self._check(job)
            self._store.update_job(job.job_id, step=step, done_count=done, total_count=total)

        failed = [report for report in self._library.reindex(progress) if report.status == "failed"]
        self._embedding.forget_failures()
        report = failed[0] if failed else AddReport(job.name, "updated")
        self._end(job, report, "failed" if failed else "done")


def _without_report(job: JobRow) -> AddReport:
    """Return the report of a job that this worker did not do: refused at once, cancelled before, or left over."""
    reason = CANCELLED if job.state == "cancelled" else SERVER_ENDS
    return AddReport(job.name, "failed", error=job.error or reason)
