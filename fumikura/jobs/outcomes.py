"""What became of the jobs: written to the store, again after it failed, and kept for whoever waits for them."""

import logging
from dataclasses import replace
from functools import partial

from fumikura.errors import NotFound
from fumikura.jobs.safely import safely
from fumikura.records import AddReport, Notice
from fumikura.store import JobRow, JobState, Store

logger = logging.getLogger(__name__)

REPORTS_KEPT = 10_000
CANCELLED = Notice("取り消しました。", "Cancelled")
SERVER_ENDS = Notice("サーバーが止まるので、次の起動で続けます。", "The server ends: this goes on at its next start")

_End = tuple[JobRow, AddReport, JobState]


class Outcomes:
    """How each job ended. Only the worker ends jobs; any thread may ask."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reports: dict[int, AddReport] = {}
        self._unwritten: list[_End] = []

    def end(self, job: JobRow, report: AddReport, state: JobState) -> None:
        """Note that the job is over; `write_again` notes it when the store fails now."""
        # The report first: whoever sees that the job is over finds it.
        self._reports[job.job_id] = report
        if len(self._reports) > REPORTS_KEPT:
            del self._reports[next(iter(self._reports))]
        self._unwritten.append((job, report, state))
        safely(partial(self._write, self._unwritten[-1]))

    def write_again(self) -> None:
        """Write what could not be written."""
        for end in tuple(self._unwritten):
            safely(partial(self._write, end))

    def state_of(self, job: JobRow) -> JobRow:
        """Return the job as it stands; one that went with its notebook is cancelled."""
        try:
            return self._store.job(job.job_id)
        except NotFound:
            return replace(job, state="cancelled")

    def report_of(self, job: JobRow) -> AddReport:
        """Return what became of a job, also of one not done here: refused at once, cancelled before, or left over."""
        reason = CANCELLED if job.state == "cancelled" else SERVER_ENDS
        return self._reports.get(job.job_id) or AddReport(job.name, "failed", error=job.error or reason)

    def _write(self, end: _End) -> bool:
        job, report, state = end
        error = report.error if state == "failed" else None
        try:
            self._store.update_job(job.job_id, state=state, error=error, source_id=report.source_id or None)
        except NotFound:
            logger.info("job %d went with its notebook", job.job_id)
        self._unwritten.remove(end)
        return True
