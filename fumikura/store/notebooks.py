"""Notebooks: names, revisions, and the walls between them (every query of the store starts from a notebook's id)."""

import sqlite3
from dataclasses import dataclass

from fumikura.errors import Conflict, NotFound
from fumikura.store.connection import Database
from fumikura.store.keyword import KeywordIndex
from fumikura.store.texts import nfc


@dataclass(frozen=True, slots=True)
class NotebookRow:
    """A notebook as it is listed; hidden sources do not count."""

    notebook_id: int
    name: str
    source_count: int
    chunk_count: int
    mode: str


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

    def has_notebook(self, name: str) -> bool:
        """Whether there is a notebook of this name, in either Unicode form."""
        with self._database.read() as connection:
            return find_notebook(connection, name) is not None

    def notebook_rows(self) -> list[NotebookRow]:
        """Return all notebooks with their sizes, sorted by name."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT id, name, (SELECT count(*) FROM sources WHERE notebook_id = notebooks.id"
                " AND hidden_at IS NULL), chunk_count, mode FROM notebooks ORDER BY name"
            )
            return [NotebookRow(*row) for row in rows]

    def notebook_name(self, notebook_id: int) -> str:
        """Return the name of the notebook of this number. Raises NotFound."""
        with self._database.read() as connection:
            row = connection.execute("SELECT name FROM notebooks WHERE id = ?", (notebook_id,)).fetchone()
        if row is None:
            raise NotFound(
                ja=f"番号 {notebook_id} のノートブックはありません。",
                en=f"There is no notebook of number {notebook_id}",
            )
        return str(row["name"])

    def add_notebook(self, name: str) -> None:
        """Create an empty notebook; nothing happens when it exists. The first source creates it as well."""
        with self._database.write() as connection:
            ensure_notebook(connection, name)

    def rename_notebook(self, name: str, new_name: str) -> None:
        """Give a notebook another name. Raises NotFound, or Conflict when the new name is taken."""
        with self._database.write() as connection:
            row = existing_notebook(connection, name)
            if find_notebook(connection, new_name) not in (None, row):
                raise Conflict(
                    ja=f"ノートブック「{new_name}」はすでにあります。別の名前にしてください。",
                    en=f"A notebook '{new_name}' exists already: choose another name",
                )
            connection.execute("UPDATE notebooks SET name = ? WHERE id = ?", (nfc(new_name), row))

    def vector_revision(self, notebook: str) -> int:
        """Return a number that grows with every change of the notebook's chunks or vectors; 0 if there is none."""
        with self._database.read() as connection:
            row = connection.execute("SELECT revision FROM notebooks WHERE name = ?", (nfc(notebook),)).fetchone()
            return int(row["revision"]) if row else 0

    def listing(self, notebook: str) -> int:
        """Return a number that grows whenever the list of sources would show something else; 0 if there is none.

        While a source is embedded its `vector_count` grows without it (`embedding` tells); once ready it counts.
        """
        with self._database.read() as connection:
            row = connection.execute("SELECT listing FROM notebooks WHERE name = ?", (nfc(notebook),)).fetchone()
            return int(row["listing"]) if row else 0


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
    """Move the notebook's revision on, as its chunks or vectors have changed."""
    connection.execute("UPDATE notebooks SET revision = revision + 1 WHERE id = ?", (notebook_id,))


def list_anew(connection: sqlite3.Connection, notebook_id: int) -> None:
    """Move the notebook's listing on and count the chunks of the sources that are shown."""
    connection.execute(
        "UPDATE notebooks SET listing = listing + 1, chunk_count = (SELECT coalesce(sum(chunk_count), 0)"
        " FROM sources WHERE notebook_id = notebooks.id AND hidden_at IS NULL) WHERE id = ?",
        (notebook_id,),
    )
