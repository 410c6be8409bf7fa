import sqlite3

import pytest

from fumikura.store import keyword
from fumikura.store.keyword import MAX_TERM_COUNT, POSTING_BUDGET, rarest_tokens

TEXT = (
    "# 会議\n木曜に第二会議室で開きます。\n"
    "# 鍵\n鍵は事務室にあります。打ち合わせの前に返すこと。\n"
    "# 設定\nConfig値は Server で変える。\n"
)


@pytest.fixture
def filled(store, make_source):
    store.put_source("n", *make_source("a.md", TEXT), "c")
    return store


def found(store, query, **options):
    ids = [scored.chunk_id for scored in store.lexical_search("n", query, 10, **options)]
    return [chunk.heading_path[0] for chunk in store.read_chunks("n", ids)]


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("会議室はどこ？", "会議"),
        ("鍵", "鍵"),
        ("「鍵」は？", "鍵"),
        ("打合せの前にすることは？", "鍵"),
        ("ＣＯＮＦＩＧ", "設定"),
        ("サーバー server", "設定"),
    ],
)
def test_words_are_found_in_other_spellings(filled, query, heading):
    assert found(filled, query)[0] == heading


def test_scores_fall_and_equal_scores_go_by_id(store, make_source):
    for number in range(3):
        store.put_source("n", *make_source(f"{number}.md", "同じ文です。"), "c")
    hits = store.lexical_search("n", "同じ文", 10)
    assert [hit.chunk_id for hit in hits] == sorted(hit.chunk_id for hit in hits) and len(hits) == 3
    store.put_source("n", *make_source("best.md", "同じ文、同じ文、同じ文。"), "c")
    scores = [hit.score for hit in store.lexical_search("n", "同じ文", 10)]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("listed", [keyword.LISTED_CHUNK_COUNT, 0], ids=["few sources", "many sources"])
def test_the_source_filter_works_before_top_k(store, make_source, monkeypatch, listed):
    monkeypatch.setattr(keyword, "LISTED_CHUNK_COUNT", listed)
    for number in range(5):
        store.put_source("n", *make_source(f"{number}.md", "傘の話。傘、傘、傘。"), "c")
    last = store.put_source("n", *make_source("last.md", "雨の日には傘を忘れずに持っていくのがよい。"), "c")
    rows = store.source_rows("n", [last.source_id, "unknown"])
    (hit,) = store.lexical_search("n", "傘", 1, source_rows=rows)
    assert store.read_chunks("n", [hit.chunk_id])[0].source == "last.md"
    assert store.lexical_search("n", "傘", 1, source_rows=[]) == []


def test_counts_tell_which_words_occur_nowhere(filled, make_source):
    filled.put_source("n", *make_source("b.md", "会議は二回。"), "c")
    assert filled.term_document_counts("n", ["会議", "鍵", "火星", "\ud800"]) == {
        "会議": 2,
        "鍵": 1,
        "火星": 0,
        "\ufffd": 0,
    }
    assert filled.term_document_counts("m", ["会議"]) == {"会議": 0}
    filled.remove_source("n", "a.md")
    assert filled.term_document_counts("n", ["会議", "鍵"]) == {"会議": 1, "鍵": 0}


def test_counts_agree_with_fts5(filled, path, make_source):
    filled.put_source("n", *make_source("a.md", "# 会議\n金曜に移りました。\n"), "c")
    filled.put_source("m", *make_source("b.md", TEXT), "c")
    connection = sqlite3.connect(path)
    connection.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, keyword, row)")
    counted = dict(connection.execute("SELECT term, doc FROM vocabulary"))
    assert counted == dict(connection.execute("SELECT token, chunk_count FROM tokens"))
    connection.close()


def test_common_terms_are_left_out_and_rare_ones_kept():
    counts = {"rare": 1, "some": 150, "common": 300, "everywhere": 1000}
    assert rarest_tokens(counts, 1000) == ["rare", "some", "common"]
    assert rarest_tokens(counts | {"few": 9, "more": 200}, 1000) == ["rare", "few", "some", "more"]
    assert rarest_tokens({}, 1000) == []


def test_in_a_small_notebook_every_word_counts(store, make_source):
    store.put_source("n", *make_source("a.md", "# 甲\n乙丙丁戊己庚辛。\n# 傘\n傘は玄関にある。\n"), "c")
    assert found(store, "乙丙丁戊己庚辛と傘は？") == ["甲", "傘"]


def test_a_long_question_costs_no_more_than_the_budget():
    counts = {f"t{number}": POSTING_BUDGET // 10 for number in range(500)}
    assert len(rarest_tokens(counts, 100_000)) == 10
    assert len(rarest_tokens({f"t{number}": 1 for number in range(500)}, 100_000)) == MAX_TERM_COUNT


def test_rebuilding_brings_the_index_to_the_present_dictionary(filled, path, analyzer):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE meta SET value = 'older' WHERE key = 'keyword_recipe'")
    connection.execute("DELETE FROM keyword")
    connection.commit()
    connection.close()
    assert filled.keywords_outdated
    assert {finding.code for finding in filled.check()} == {"no_keywords", "keyword_recipe", "pending_vectors"}
    assert filled.rebuild_keywords() == 3
    assert not filled.keywords_outdated and found(filled, "第二会議室")[0] == "会議"
