"""The known failure cases (tests/cases) as far as they are the store's."""

import json

import pytest

from fumikura.store import Store

RECIPE = "miniature dimension=3"


def answers(store, notebook, query):
    """The texts found for a question, best first."""
    ids = [scored.chunk_id for scored in store.lexical_search(notebook, query, 5)]
    return [chunk.text for chunk in store.read_chunks(notebook, ids)]


def read(cases, *parts):
    return cases.joinpath(*parts).read_text(encoding="utf-8-sig")


def test_c019_lone_surrogates_are_replaced_and_the_rest_stays_searchable(store, make_source, cases):
    text = json.loads(read(cases, "C019", "lone_surrogate.json"))["text"]
    summary = store.put_source("n", *make_source("壊\ud800れ.md", text, title="\udfff", metadata={"k": "\ud801"}), "c")
    stored = store.source_text("n", summary.source_id)
    assert len(stored) == len(text) and "\ufffd" in stored
    assert answers(store, "n", "\ud83d会場はどこ？") == [stored]
    assert store.get_source("n", "壊\ud800れ.md") == summary


def test_c019_characters_beyond_the_basic_plane(store, make_source, cases):
    store.put_source("n", *make_source("a.md", read(cases, "C019", "astral_and_emoji.md")), "c")
    assert "三百円" in answers(store, "n", "𩸽はいくら？")[0]
    assert "𠮷野屋" in answers(store, "n", "吉野屋商店は？")[0]


def test_c022_both_unicode_forms_of_a_name_are_one_source(store, make_source, cases):
    names, body = json.loads(read(cases, "C022", "names.json")), read(cases, "C022", "body.md")
    first = store.put_source("n", *make_source(names["nfd"], body), "c")
    second = store.put_source("n", *make_source(names["nfc"], body), "c")
    assert first.source_id == second.source_id and second.name == names["nfc"]
    assert store.find_source("n", names["nfd"]) == store.get_source("n", names["nfd"]) == second
    store.remove_source("n", names["nfd"])
    assert store.sources("n") == []


def test_c026_same_name_in_two_folders(store, make_source, cases):
    for year in ("2024", "2025"):
        store.put_source("n", *make_source(f"{year}/invoice.md", read(cases, "C026", year, "invoice.md")), "c")
    assert [source.origin for source in store.sources("n")] == ["2024/invoice.md", "2025/invoice.md"]
    found = "".join(answers(store, "n", "保守費は年ごとにいくら？"))
    assert "48,000" in found and "51,500" in found


def test_c028_a_changed_file_leaves_nothing_of_the_old_one(store, make_source, cases):
    old, new = read(cases, "C028", "v1", "rules.md"), read(cases, "C028", "v2", "rules.md")
    store.put_source("n", *make_source("rules.md", old), "c")
    updated = store.put_source("n", *make_source("rules.md", new), "c")
    fresh = store.put_source("fresh", *make_source("rules.md", new), "c")
    assert updated.chunk_count == fresh.chunk_count and updated.sha256 == fresh.sha256
    assert (
        "十四日間" in answers(store, "n", "貸出期間は？")[0]
        and "できません" in answers(store, "n", "延長はできる？")[0]
    )
    assert not any(
        "十日間" in text or "窓口" in text for text in answers(store, "n", "貸出 期間 十日間 返却 窓口 一回")
    )


def test_c030_an_unchanged_source_indexed_three_times(store, make_source, vectors_of, cases, path, analyzer):
    source, chunks = make_source("short_note.md", read(cases, "C030", "short_note.md"))
    store.put_source("n", source, chunks, "c", vectors_of(chunks))
    for _ in range(3):
        again = store.put_source("n", source, chunks, "c")
        assert (again.chunk_count, again.vector_count, again.status) == (1, 1, "ready")
        assert "すずらん" in answers(store, "n", "合言葉は？")[0]
    restarted = Store(path, analyzer)
    assert len(restarted.vector_ids("n")) == 1 and "すずらん" in answers(restarted, "n", "合言葉は？")[0]
    restarted.close()


def test_c031_sources_without_text_end_in_a_final_state(store, make_source, cases):
    files = sorted(cases.joinpath("C031").iterdir())
    for file in files:
        content = "" if file.suffix == ".md" else file.read_text(encoding="utf-8-sig")
        store.put_source("n", *make_source(file.name, content), "c")
    store.put_source("n", *make_source("good.md", "会議は木曜。"), "c")
    states = {source.name: source.status for source in store.sources("n")}
    assert len(files) == 4 and states == {file.name: "no_text" for file in files} | {"good.md": "keyword_ready"}
    assert len(answers(store, "n", "会議")) == 1


@pytest.mark.parametrize("other_texts", [0, 40])
def test_c076_words_of_one_and_two_characters(store, make_source, cases, other_texts):
    for number in range(other_texts):
        store.put_source("n", *make_source(f"{number}.md", f"# 記録{number}\n会合の記録、第{number}号。\n"), "c")
    store.put_source("n", *make_source("short_words.md", read(cases, "C076", "short_words.md")), "c")
    wanted = ["雨", "熊", "鍵", "霧", "鍵"]
    for query, word in zip(json.loads(read(cases, "C076", "queries.json")), wanted, strict=True):
        assert word in answers(store, "n", query)[0], query


def test_c077_no_question_breaks_the_syntax(store, make_source, cases):
    store.put_source("n", *make_source("a.md", "# 鍵\n鍵は棚の上。50%引きの C++ の本、AB-123。\n# 雨\n雨の日。\n"), "c")
    before = store.sources("n")
    queries = json.loads(read(cases, "C077", "queries.json"))
    for query in [*queries, "\0", "a\0b", '"" OR ""', "{bigrams}: x", "-", "1b鍵", "x" * 100_000]:
        assert isinstance(store.lexical_search("n", query, 5), list)
    for query in ("「鍵」は？", "AB-123", "50%引き", "C++とは？"):
        assert "鍵は棚" in answers(store, "n", query)[0], query
    for query in ("", "   ", "　", "＊", '"'):
        assert store.lexical_search("n", query, 5) == []
    assert store.sources("n") == before


def test_c106_nothing_to_search(store, make_source):
    assert store.lexical_search("nowhere", "会議", 5) == []
    store.add_notebook("empty")
    assert store.lexical_search("empty", "会議", 5) == [] and store.pending_chunks("empty", RECIPE, 5) == []
    store.put_source("empty", *make_source("a.md", "会議は木曜。"), "c")
    assert store.lexical_search("empty", "会議", 5, source_rows=[]) == []


def test_c114_walls_between_notebooks(store, make_source, cases):
    secret = store.put_source("a", *make_source("secret.md", read(cases, "C114", "notebook_a", "secret.md")), "c")
    store.put_source("b", *make_source("lunch.md", read(cases, "C114", "notebook_b", "lunch.md")), "c")
    assert answers(store, "b", "昇給率は？") == [] and len(answers(store, "a", "昇給率は？")) == 1
    assert store.term_document_counts("b", ["昇給"]) == {"昇給": 0}
    (foreign,) = store.source_rows("a", [secret.source_id])
    assert store.lexical_search("b", "昇給率 昼食", 5, source_rows=[foreign]) == []
    assert store.source_rows("b", [secret.source_id]) == []
