import threading

import pytest

from fumikura.errors import NotFound
from fumikura.records import SourceFile

# A word that no other text holds, as one katakana word and in a heading, a lead-free body and a name.
SECRET = "ゼンマイハグルマ"


def remains(path, word):
    return [file.name for file in path.parent.iterdir() if word.encode() in file.read_bytes()]


@pytest.fixture
def filled(store, make_source, vectors_of):
    for number in range(30):
        store.put_source("n", *make_source(f"{number}.md", f"# 記録{number}\n会議の記録、第{number}号。\n"), "c")
    secret, chunks = make_source("secret.md", f"# {SECRET}\n{SECRET}の設計図は金庫にあります。\n", title=SECRET)
    store.put_source("n", secret, chunks, "c", vectors_of(chunks))
    return store


def test_a_deleted_source_is_gone_from_every_file(filled, path):
    assert remains(path, SECRET)
    assert filled.remove_source("n", "secret.md") is True
    assert remains(path, SECRET) == []
    assert filled.lexical_search("n", SECRET, 5) == [] and not len(filled.vector_ids("n"))
    assert len(filled.lexical_search("n", "会議", 100)) == 30
    assert {finding.code for finding in filled.check()} == {"pending_vectors"}


def test_an_open_reader_delays_the_log_and_the_store_says_so(filled, path):
    filled._database._busy_timeout_s = 0.05
    entered, leave = threading.Event(), threading.Event()

    def read():
        with filled._database.read() as connection:
            connection.execute("SELECT count(*) FROM sources").fetchone()
            entered.set()
            leave.wait(10)

    reader = threading.Thread(target=read)
    reader.start()
    entered.wait(10)
    with filled._database.alone() as connection:
        connection.execute("PRAGMA busy_timeout = 50")
    assert filled.remove_source("n", "secret.md") is False
    leave.set()
    reader.join()
    assert filled.checkpoint() is True
    assert remains(path, SECRET) == []


def test_several_sources_go_together_or_not_at_all(filled):
    with pytest.raises(NotFound, match="nowhere"):
        filled.remove_sources("n", ["0.md", "nowhere"])
    assert len(filled.sources("n")) == 31
    filled.remove_sources("n", [f"{number}.md" for number in range(30)])
    assert [source.name for source in filled.sources("n")] == ["secret.md"]


def test_the_bytes_and_the_job_of_a_deleted_source_are_gone_too(store, path, make_source):
    content = f"\ufeff{SECRET}".encode() * 5000
    job = store.add_job("n", "add", f"{SECRET}.md", SourceFile(f"upload:{SECRET}.md", f"{SECRET}.md", content))
    store.claim_job()
    source = store.put_source("n", *make_source(f"upload:{SECRET}.md", "会議は木曜。"), "c", original=content)
    store.update_job(job.job_id, state="done", source_id=source.source_id)
    failed = store.add_job("n", "add", "other.md")
    assert remains(path, SECRET)
    store.remove_source("n", source.source_id)
    assert remains(path, SECRET) == [] and store.jobs("n") == [failed]


@pytest.mark.parametrize("state", ["failed", "cancelled"])
@pytest.mark.parametrize("how", ["removed", "purged", "written"])
def test_the_bytes_of_its_ended_jobs_go_when_a_source_is_deleted_or_written(store, path, make_source, state, how):
    def ended(notebook, origin, content):
        job = store.add_job(notebook, "add", "a.md", SourceFile(origin, "a.md", content.encode() * 50_000))
        return store.update_job(job.job_id, state=state).job_id

    source, chunks = make_source("upload:が/a.md", "会議は木曜。")
    if how != "written":
        store.put_source("n", source, chunks, "c")
    job = ended("n", "upload:か\u3099/a.md", SECRET)  # as macOS writes it
    others = [ended("n", "upload:b.md", "会議"), ended("m", "upload:が/a.md", "会議")]
    waiting = store.add_job("n", "add", "a.md", SourceFile("upload:が/a.md", "a.md", b"new")).job_id
    assert remains(path, SECRET)
    if how == "removed":
        store.remove_source("n", "a.md")
    elif how == "purged":
        store.hide_source("n", "a.md")
        store.purge_hidden(0)
    else:
        store.put_source("n", source, chunks, "c")
        store.checkpoint()
    assert remains(path, SECRET) == []
    with pytest.raises(NotFound, match="add it again"):
        store.job_file(job)
    assert [len(store.job_file(one).content) for one in (*others, waiting)] == [300_000, 300_000, 3]


def test_a_hidden_source_is_wholly_gone_once_its_time_is_over(filled, path):
    filled.hide_source("n", "secret.md")
    assert remains(path, SECRET)
    filled.purge_hidden(0)
    assert remains(path, SECRET) == []


def test_a_dismissed_job_leaves_nothing_of_its_file(store, path):
    file = SourceFile("upload:a.md", "a.md", SECRET.encode() * 50_000)
    kept, dismissed = (store.add_job("n", "add", "a.md", file if number else None) for number in range(2))
    store.update_job(dismissed.job_id, state="failed")
    assert remains(path, SECRET)
    store.remove_job(dismissed.job_id)
    assert remains(path, SECRET) == [] and store.jobs("n") == [kept]


@pytest.mark.parametrize("whole", [True, False], ids=["conversation", "turn"])
def test_a_deleted_turn_leaves_neither_question_nor_answer_nor_trace(store, path, whole):
    conversation = store.add_conversation("n").conversation_id
    store.add_turn("n", conversation, "会議はいつ？")
    turn = store.add_turn("n", conversation, SECRET).turn_id
    long = SECRET * 10_000
    store.update_turn(turn, state="complete", text=long, answer={"text": long}, trace={"prompt": long})
    assert remains(path, SECRET)
    if whole:
        store.remove_conversation("n", conversation)
    else:
        store.remove_turn("n", conversation, turn)
    assert remains(path, SECRET) == []


def test_a_deleted_note_leaves_nothing(store, path):
    note = store.add_note("n", SECRET, SECRET * 100_000, [{"quote": SECRET}], SECRET)
    store.update_note("n", note.note_id, title="会議")
    assert remains(path, SECRET)
    store.remove_note("n", note.note_id)
    assert remains(path, SECRET) == []


def test_a_deleted_notebook_takes_everything_along(filled, path):
    conversation = filled.add_conversation("n", SECRET).conversation_id
    filled.add_turn("n", conversation, SECRET)
    filled.add_note("n", SECRET, SECRET)
    filled.add_job("n", "add", SECRET, SourceFile(SECRET, SECRET, SECRET.encode()))
    assert filled.remove_notebook("n") is True
    assert remains(path, SECRET) == [] and filled.check() == []
