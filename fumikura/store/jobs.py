"""The queue of long jobs: rows that survive a crash, with the bytes they work on. Nothing is run here."""

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from fumikura.errors import Conflict, NotFound
from fumikura.records import Notice, SourceFile
from fumikura.store.notebooks import Tables, ensure_notebook, find_notebook
from fumikura.store.texts import clean, nfc, notice_json, now, stored_notice

JobState = Literal["queued", "running", "done", "failed", "cancelled"]

JOBS = """
SELECT jobs.id AS job_id, notebooks.name AS notebook, jobs.kind, jobs.name, state, step, done_count, total_count,
  error, source_id, created_at, updated_at
FROM jobs JOIN notebooks ON notebooks.id = jobs.notebook_id
"""


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as it stands. `step` names what it is doing, the counts how far that step is."""

    job_id: int
    notebook: str
    kind: str
    name: str
    state: JobState
    step: str
    done_count: int
    total_count: int
    error: Notice | None
    source_id: str | None
    created_at: str
    updated_at: str


MOST_DEATHS = 2
KILLED = Notice(
    "処理している間に何度もプログラムが止まったので、やめました。ファイルを小さく分けて加えてください。",
    "The program died several times while this was done, so it was given up: add the file in smaller parts",
)


class Jobs(Tables):
    """The tables `jobs` and `job_files`."""

    def add_job(
        self, notebook: str, kind: str, name: str = "", file: SourceFile | None = None, error: Notice | None = None
    ) -> JobRow:
        """Add a queued job and keep its file's bytes until it is done; with `error` it has failed already."""
        time = now()
        with self._database.write() as connection:
            job_id = connection.execute(
                "INSERT INTO jobs (notebook_id, kind, name, state, step, error, created_at, updated_at)"
                " VALUES (?, ?, ?, ?, 'wait', ?, ?, ?)",
                (
                    ensure_notebook(connection, notebook),
                    kind,
                    nfc(name),
                    "failed" if error else "queued",
                    notice_json(error),
                    time,
                    time,
                ),
            ).lastrowid
            assert job_id is not None
            if file is not None:
                connection.execute(
                    "INSERT INTO job_files VALUES (?, ?, ?, ?, ?)",
                    (job_id, nfc(file.origin), clean(file.name), file.modified, file.content),
                )
            return _job(connection, job_id)

    def queued_job(self, kind: str) -> JobRow | None:
        """Return the oldest job of this kind that has not begun, in any notebook."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT id FROM jobs WHERE kind = ? AND state = 'queued' ORDER BY id LIMIT 1", (kind,)
            ).fetchone()
            return _job(connection, row["id"]) if row else None

    def claim_job(self) -> JobRow | None:
        """Make the oldest queued job a running one: "add" before all others; None when none waits."""
        with self._database.read() as connection:  # asked every second: an idle server must hold up no writer
            if connection.execute("SELECT 1 FROM jobs WHERE state = 'queued' LIMIT 1").fetchone() is None:
                return None
        with self._database.write() as connection:
            row = connection.execute(
                "UPDATE jobs SET state = 'running', updated_at = ? WHERE id ="
                " (SELECT id FROM jobs WHERE state = 'queued' ORDER BY kind <> 'add', id LIMIT 1) RETURNING id",
                (now(),),
            ).fetchone()
            return _job(connection, row["id"]) if row else None

    def update_job(
        self,
        job_id: int,
        *,
        state: JobState | None = None,
        step: str | None = None,
        done_count: int | None = None,
        total_count: int | None = None,
        error: Notice | None = None,
        source_id: str | None = None,
    ) -> JobRow:
        """Change what is given and leave the rest; a job that is done drops its bytes. Raises NotFound."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE jobs SET state = coalesce(?, state), step = coalesce(?, step),"
                " done_count = coalesce(?, done_count), total_count = coalesce(?, total_count),"
                " error = coalesce(?, error), source_id = coalesce(?, source_id), updated_at = ? WHERE id = ?",
                (state, step, done_count, total_count, notice_json(error), source_id, now(), job_id),
            )
            if state == "done":
                connection.execute("DELETE FROM job_files WHERE job_id = ?", (job_id,))
            return _job(connection, job_id)

    def job(self, job_id: int) -> JobRow:
        """Return one job. Raises NotFound."""
        with self._database.read() as connection:
            return _job(connection, job_id)

    def job_file(self, job_id: int) -> SourceFile:
        """Return the file that the job works on. Raises NotFound when it came with none, or is done."""
        with self._database.read() as connection:
            row = connection.execute("SELECT * FROM job_files WHERE job_id = ?", (job_id,)).fetchone()
        if row is None:
            raise NotFound(
                ja=f"処理 {job_id} のファイルは残っていません。もう一度追加してください。",
                en=f"The file of job {job_id} is not kept: add it again",
            )
        return SourceFile(row["origin"], row["name"], row["content"], row["modified"])

    def jobs(self, notebook: str, limit: int = 500, *, done_within_s: float | None = None) -> list[JobRow]:
        """Return the notebook's jobs, newest first; of those done only the ones ended in the last `done_within_s`."""
        since = "" if done_within_s is None else _ago(done_within_s)
        with self._database.read() as connection:
            rows = connection.execute(
                f"{JOBS} WHERE notebook_id = ? AND (state <> 'done' OR updated_at >= ?) ORDER BY jobs.id DESC LIMIT ?",
                (find_notebook(connection, notebook), since, limit),
            )
            return [_job_row(row) for row in rows]

    def job_cancelled(self, job_id: int) -> bool:
        """Whether whoever runs the job should stop: cancelling was asked for, or it went with its notebook."""
        with self._database.read() as connection:
            row = connection.execute("SELECT cancelled FROM jobs WHERE id = ?", (job_id,)).fetchone()
            return row is None or bool(row["cancelled"])

    def cancel_job(self, job_id: int) -> JobRow:
        """Cancel a queued job; ask a running one to stop (`job_cancelled`). Raises NotFound, Conflict once it ended."""
        with self._database.write() as connection:
            job = _job(connection, job_id)
            if job.state in ("done", "failed"):
                raise Conflict(
                    ja=f"処理 {job_id}（{job.name}）はもう終わっているので、取り消せません。",
                    en=f"Job {job_id} ({job.name}) has ended already: there is nothing to cancel",
                )
            connection.execute(
                "UPDATE jobs SET cancelled = 1, state = iif(state = 'queued', 'cancelled', state), updated_at = ?"
                " WHERE id = ?",
                (now(), job_id),
            )
            return _job(connection, job_id)

    def retry_job(self, job_id: int) -> JobRow:
        """Queue a failed or cancelled job again, as if it were new. Raises NotFound, Conflict for any other."""
        with self._database.write() as connection:
            job = _job(connection, job_id)
            if job.state not in ("failed", "cancelled"):
                raise Conflict(
                    ja=f"処理 {job_id}（{job.name}）は失敗も取り消しもされていないので、やり直せません。",
                    en=f"Job {job_id} ({job.name}) neither failed nor was cancelled: there is nothing to retry",
                )
            connection.execute(f"{QUEUE_AGAIN} WHERE id = ?", (now(), job_id))
            return _job(connection, job_id)

    def remove_job(self, job_id: int) -> None:
        """Delete a job and its bytes, from the file and its log as well. Raises NotFound, Conflict while it runs."""
        with self._database.write() as connection:
            job = _job(connection, job_id)
            if job.state == "running":
                raise Conflict(
                    ja=f"処理 {job_id}（{job.name}）は動いています。先に取り消してください。",
                    en=f"Job {job_id} ({job.name}) is running: cancel it first",
                )
            connection.execute("DELETE FROM jobs WHERE id = ?", (job_id,))
        self._database.checkpoint()

    def requeue_unfinished_jobs(self) -> int:
        """Queue again what ran when the last process ended, and return the number; for the one worker, at its start.

        Those that were asked to stop become cancelled instead, and one that ran whenever the process died fails: it
        may be what kills it.
        """
        with self._database.write() as connection:
            connection.execute("UPDATE jobs SET deaths = deaths + 1 WHERE state = 'running'")
            connection.execute(
                "UPDATE jobs SET state = 'failed', error = ?, updated_at = ? WHERE state = 'running' AND deaths > ?",
                (notice_json(KILLED), now(), MOST_DEATHS),
            )
            connection.execute(
                "UPDATE jobs SET state = 'cancelled', updated_at = ? WHERE state = 'running' AND cancelled", (now(),)
            )
            return connection.execute(f"{QUEUE_AGAIN} WHERE state = 'running'", (now(),)).rowcount

    def forget_done_jobs(self, older_than_s: float) -> int:
        """Delete the jobs that were done `older_than_s` ago or earlier, and return their number."""
        with self._database.write() as connection:
            return connection.execute(
                "DELETE FROM jobs WHERE state = 'done' AND updated_at <= ?", (_ago(older_than_s),)
            ).rowcount


QUEUE_AGAIN = (
    "UPDATE jobs SET state = 'queued', step = 'wait', done_count = 0, total_count = 0, cancelled = 0, error = NULL,"
    " updated_at = ?"
)


def drop_files_of_ended_jobs(connection: sqlite3.Connection, source_row: int) -> None:
    """Drop the bytes that failed and cancelled jobs keep of a source which is written or deleted now."""
    connection.execute(
        "DELETE FROM job_files WHERE (job_id, origin) IN (SELECT jobs.id, sources.origin FROM sources"
        " JOIN jobs ON jobs.notebook_id = sources.notebook_id WHERE sources.id = ?"
        " AND state IN ('failed', 'cancelled'))",
        (source_row,),
    )


def _ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(timespec="seconds")


def _job(connection: sqlite3.Connection, job_id: int) -> JobRow:
    row = connection.execute(f"{JOBS} WHERE jobs.id = ?", (job_id,)).fetchone()
    if row is None:
        raise NotFound(ja=f"処理 {job_id} はありません。", en=f"There is no job {job_id}")
    return _job_row(row)


def _job_row(row: sqlite3.Row) -> JobRow:
    values = dict(row)
    return JobRow(error=stored_notice(values.pop("error")), **values)
