import sqlite3
import stat

import pytest

from fumikura.errors import StoreError
from fumikura.store import Store
from fumikura.store.connection import Database
from fumikura.store.migrations import migrate, shipped_migrations

FIRST = (1, "-- a comment; with a semicolon\nCREATE TABLE one (text TEXT);\nINSERT INTO one VALUES ('a;\n--b');\n")
SECOND = (2, "ALTER TABLE one ADD COLUMN number INTEGER;\nUPDATE one SET number = 7;\n")
BROKEN = (2, "UPDATE one SET text = 'lost';\nALTER TABLE nowhere ADD COLUMN x;\n")


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
