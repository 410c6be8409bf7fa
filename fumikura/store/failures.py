"""The border to SQLite: each of its exceptions becomes one of ours, here and nowhere else; the cause is kept."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fumikura.errors import StoreDamaged, StoreError, StoreLocked

LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code, 0 where the module raised the error itself."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def store_error(error: sqlite3.Error, path: Path) -> StoreError:
    """Return the error of ours that says what failed and what to do."""
    code = primary_code(error)
    if code in LOCKED:
        return StoreLocked(
            ja=f"別のプロセスが {path} に書き込み中です。少し待って、もう一度実行してください。",
            en=f"Another process is writing to {path}: wait a moment and try again",
        )
    if code in DAMAGED:
        return StoreDamaged(
            ja=f"データベース {path} が壊れています（{error}）。バックアップから戻してください。",
            en=f"The database {path} is damaged ({error}): restore a backup",
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreError(
            ja=f"{path} に書き込めません。ディスクがいっぱいです。空きを作ってください。",
            en=f"Cannot write {path}: the disk is full; free some space",
        )
    if code in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}:
        return StoreError(
            ja=f"{path} を開けないか、書き込めません（{error}）。フォルダーの権限を確かめてください。",
            en=f"Cannot open or write {path} ({error}): check the permissions of its folder",
        )
    return StoreError(
        ja=f"データベース {path} の処理に失敗しました（{error}）。fumikura doctor で調べてください。",
        en=f"The database {path} failed ({error}): examine it with fumikura doctor",
    )


@contextmanager
def mapped(path: Path) -> Iterator[None]:
    """Turn exceptions of SQLite into StoreLocked, StoreDamaged or StoreError."""
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(error, path) from error
