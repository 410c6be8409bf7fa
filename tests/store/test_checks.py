import sqlite3

import pytest

from fumikura.errors import StoreError
from fumikura.store import Store


def break_by(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.fixture
def filled(store, make_source, vectors_of):
    for number in range(20):
        source, chunks = make_source(f"{number}.md", f"# 会議{number}\n木曜に第{number}会議室で開きます。\n" * 20)
        store.put_source("n", source, chunks, "c", vectors_of(chunks))
    return store


def test_a_sound_store_has_no_problems(filled):
    assert filled.check() == []


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("DELETE FROM keyword WHERE rowid < 10", "no_keywords"),
        ("INSERT INTO keyword (rowid, bigrams, words) VALUES (99999, '1b会', '1w会')", "keywords_without_chunk"),
        ("DELETE FROM sources WHERE id = 1", "orphans"),
        ("DELETE FROM vectors WHERE chunk_id < 5", "pending_vectors"),
    ],
)
def test_tables_that_disagree_are_found_with_a_remedy(filled, path, statement, code):
    break_by(path, statement)
    problem = next(problem for problem in filled.check() if problem.code == code)
    assert problem.count >= 1 and str(problem.count) in problem.en and str(problem.count) in problem.ja


def test_overwritten_pages_are_found(filled, path, analyzer):
    filled.checkpoint()
    filled.close()
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 8192] = b"\xff" * 8192
    path.write_bytes(content)
    damaged = Store(path, analyzer)
    (problem,) = damaged.check()
    damaged.close()
    assert problem.code == "damaged" and "バックアップ" in problem.ja


def test_a_backup_is_a_whole_store_with_an_identity_of_its_own(filled, tmp_path, analyzer):
    target = tmp_path / "backup.db"
    filled.backup(target)
    restored = Store(target, analyzer)
    assert restored.sources("n") == filled.sources("n") and restored.check() == []
    assert restored.vector_recipe() == filled.vector_recipe()
    assert restored.vector_space() != filled.vector_space()
    restored.close()
    with pytest.raises(StoreError):
        filled.backup(target)
