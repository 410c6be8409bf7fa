"""Connections to one SQLite file: a pool for threads, one writer at a time, the journal that the disk allows.

Knows no table. Reads see one committed state; a write is one transaction.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal

from fumikura.errors import StoreError
from fumikura.store.failures import DAMAGED, mapped, primary_code

Journal = Literal["auto", "wal", "truncate"]
Synchronous = Literal["full", "normal"]

CHECKPOINT_WAIT_MS = 200


class Database:
    """One SQLite file. Raises StoreLocked, StoreDamaged or StoreError from every method."""

    def __init__(self, path: Path, journal: Journal, synchronous: Synchronous, busy_timeout_s: float) -> None:
        self.path = path
        self._synchronous = synchronous
        self._busy_timeout_s = busy_timeout_s
        self._idle: list[sqlite3.Connection] = []
        self._pool_lock = threading.Lock()
        self._writer = threading.RLock()
        self._closed = False
        self.log_dirty = False  # deleted text is left in the log, because a reader kept it from being emptied
        _make_file(path)
        with mapped(path):
            self.journal_mode = self._choose_journal(journal)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Give a connection whose statements all see the same committed state."""
        with self._borrowed() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside a transaction: committed at the end, undone by any exception."""
        with self._writer, self._borrowed() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """Give a connection without a transaction while no other thread writes (VACUUM, checkpoints)."""
        with self._writer, self._borrowed() as connection:
            yield connection

    def checkpoint(self) -> bool:
        """Write the log back and empty it; False when a reader kept that from happening (`log_dirty` then says so)."""
        with self.alone() as connection:
            # All writers wait meanwhile, so not for as long as a transaction may: whoever rests tries it again.
            connection.execute(f"PRAGMA busy_timeout = {CHECKPOINT_WAIT_MS}")
            try:
                blocked, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                connection.execute(f"PRAGMA busy_timeout = {int(self._busy_timeout_s * 1000)}")
            self.log_dirty = bool(blocked)
            return not blocked

    def close(self) -> None:
        """Close every idle connection; the last one to close empties the log."""
        with self._pool_lock:
            self._closed = True
            idle, self._idle = self._idle, []
        with mapped(self.path):
            for connection in idle:
                connection.close()

    @contextmanager
    def _borrowed(self) -> Iterator[sqlite3.Connection]:
        with mapped(self.path):
            connection = self._take()
            try:
                yield connection
            finally:
                self._give_back(connection)

    def _take(self) -> sqlite3.Connection:
        with self._pool_lock:
            if self._closed:
                raise StoreError(ja=f"{self.path} はすでに閉じられています。", en=f"{self.path} is already closed")
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._pool_lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _open(self) -> sqlite3.Connection:
        # The pool hands a connection to one thread at a time, so the module's own thread check may go.
        return sqlite3.connect(self.path, timeout=self._busy_timeout_s, isolation_level=None, check_same_thread=False)

    def _connect(self) -> sqlite3.Connection:
        connection = self._open()
        try:
            self._configure(connection)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _configure(self, connection: sqlite3.Connection) -> None:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # deleted text is overwritten, not only unlinked
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute("PRAGMA temp_store = MEMORY")  # no text in temporary files

    def _choose_journal(self, journal: Journal) -> str:
        if journal == "truncate":
            return self._set_truncate()
        try:
            mode = self._try_wal()
        except sqlite3.OperationalError as error:
            if journal == "wal" or primary_code(error) in DAMAGED | {sqlite3.SQLITE_BUSY}:
                raise
            return self._set_truncate()
        if mode == "wal" or journal == "auto":
            return mode if mode == "wal" else self._set_truncate()
        raise StoreError(
            ja=f"{self.path} の場所では WAL が使えません。store.journal を auto にしてください。",
            en=f"WAL does not work where {self.path} lies: set store.journal to auto",
        )

    def _try_wal(self) -> str:
        with closing(self._connect()) as connection:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            # Only a transaction needs the shared memory file, which network volumes refuse.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
            return str(mode)

    def _set_truncate(self) -> str:
        with closing(self._open()) as connection:
            # An exclusive lock, taken before anything is read, lets SQLite leave WAL without shared memory.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            (mode,) = connection.execute("PRAGMA journal_mode = TRUNCATE").fetchone()
            return str(mode)


def _make_file(path: Path) -> None:
    """Create the file for the owner alone. A volume that refuses modes (or chown) is no reason to stop."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StoreError(
            ja=f"{path} を開けません（{error.strerror}）。フォルダーの権限を確かめてください。",
            en=f"Cannot open {path} ({error.strerror}): check the permissions of its folder",
        ) from error
    with suppress(OSError):
        path.chmod(0o600)
