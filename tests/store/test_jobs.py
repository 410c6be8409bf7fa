import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fumikura.errors import Conflict, NotFound
from fumikura.records import Notice, SourceFile
from fumikura.store import Store

BROKEN = Notice("壊れています", "it is broken")
MEMO = SourceFile("upload:memo.md", "memo.md", "会議は木曜。".encode(), "2026-11-30")

# Adds two jobs, claims the first one, says so and waits to be killed.
WORKER = """
import sys
from pathlib import Path
from fumikura.japanese import Analyzer
from fumikura.records import SourceFile
from fumikura.store import Store
store = Store(Path(sys.argv[1]), Analyzer())
for number in range(2):
    content = bytes([number]) * 3_000_000
    print(store.add_job("n", "add", "a.bin", SourceFile(f"{number}.bin", "a.bin", content)).job_id, flush=True)
claimed = store.claim_job()
store.update_job(claimed.job_id, step="embed", done_count=7, total_count=9)
print("running", claimed.job_id, flush=True)
sys.stdin.read()
"""


def add(store, name="a.md", kind="add"):
    return store.add_job("n", kind, name).job_id


def test_a_job_tells_how_far_it_is(store):
    job = store.add_job("n", "add", "memo.md", MEMO)
    assert (job.notebook, job.kind, job.name, job.state, job.step) == ("n", "add", "memo.md", "queued", "wait")
    assert store.notebooks() == ["n"] and store.job_file(job.job_id) == MEMO
    running = store.update_job(job.job_id, state="running", step="embed", done_count=5, total_count=12)
    assert (running.state, running.step, running.done_count, running.total_count) == ("running", "embed", 5, 12)
    failed = store.update_job(job.job_id, state="failed", error=Notice("壊れた\ud83d", "broken"), source_id="abc")
    assert failed == store.job(job.job_id) and failed.step == "embed" and failed.source_id == "abc"
    assert failed.error == Notice("壊れた\ufffd", "broken")


def test_a_refused_file_is_a_failed_job_from_the_start(store):
    job = store.add_job("n", "add", "movie.mp4", error=BROKEN)
    assert (job.state, job.error) == ("failed", BROKEN)
    assert store.claim_job() is None
    with pytest.raises(NotFound, match="add it again"):
        store.job_file(job.job_id)


def test_files_come_before_everything_else_and_the_oldest_first(store):
    embed, reindex = add(store, kind="embed"), add(store, kind="reindex")
    first, second = add(store), add(store)
    claimed = [store.claim_job() for _ in range(4)]
    assert [job.job_id for job in claimed] == [first, second, embed, reindex]
    assert {job.state for job in claimed} == {"running"} and store.claim_job() is None


