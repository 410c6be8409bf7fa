"""The store: one SQLite file that alone holds the truth; every index can be made again from it."""

from pathlib import Path

from fumikura.store.catalogue import Catalogue
from fumikura.store.checks import Checks
from fumikura.store.choices import Choices
from fumikura.store.connection import Database, Journal, Synchronous
from fumikura.store.conversations import Conversations
from fumikura.store.cores import Cores
from fumikura.store.jobs import Jobs
from fumikura.store.keyword import KeywordIndex, TermAnalyzer
from fumikura.store.migrations import migrate, shipped_migrations
from fumikura.store.notebooks import Notebooks
from fumikura.store.notes import Notes
from fumikura.store.passages import Passages
from fumikura.store.recipes import Recipes
from fumikura.store.sources import Sources
from fumikura.store.vectors import StoredVectors


class Store(
    Notebooks,
    Sources,
    Choices,
    Catalogue,
    Passages,
    StoredVectors,
    Recipes,
    Cores,
    Jobs,
    Conversations,
    Notes,
    Checks,
):
    """All tables over one file, each part in its own module. Thread safe; processes may share the file.

    Implements protocols.VectorReader and protocols.PassageReader.
    """

    def __init__(
        self,
        path: Path,
        analyzer: TermAnalyzer,
        *,
        journal: Journal = "auto",
        synchronous: Synchronous = "full",
        busy_timeout_s: float = 30.0,
    ) -> None:
        """Open the file, create it, or bring it to the newest schema (a copy of the old one stays beside it).

        `auto` takes WAL where the file system allows it. `full` keeps every acknowledged source through a power
        loss, `normal` through the end of the process. Raises StoreLocked, StoreDamaged or StoreError.
        """
        super().__init__(Database(path, journal, synchronous, busy_timeout_s), KeywordIndex(analyzer))
        self.migrated_from = migrate(self._database, shipped_migrations())
        with self._database.write() as connection:
            if self._keywords.stamped(connection) is None:
                self._keywords.stamp(connection)

    @property
    def path(self) -> Path:
        """The database file."""
        return self._database.path

    @property
    def journal_mode(self) -> str:
        """The journal in use: "wal" or "truncate"."""
        return self._database.journal_mode

    @property
    def keywords_outdated(self) -> bool:
        """Whether the words were made with another dictionary or normaliser: `rebuild_keywords` mends that."""
        with self._database.read() as connection:
            return self._keywords.stamped(connection) != self._keywords.recipe

    @property
    def log_dirty(self) -> bool:
        """Whether deleted text is still in the write-ahead log: `checkpoint` once its readers have gone."""
        return self._database.log_dirty

    def checkpoint(self) -> bool:
        """Empty the write-ahead log, so that nothing deleted is left in it; False while a reader prevents that."""
        return self._database.checkpoint()

    def backup(self, target: Path) -> None:
        """Write a compact copy of the whole store to a new file. Raises StoreError, also when it exists."""
        with self._database.alone() as connection:
            connection.execute("VACUUM INTO ?", (str(target),))
            # A restored copy gives its next ids anew, so indexes kept beside the original must not trust them.
            connection.execute("ATTACH ? AS copy", (str(target),))
            connection.execute("UPDATE copy.meta SET value = lower(hex(randomblob(8))) WHERE key = 'store_id'")
            connection.execute("DETACH copy")
        target.chmod(0o600)

    def close(self) -> None:
        """Close the file."""
        self._database.close()
