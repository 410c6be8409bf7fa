"""The table `meta`: single values under a key."""

import sqlite3


def get_meta(connection: sqlite3.Connection, key: str) -> str | None:
    """Return the value stored under `key`, None when there is none."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row["value"]) if row else None


def put_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Store a value under `key`."""
    connection.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", (key, value))
