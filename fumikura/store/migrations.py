"""Brings a database to the newest schema: numbered .sql files, one transaction, a copy of the old state first."""

import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from fumikura.errors import StoreError
from fumikura.store.connection import Database

Migration = tuple[int, str]
"""Version and SQL text."""


def shipped_migrations() -> list[Migration]:
    """Return the migrations of this package, ascending by version."""
    folder = files("fumikura.store") / "migrations"
    named = [(entry.name, entry) for entry in folder.iterdir() if entry.name.endswith(".sql")]
    return [(int(name.split("_")[0]), entry.read_text(encoding="utf-8")) for name, entry in sorted(named)]


def migrate(database: Database, migrations: list[Migration]) -> Path | None:
    """Run what is missing; return the copy of the database made before (None: new or up to date).

    Raises StoreError for a database of a newer version.
    """
    newest = migrations[-1][0]
    with database.read() as connection:
        version = _version(connection)
    if version > newest:
        raise StoreError(
            ja=f"{database.path} は新しい版の Fumikura のものです（形式 {version}、対応 {newest}）。更新してください。",
            en=f"{database.path} belongs to a newer Fumikura (format {version}, known {newest}): update the program",
        )
    if version == newest:
        return None
    copy = _copy(database, version) if version else None
    with database.write() as connection:
        _run(connection, migrations)
    return copy


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _copy(database: Database, version: int) -> Path:
    copy = database.path.with_name(f"{database.path.name}.before-migration-{version}")
    copy.unlink(missing_ok=True)
    with database.alone() as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    copy.chmod(0o600)
    return copy


def _run(connection: sqlite3.Connection, migrations: list[Migration]) -> None:
    version = _version(connection)  # again: another process may have been faster
    for number, sql in migrations:
        if number > version:
            for statement in _statements(sql):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number:d}")


def _statements(sql: str) -> Iterator[str]:
    """Split at complete statements; sqlite3.executescript would commit the open transaction."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
