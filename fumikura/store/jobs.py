"""Rows of long jobs: written by whoever runs them, read by whoever shows them. Nothing is run here."""

import sqlite3
from dataclasses import dataclass
from typing import Literal

from fumikura.errors import NotFound
from fumikura.store.notebooks import Tables
from fumikura.store.texts import clean, nfc, now

JobState = Literal["queued", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as it stands. `step` names what it is doing, the counts how far that step is."""

    job_id: int
    notebook: str
    kind: str
    state: JobState
    step: str
    done_count: int
    total_count: int
    error: str
    created_at: str
    updated_at: str


class Jobs(Tables):
    """The table `jobs`."""

    def add_job(self, notebook: str, kind: str, total_count: int = 0) -> JobRow:
        """Add a queued job."""
        time = now()
        with self._database.write() as connection:
            job_id = connection.execute(
                "INSERT INTO jobs (notebook, kind, state, total_count, created_at, updated_at)"
                " VALUES (?, ?, 'queued', ?, ?, ?)",
                (nfc(notebook), kind, total_count, time, time),
            ).lastrowid
            assert job_id is not None
            return _job(connection, job_id)

    def update_job(
        self,
        job_id: int,
        *,
        state: JobState | None = None,
        step: str | None = None,
        done_count: int | None = None,
        total_count: int | None = None,
        error: str | None = None,
    ) -> JobRow:
        """Change what is given and leave the rest. Raises NotFound."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE jobs SET state = coalesce(?, state), step = coalesce(?, step),"
                " done_count = coalesce(?, done_count), total_count = coalesce(?, total_count),"
                " error = coalesce(?, error), updated_at = ? WHERE id = ?",
                (state, step, done_count, total_count, None if error is None else clean(error), now(), job_id),
            )
            return _job(connection, job_id)

    def job(self, job_id: int) -> JobRow:
        """Return one job. Raises NotFound."""
        with self._database.read() as connection:
            return _job(connection, job_id)

    def jobs(self, notebook: str, limit: int = 50) -> list[JobRow]:
        """Return the notebook's jobs, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT * FROM jobs WHERE notebook = ? ORDER BY id DESC LIMIT ?", (nfc(notebook), limit)
            )
            return [_job_row(row) for row in rows]

    def fail_unfinished_jobs(self, error: str) -> int:
        """Mark queued and running jobs as failed, as after a crash; return their number."""
        with self._database.write() as connection:
            return connection.execute(
                "UPDATE jobs SET state = 'failed', error = ?, updated_at = ? WHERE state IN ('queued', 'running')",
                (clean(error), now()),
            ).rowcount


def _job(connection: sqlite3.Connection, job_id: int) -> JobRow:
    row = connection.execute("SELECT * FROM jobs WHERE id = ?", (job_id,)).fetchone()
    if row is None:
        raise NotFound(ja=f"処理 {job_id} はありません。", en=f"There is no job {job_id}")
    return _job_row(row)


def _job_row(row: sqlite3.Row) -> JobRow:
    values = dict(row)
    return JobRow(job_id=values.pop("id"), **values)