def test_an_idle_server_neither_waits_for_other_writers_nor_holds_them_up(store, path):
    done = add(store)
    store.update_job(done, state="done")
    writer = sqlite3.connect(path, timeout=0, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    begun = time.monotonic()
    assert store.claim_job() is None and store.purge_hidden(0) == []
    assert time.monotonic() - begun < 5  # the busy timeout of the store is longer
    writer.close()


def test_no_job_is_claimed_twice(store, path, analyzer):
    ids = [add(store) for _ in range(40)]
    other = Store(path, analyzer)
    with ThreadPoolExecutor(8) as pool:
        claimed = list(pool.map(lambda number: (store, other)[number % 2].claim_job(), range(50)))
    other.close()
    assert sorted(job.job_id for job in claimed if job) == ids and claimed.count(None) == 10


def test_a_done_job_drops_its_bytes_and_is_forgotten_later(store):
    job_id = store.add_job("n", "add", "memo.md", MEMO).job_id
    store.claim_job()
    store.update_job(job_id, state="done", source_id="abc")
    with pytest.raises(NotFound):
        store.job_file(job_id)
    assert store.forget_done_jobs(older_than_s=3600) == 0 and store.job(job_id).state == "done"
    failed = store.add_job("n", "add", "b.md", error=BROKEN)
    assert store.forget_done_jobs(older_than_s=0) == 1
    assert store.jobs("n") == [failed]


def test_jobs_are_listed_newest_first_within_their_notebook(store):
    ids = [add(store) for _ in range(3)]
    store.add_job("m", "add")
    assert [job.job_id for job in store.jobs("n")] == ids[::-1]
    assert [job.job_id for job in store.jobs("n", limit=2)] == ids[:0:-1]
    assert store.jobs("nowhere") == []


def test_jobs_done_long_ago_can_be_left_out_of_the_list(store):
    done, failed, cancelled, queued = (add(store) for _ in range(4))
    store.update_job(done, state="done")
    store.update_job(failed, state="failed", error=BROKEN)
    store.cancel_job(cancelled)
    assert [job.job_id for job in store.jobs("n", done_within_s=60)] == [queued, cancelled, failed, done]
    assert [job.job_id for job in store.jobs("n", done_within_s=-5)] == [queued, cancelled, failed]


def test_a_queued_job_is_cancelled_at_once_and_can_be_retried(store):
    job_id = store.add_job("n", "add", "memo.md", MEMO).job_id
    assert store.cancel_job(job_id).state == store.cancel_job(job_id).state == "cancelled"
    assert store.job_cancelled(job_id) and store.claim_job() is None
    again = store.retry_job(job_id)
    assert (again.state, again.step) == ("queued", "wait") and not store.job_cancelled(job_id)
    assert store.claim_job().job_id == job_id and store.job_file(job_id) == MEMO


def test_a_running_job_is_asked_to_stop(store):
    job_id = add(store)
    store.claim_job()
    assert not store.job_cancelled(job_id)
    assert store.cancel_job(job_id).state == "running" and store.job_cancelled(job_id)
    with pytest.raises(Conflict, match="cancel it first"):
        store.remove_job(job_id)
    store.update_job(job_id, state="cancelled")
    store.remove_job(job_id)
    assert store.jobs("n") == [] and store.job_cancelled(job_id)


def test_a_failed_job_starts_anew(store):
    job_id = add(store)
    store.update_job(job_id, state="failed", step="embed", done_count=3, total_count=5, error=BROKEN)
    again = store.retry_job(job_id)
    assert (again.state, again.step, again.done_count, again.total_count, again.error) == ("queued", "wait", 0, 0, None)


def test_what_does_not_fit_the_state_is_refused_by_name(store):
    job_id = add(store, "memo.md")
    with pytest.raises(Conflict, match="memo.md") as caught:
        store.retry_job(job_id)
    assert "memo.md" in caught.value.ja
    store.update_job(job_id, state="done")
    with pytest.raises(Conflict, match="memo.md.*ended already"):
        store.cancel_job(job_id)


def test_an_unknown_job_is_not_found(store):
    for call in (store.job, store.update_job, store.cancel_job, store.retry_job, store.remove_job, store.job_file):
        with pytest.raises(NotFound, match="77"):
            call(77)


def test_jobs_follow_their_notebook(store):
    job_id = add(store)
    store.rename_notebook("n", "仕事")
    assert store.job(job_id).notebook == "仕事" and len(store.jobs("仕事")) == 1
    store.remove_notebook("仕事")
    with pytest.raises(NotFound):
        store.job(job_id)
    assert store.job_cancelled(job_id)


def test_a_kill_loses_no_job_and_no_byte(path, analyzer):
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdin is not None
    first, second, running = (process.stdout.readline().strip() for _ in range(3))
    process.kill()
    process.communicate()
    assert running == f"running {first}"
    store = Store(path, analyzer)
    assert [job.state for job in store.jobs("n")] == ["queued", "running"]
    assert store.requeue_unfinished_jobs() == 1 and store.requeue_unfinished_jobs() == 0
    assert [(job.state, job.step, job.done_count) for job in store.jobs("n")] == [("queued", "wait", 0)] * 2
    for number, job_id in enumerate((int(first), int(second))):
        assert store.claim_job().job_id == job_id
        assert store.job_file(job_id).content == bytes([number]) * 3_000_000
    assert store.check() == []
    store.close()


def test_a_job_that_was_asked_to_stop_does_not_start_again_after_a_crash(store):
    stopped, running = add(store), add(store)
    store.claim_job(), store.claim_job()
    store.cancel_job(stopped)
    assert store.requeue_unfinished_jobs() == 1
    assert [store.job(job_id).state for job_id in (stopped, running)] == ["cancelled", "queued"]
