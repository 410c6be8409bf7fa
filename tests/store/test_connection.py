import os
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fumikura.errors import StoreDamaged, StoreError, StoreLocked
from fumikura.store import Store

WRITER = """
import sys
from pathlib import Path
from fumikura.japanese import Analyzer
from fumikura.records import Chunk, Section, Source
from fumikura.store import Store
store = Store(Path(sys.argv[1]), Analyzer())
for number in range(int(sys.argv[3])):
    text = f"{sys.argv[2]}の資料{number}番。"
    origin = f"{sys.argv[2]}-{number}.md"
    source = Source(origin, origin, "md", text, (Section((), 0, len(text), text),), "", len(text))
    store.put_source("n", source, [Chunk(0, 0, len(text), text)], "c")
    print(origin, flush=True)
store.close()
"""


def test_a_new_file_is_for_its_owner_and_in_wal(store, path):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert store.journal_mode == "wal" and store.path == path and store.check() == []


def test_a_folder_where_wal_does_not_work_gets_a_truncated_journal(path, analyzer, make_source):
    # Network volumes refuse the shared memory file; a folder of its name refuses it as well.
    path.parent.mkdir()
    path.with_name(path.name + "-shm").mkdir()
    store = Store(path, analyzer)
    assert store.journal_mode == "truncate"
    assert [finding.code for finding in store.check()] == ["journal"]
    store.put_source("n", *make_source("a.md", "会議は木曜。"), "c")
    store.close()
    again = Store(path, analyzer)
    assert [source.name for source in again.sources("n")] == ["a.md"] and len(again.lexical_search("n", "会議", 5)) == 1
    assert again.remove_source("n", "a.md") is True
    again.close()
    with pytest.raises(StoreError, match="WAL|open"):
        Store(path, analyzer, journal="wal")


def test_a_wal_database_moved_to_such_a_folder_still_opens(store, path, analyzer, make_source):
    store.put_source("n", *make_source("a.md", "会議は木曜。"), "c")
    store.close()
    path.with_name(path.name + "-shm").mkdir()
    moved = Store(path, analyzer)
    assert moved.journal_mode == "truncate" and len(moved.sources("n")) == 1
    moved.close()


def test_the_journal_can_be_chosen(path, analyzer, make_source):
    chosen = Store(path, analyzer, journal="truncate", synchronous="normal")
    chosen.put_source("n", *make_source("a.md", "会議は木曜。"), "c")
    assert chosen.journal_mode == "truncate"
    chosen.close()
    wal = Store(path, analyzer, journal="wal")
    assert wal.journal_mode == "wal" and len(wal.sources("n")) == 1
    wal.close()


def test_a_file_that_is_no_database_is_named_as_damaged(path, analyzer):
    path.parent.mkdir()
    path.write_text("no database at all, but long enough to be read as one " * 40)
    with pytest.raises(StoreDamaged, match=str(path)) as caught:
        Store(path, analyzer)
    assert "壊れています" in caught.value.ja and isinstance(caught.value.__cause__, sqlite3.DatabaseError)


def test_a_place_that_cannot_be_written_is_named(tmp_path, analyzer):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StoreError, match="check the permissions"):
        Store(blocked / "fumikura.db", analyzer)
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(StoreError, match="folder.db"):
        Store(tmp_path / "folder.db", analyzer)


def test_a_writer_that_does_not_end_is_reported_as_a_lock(store, path, analyzer, make_source):
    other = Store(path, analyzer, busy_timeout_s=0.05)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreLocked, match="try again") as caught:
        other.put_source("n", *make_source("a.md", "会議"), "c")
    assert caught.value.transient and other.sources("n") == []
    connection.execute("ROLLBACK")
    connection.close()
    assert other.put_source("n", *make_source("a.md", "会議"), "c").chunk_count == 1
    other.close()


def test_a_full_disk_is_named(path, store, make_source):
    with store._database.alone() as connection:
        connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(StoreError, match="disk is full"):
        store.put_source("n", *make_source("a.md", "会議は木曜です。" * 20_000), "c")
    with store._database.alone() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    assert store.sources("n") == [] and store.check() == []


def test_other_failures_keep_their_cause(store):
    with pytest.raises(StoreError, match="doctor"), store._database.read() as connection:
        connection.execute("SELECT * FROM nowhere")


def test_a_closed_store_says_so(store):
    store.close()
    with pytest.raises(StoreError, match="already closed"):
        store.notebooks()


def test_closing_while_a_search_runs_lets_it_finish(store):
    with store._database.read() as connection:
        store.close()
        assert connection.execute("SELECT 1").fetchone()[0] == 1
    with pytest.raises(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")


def test_threads_write_and_search_at_once(store, make_source):
    def work(number):
        store.put_source("n", *make_source(f"{number}.md", f"会議の第{number}号。"), "c")
        return len(store.lexical_search("n", "会議", 100))

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(work, range(40)))
    assert len(store.sources("n")) == 40 and max(counts) == 40 and min(counts) >= 1
    assert [finding.code for finding in store.check()] == ["pending_vectors"]


def test_two_processes_write_to_one_file_and_lose_nothing(store, path, make_source):
    start = [sys.executable, "-c", WRITER, str(path)]
    others = [
        subprocess.Popen([*start, name, "15"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) for name in ("左", "右")
    ]
    for number in range(15):
        store.put_source("n", *make_source(f"own-{number}.md", "自分の資料。"), "c")
    results = [(other.communicate()[1], other.returncode) for other in others]
    assert results == [(b"", 0), (b"", 0)]
    assert len(store.sources("n")) == 45 and len(store.lexical_search("n", "資料", 100)) == 45


def test_an_acknowledged_source_survives_kill(path, analyzer):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), "左", "500"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    acknowledged = [process.stdout.readline().strip() for _ in range(10)]
    process.kill()
    acknowledged += process.stdout.read().split()
    process.wait()
    process.stdout.close()
    store = Store(path, analyzer)
    assert set(acknowledged) <= {source.origin for source in store.sources("n")}
    assert store.check() == []
    store.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_write_permission_is_named(tmp_path, analyzer):
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="permissions"):
        Store(tmp_path / "fumikura.db", analyzer)
    tmp_path.chmod(0o700)


def test_a_foreign_reader_does_not_hold_up_a_deletion_and_the_log_is_emptied_later(store, path, make_source):
    secret = "合言葉は山吹坂四七一一です。"
    store.put_source("n", *make_source("a.md", secret), "c")
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM sources").fetchone()
    begun = time.monotonic()
    assert store.remove_source("n", "a.md") is False
    assert time.monotonic() - begun < 5  # the busy timeout of the test's store is longer
    assert store.log_dirty
    reader.close()
    assert store.checkpoint() and not store.log_dirty
    assert all(secret.encode() not in file.read_bytes() for file in path.parent.iterdir())
