import pytest

from fumikura.errors import NotFound


def test_a_job_tells_how_far_it_is(store):
    job = store.add_job("n", "ingest", total_count=12)
    assert (job.state, job.step, job.done_count, job.total_count) == ("queued", "", 0, 12)
    running = store.update_job(job.job_id, state="running", step="embed", done_count=5)
    assert (running.state, running.step, running.done_count, running.total_count) == ("running", "embed", 5, 12)
    assert store.update_job(job.job_id, state="failed", error="壊れた\ud83d") == store.job(job.job_id)
    assert store.job(job.job_id).error == "壊れた\ufffd" and store.job(job.job_id).step == "embed"


def test_jobs_are_listed_newest_first_within_their_notebook(store):
    ids = [store.add_job("n", "ingest").job_id for _ in range(3)]
    store.add_job("m", "ingest")
    assert [job.job_id for job in store.jobs("n", limit=2)] == ids[:0:-1]


def test_jobs_that_a_crash_left_are_failed_with_a_reason(store):
    done, running = store.add_job("n", "ingest"), store.add_job("n", "ingest")
    store.update_job(done.job_id, state="done")
    store.update_job(running.job_id, state="running")
    assert store.fail_unfinished_jobs("中断されました") == 1
    assert [(job.state, job.error) for job in store.jobs("n")] == [("failed", "中断されました"), ("done", "")]


def test_an_unknown_job_is_not_found(store):
    for call in (store.job, store.update_job):
        with pytest.raises(NotFound, match="77"):
            call(77)
