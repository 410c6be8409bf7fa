import sqlite3
import stat

import pytest

from fumikura.errors import StoreError
from fumikura.records import Notice
from fumikura.store import Store
from fumikura.store.connection import Database
from fumikura.store.keyword import KeywordIndex
from fumikura.store.migrations import migrate, shipped_migrations

FIRST = (1, "-- a comment; with a semicolon\nCREATE TABLE one (text TEXT);\nINSERT INTO one VALUES ('a;\n--b');\n")
SECOND = (2, "ALTER TABLE one ADD COLUMN number INTEGER;\nUPDATE one SET number = 7;\n")
BROKEN = (2, "UPDATE one SET text = 'lost';\nALTER TABLE nowhere ADD COLUMN x;\n")

# A notebook as the first version wrote it: one source with a vector of the present recipe, one without text.
FIRST_VERSION = """
INSERT INTO notebooks VALUES (3, '仕事', 5, 1);
INSERT INTO sources VALUES (7, 'abc', 3, 'a.md', 'a.md', 'md', '', NULL, 20, '00', 'cp932', 0,
  '["推定 / a guess"]', '{"k": "v"}', 'c', 1, 1, 0, '2026-01-01', '2026-01-02');
INSERT INTO sources VALUES (8, 'def', 3, 'b.md', 'b.md', 'md', '', NULL, 0, '00', NULL, 1,
  '[]', '{}', 'c', 0, 0, 1, '2026-01-01', '2026-01-02');
INSERT INTO sections VALUES (9, 3, 7, 0, '["会議"]', NULL, 0, 6, '会議は木曜。');
INSERT INTO chunks VALUES (11, 3, 7, 9, 0, 0, 6, NULL, '', 'content');
INSERT INTO recipes VALUES (1, 'older', 3, 0), (2, 'present', 3, 1);
INSERT INTO vectors VALUES (1, 3, 7, 11, 1, 'content', zeroblob(12)), (2, 3, 7, 11, 2, 'content', zeroblob(12));
INSERT INTO jobs (notebook, kind, state, created_at, updated_at) VALUES ('仕事', 'ingest', 'done', '', '');
"""


@pytest.fixture
def first_version(path, analyzer):
    """A database as the first version left it."""
    database = Database(path, "auto", "normal", 5.0)
    migrate(database, shipped_migrations()[:1])
    keywords = KeywordIndex(analyzer)
    with database.write() as connection:
        for statement in FIRST_VERSION.split(";\n")[:-1]:
            connection.execute(statement)
        keywords.add(connection, [11], keywords.tokenize(3, ["会議\n会議は木曜。"]))
        keywords.stamp(connection)
    database.close()


@pytest.fixture
def database(path):
    opened = Database(path, "auto", "normal", 5.0)
    yield opened
    opened.close()


def rows(path):
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT * FROM one").fetchall()
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.close()
    return found, version


def test_an_old_database_is_copied_and_brought_to_the_newest_schema(database, path):
    assert migrate(database, [FIRST]) is None
    assert migrate(database, [FIRST]) is None
    copy = migrate(database, [FIRST, SECOND])
    assert rows(path) == ([("a;\n--b", 7)], 2)
    assert rows(copy) == ([("a;\n--b",)], 1) and stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_a_failed_migration_changes_nothing(database, path):
    migrate(database, [FIRST])
    for _ in range(2):
        with pytest.raises(StoreError):
            migrate(database, [FIRST, BROKEN])
    assert rows(path) == ([("a;\n--b",)], 1)


def test_a_database_of_a_newer_version_is_left_alone(store, path, analyzer):
    store.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="format 99"):
        Store(path, analyzer)
    assert path.read_bytes() == before


def test_the_shipped_migrations_are_numbered_without_gaps():
    assert [number for number, _ in shipped_migrations()] == list(range(1, len(shipped_migrations()) + 1))


def test_a_notebook_of_the_first_version_is_all_there(first_version, path, analyzer):
    store = Store(path, analyzer)
    ready, empty = store.sources("仕事")
    assert (ready.name, ready.file_name, ready.renamed, ready.status) == ("a.md", "a.md", False, "ready")
    assert ready.notices == (Notice("推定 / a guess", "推定 / a guess"),) and empty.notices == ()
    assert (ready.pinned, ready.included, empty.status) == (True, False, "no_text")
    assert store.usable_source_ids("仕事") == ["def"] and store.embedding("仕事") == []
    (hit,) = store.lexical_search("仕事", "会議", 5)
    assert store.read_chunks("仕事", [hit.chunk_id])[0].text == "会議は木曜。"
    assert store.vector_ids("仕事").tolist() == [11] and store.chunk_count("仕事") == 1
    assert store.original("仕事", "a.md") is None and store.jobs("仕事") == []
    assert {problem.code for problem in store.check()} == {"other_recipes"}
    assert store.add_note("仕事", "題", "本文").title == "題" and store.listing("仕事") == 0
    store.close()
    assert store.migrated_from is not None
    old = sqlite3.connect(store.migrated_from)
    assert old.execute("SELECT count(*) FROM jobs").fetchone() == (1,)
    old.close()
