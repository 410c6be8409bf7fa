"""Notebooks: names, revisions, and the walls between them (every query of the store starts from a notebook's id)."""

import sqlite3

from fumikura.errors import Conflict, NotFound
from fumikura.store.connection import Database
from fumikura.store.keyword import KeywordIndex
from fumikura.store.texts import nfc


class Tables:
    """What all parts of the store share: the database and the keyword index."""

    def __init__(self, database: Database, keywords: KeywordIndex) -> None:
        self._database = database
        self._keywords = keywords


class Notebooks(Tables):
    """The table `notebooks`."""

    def notebooks(self) -> list[str]:
        """Return the names of all notebooks, sorted."""
        with self._database.read() as connection:
            return [row["name"] for row in connection.execute("SELECT name FROM notebooks ORDER BY name")]

    def add_notebook(self, name: str) -> None:
        """Create an empty notebook; nothing happens when it exists. The first source creates it as well."""
        with self._database.write() as connection:
            ensure_notebook(connection, name)

    def rename_notebook(self, name: str, new_name: str) -> None:
        """Give a notebook another name. Raises NotFound, or Conflict when the new name is taken."""
        with self._database.write() as connection:
            if find_notebook(connection, new_name) is not None:
                raise Conflict(
                    ja=f"ノートブック「{new_name}」はすでにあります。別の名前にしてください。",
                    en=f"A notebook '{new_name}' exists already: choose another name",
                )
            row = existing_notebook(connection, name)
            connection.execute("UPDATE notebooks SET name = ? WHERE id = ?", (nfc(new_name), row))

    def vector_revision(self, notebook: str) -> int:
        """Return a number that grows with every change of the notebook's chunks or vectors; 0 if there is none."""
        with self._database.read() as connection:
            row = connection.execute("SELECT revision FROM notebooks WHERE name = ?", (nfc(notebook),)).fetchone()
            return int(row["revision"]) if row else 0

    def chunk_count(self, notebook: str) -> int:
        """Return how many chunks the notebook's sources have together; 0 if there is no such notebook."""
        with self._database.read() as connection:
            row = connection.execute("SELECT chunk_count FROM notebooks WHERE name = ?", (nfc(notebook),)).fetchone()
            return int(row["chunk_count"]) if row else 0


def find_notebook(connection: sqlite3.Connection, name: str) -> int | None:
    """Return the notebook's row id, None when there is none of this name."""
    row = connection.execute("SELECT id FROM notebooks WHERE name = ?", (nfc(name),)).fetchone()
    return int(row["id"]) if row else None


def existing_notebook(connection: sqlite3.Connection, name: str) -> int:
    """Return the notebook's row id. Raises NotFound."""
    row = find_notebook(connection, name)
    if row is None:
        raise NotFound(ja=f"ノートブック「{name}」はありません。", en=f"There is no notebook '{name}'")
    return row


def ensure_notebook(connection: sqlite3.Connection, name: str) -> int:
    """Return the notebook's row id; create it when there is none."""
    connection.execute("INSERT INTO notebooks (name) VALUES (?) ON CONFLICT DO NOTHING", (nfc(name),))
    return existing_notebook(connection, name)


def count_change(connection: sqlite3.Connection, notebook_id: int) -> None:
    """Move the notebook's revision on and count its chunks anew."""
    connection.execute(
        "UPDATE notebooks SET revision = revision + 1, chunk_count ="
        " (SELECT coalesce(sum(chunk_count), 0) FROM sources WHERE notebook_id = notebooks.id) WHERE id = ?",
        (notebook_id,),
    )
