"""What `fumikura doctor` asks of the store: whether the file is sound and its tables agree."""

import sqlite3
from dataclasses import dataclass

from fumikura.errors import StoreDamaged
from fumikura.store.notebooks import Tables


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong or worth knowing in the store; doctor makes a finding of it."""

    code: str
    count: int
    ja: str
    en: str


COUNTS = {
    "no_keywords": (
        "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT id FROM keyword_docsize)",
        "検索語の無い断片が {n} 件あります。索引を作り直してください。",
        "{n} chunks have no keywords: rebuild the keyword index",
    ),
    "keywords_without_chunk": (
        "SELECT count(*) FROM keyword_docsize WHERE id NOT IN (SELECT id FROM chunks)",
        "断片の無い検索語が {n} 件あります。索引を作り直してください。",
        "{n} keyword rows have no chunk: rebuild the keyword index",
    ),
    "orphans": (
        "SELECT count(*) FROM pragma_foreign_key_check",
        "親の無い行が {n} 件あります。バックアップから戻してください。",
        "{n} rows have lost their parent: restore a backup",
    ),
    "pending_vectors": (
        "SELECT count(*) FROM chunks WHERE EXISTS (SELECT 1 FROM recipes WHERE present) AND id NOT IN"
        " (SELECT chunk_id FROM vectors WHERE recipe_id = (SELECT id FROM recipes WHERE present))",
        "ベクトルの無い断片が {n} 件あります（検索語では見つかります）。埋め込みを続けてください。",
        "{n} chunks have no vector (keywords find them): continue embedding",
    ),
    "other_recipes": (
        "SELECT count(*) FROM vectors WHERE recipe_id NOT IN (SELECT id FROM recipes WHERE present)",
        "別の設定で作ったベクトルが {n} 件あります。不要なら消してください。",
        "{n} vectors were made with another recipe: drop it if it is not needed",
    ),
}


class Checks(Tables):
    """Checks that read everything: seconds on a large store."""

    def check(self) -> list[Problem]:
        """Return the problems, none when all is well. Raises StoreError only if nothing can be read at all."""
        problems = self._integrity()
        if problems:
            return problems
        with self._database.read() as connection:
            problems = [problem for code in COUNTS if (problem := _counted(connection, code))]
            if self._keywords.stamped(connection) != self._keywords.recipe:
                problems.append(
                    Problem(
                        "keyword_recipe",
                        1,
                        ja="検索語の索引は別の版の辞書で作られています。索引を作り直してください。",
                        en="The keyword index was made with another dictionary version: rebuild it",
                    )
                )
        return problems + self._journal()

    def _integrity(self) -> list[Problem]:
        try:
            with self._database.read() as connection:
                rows = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(5)")]
            with self._database.write() as connection:
                connection.execute("INSERT INTO keyword (keyword) VALUES ('integrity-check')")
        except StoreDamaged as error:
            return [Problem("damaged", 1, error.ja, error.en)]
        if rows == ["ok"]:
            return []
        detail = "; ".join(rows)
        return [
            Problem(
                "damaged",
                len(rows),
                ja=f"データベースが壊れています（{detail}）。バックアップから戻してください。",
                en=f"The database is damaged ({detail}): restore a backup",
            )
        ]

    def _journal(self) -> list[Problem]:
        mode = self._database.journal_mode
        if mode == "wal":
            return []
        return [
            Problem(
                "journal",
                1,
                ja=f"WAL を使わずに動いています（{mode}）。書き込み中は検索が待たされます。",
                en=f"Running without WAL ({mode}): searches wait while something is written",
            )
        ]


def _counted(connection: sqlite3.Connection, code: str) -> Problem | None:
    sql, ja, en = COUNTS[code]
    count = int(connection.execute(sql).fetchone()[0])
    return Problem(code, count, ja.format(n=count), en.format(n=count)) if count else None
