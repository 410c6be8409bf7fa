import threading

import pytest

from fumikura.errors import NotFound

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
