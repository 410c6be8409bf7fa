"""Embedder recipes: how vectors were made. Vectors of several may lie side by side; the present one is searched."""

import sqlite3

from fumikura.errors import IndexMismatch, StoreError
from fumikura.store.notebooks import Tables


class Recipes(Tables):
    """The table `recipes`. A recipe is a text that names embedder, dimension and prefixes."""

    def vector_recipe(self) -> str:
        """Return the present recipe, "" before the first `use_recipe`."""
        with self._database.read() as connection:
            row = connection.execute("SELECT recipe FROM recipes WHERE present").fetchone()
            return str(row["recipe"]) if row else ""

    def vector_space(self) -> str:
        """Return what tells this store's present vectors from all others: its id and the present recipe."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT value || ' ' || coalesce((SELECT recipe FROM recipes WHERE present), '') AS space"
                " FROM meta WHERE key = 'store_id'"
            ).fetchone()
            return str(row["space"])

    def recipes(self) -> list[str]:
        """Return every recipe of which vectors are stored, and the present one."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT recipe FROM recipes WHERE present OR EXISTS"
                " (SELECT 1 FROM vectors WHERE recipe_id = recipes.id) ORDER BY id"
            )
            return [row["recipe"] for row in rows]

    def use_recipe(self, recipe: str) -> None:
        """Make this recipe the one that is searched, for every process. Vectors of others stay until dropped."""
        with self._database.write() as connection:
            row = recipe_row(connection, recipe)
            connection.execute("UPDATE recipes SET present = (id = ?)", (row,))
            connection.execute(
                "UPDATE sources SET vector_count ="
                " (SELECT count(*) FROM vectors WHERE source_id = sources.id AND recipe_id = ?)",
                (row,),
            )
            connection.execute("UPDATE notebooks SET revision = revision + 1, listing = listing + 1")

    def drop_recipe(self, recipe: str) -> int:
        """Delete the vectors of a recipe and return their number. Raises StoreError for the present one."""
        with self._database.write() as connection:
            row = connection.execute("SELECT id, present FROM recipes WHERE recipe = ?", (recipe,)).fetchone()
            if row is None:
                return 0
            if row["present"]:
                raise StoreError(
                    ja=f"使用中のベクトル（{recipe}）は消せません。先に別の設定へ切り替えてください。",
                    en=f"The vectors in use ({recipe}) cannot be dropped: use another recipe first",
                )
            return connection.execute("DELETE FROM vectors WHERE recipe_id = ?", (row["id"],)).rowcount


def recipe_row(connection: sqlite3.Connection, recipe: str) -> int:
    """Return the recipe's row id; add it when it is new."""
    connection.execute("INSERT INTO recipes (recipe) VALUES (?) ON CONFLICT DO NOTHING", (recipe,))
    return int(connection.execute("SELECT id FROM recipes WHERE recipe = ?", (recipe,)).fetchone()["id"])


def recipe_for_writing(connection: sqlite3.Connection, recipe: str | None) -> int:
    """Return the row id of `recipe`, or of the present one for None. Raises IndexMismatch when there is none."""
    if recipe is not None:
        return recipe_row(connection, recipe)
    row = connection.execute("SELECT id FROM recipes WHERE present").fetchone()
    if row is None:
        raise IndexMismatch(
            ja="ベクトルの作り方（レシピ）が決まっていません。先に use_recipe で設定してください。",
            en="No vector recipe is set: call use_recipe first",
        )
    return int(row["id"])


def check_dimension(connection: sqlite3.Connection, row: int, dimension: int) -> None:
    """Remember the dimension of a recipe's vectors. Raises IndexMismatch when it differs from those stored."""
    connection.execute("UPDATE recipes SET dimension = ? WHERE id = ? AND dimension IS NULL", (dimension, row))
    stored = connection.execute("SELECT recipe, dimension FROM recipes WHERE id = ?", (row,)).fetchone()
    if stored["dimension"] != dimension:
        raise IndexMismatch(
            ja=f"ベクトルの次元が違います（{stored['recipe']}: 保存済み {stored['dimension']}、今回 {dimension}）。"
            "埋め込みモデルを確かめ、索引を作り直してください。",
            en=f"Vectors of another dimension ({stored['recipe']}: stored {stored['dimension']}, given {dimension}): "
            "check the embedding model and rebuild the index",
        )
