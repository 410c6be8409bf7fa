"""What a person decides about a source: its name, whether questions use it, whether it is shown at all."""

import sqlite3
import time

from fumikura.errors import Conflict
from fumikura.records import SourceSummary
from fumikura.store.catalogue import existing_source, no_source, summary
from fumikura.store.notebooks import Tables, existing_notebook, find_notebook, list_anew
from fumikura.store.texts import checked_name, clean


class Choices(Tables):
    """The columns of `sources` that no file says; reading the file again leaves them as they are."""

    def set_pinned(self, notebook: str, source: str, pinned: bool) -> SourceSummary:
        """Put the source into the resident core, or take it out. Raises NotFound or Conflict."""
        return self._set(notebook, source, "pinned", pinned)

    def set_included(self, notebook: str, source: str, included: bool) -> SourceSummary:
        """Let questions use the source, or not. Raises NotFound or Conflict."""
        return self._set(notebook, source, "included", included)

    def include_all(self, notebook: str, included: bool) -> None:
        """Let questions use every source of the notebook, or none."""
        with self._database.write() as connection:
            notebook_id = find_notebook(connection, notebook)
            changed = connection.execute(
                "UPDATE sources SET included = ? WHERE notebook_id = ? AND included <> ? AND hidden_at IS NULL",
                (included, notebook_id, included),
            ).rowcount
            if notebook_id is not None and changed:
                list_anew(connection, notebook_id)

    def rename_source(self, notebook: str, source: str, name: str) -> SourceSummary:
        """Show the source under another name from now on; that of its file again when it is this.

        Raises NotFound, Conflict when another source has the name, QuestionError (blank, over 200 characters).
        """
        wanted = checked_name(name)
        with self._database.write() as connection:
            notebook_id = existing_notebook(connection, notebook)
            row = existing_source(connection, notebook_id, source)
            _check_free(connection, notebook_id, row, wanted)
            connection.execute("UPDATE sources SET given_name = nullif(?, name) WHERE id = ?", (wanted, row))
            list_anew(connection, notebook_id)
            return summary(connection, row)

    def hide_source(self, notebook: str, source: str) -> SourceSummary:
        """Take the source out of every list, search and count until it is restored. Raises NotFound or Conflict."""
        return self._set(notebook, source, "hidden_at", time.time())

    def restore_source(self, notebook: str, source_id: str) -> SourceSummary:
        """Show a hidden source again; nothing happens to one that is shown. Raises NotFound once it is deleted."""
        with self._database.write() as connection:
            notebook_id = existing_notebook(connection, notebook)
            row = connection.execute(
                "UPDATE sources SET hidden_at = NULL WHERE notebook_id = ? AND public_id = ? RETURNING id",
                (notebook_id, clean(source_id)),
            ).fetchone()
            if row is None:
                raise no_source(source_id)
            list_anew(connection, notebook_id)
            return summary(connection, row["id"])

    def _set(self, notebook: str, source: str, column: str, value: float) -> SourceSummary:
        with self._database.write() as connection:
            notebook_id = existing_notebook(connection, notebook)
            row = existing_source(connection, notebook_id, source)
            connection.execute(f"UPDATE sources SET {column} = ? WHERE id = ?", (value, row))
            list_anew(connection, notebook_id)
            return summary(connection, row)


def _check_free(connection: sqlite3.Connection, notebook_id: int, row: int, name: str) -> None:
    taken = connection.execute(
        "SELECT 1 FROM sources WHERE notebook_id = ? AND id <> ? AND coalesce(given_name, name) = ?"
        " AND hidden_at IS NULL",
        (notebook_id, row, name),
    ).fetchone()
    if taken:
        raise Conflict(
            ja=f"「{name}」という資料はすでにあります。別の名前にしてください。",
            en=f"There is a source named '{name}' already: choose another name",
        )
