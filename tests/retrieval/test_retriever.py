from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fumikura.errors import BackendUnavailable, QuestionError
from fumikura.records import ScoredChunk
from fumikura.retrieval import HttpReranker

CASES = Path(__file__).parents[1] / "cases"
HARBOUR = "# 港\n\n鍵は受付の棚にある。\n\n# 灯台\n\n灯台は五年前に建て替えられた。\n\n# 倉庫\n\n倉庫の床は赤い。\n"


@dataclass
class Down:
    """An embedder whose server has stopped."""

    name: str = "down"
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = 512
    standout_cosine: float | None = None
    dimension: int = 256
    asked: list[str] = field(default_factory=list)

    def embed_query(self, text):
        self.asked.append(text)
        raise BackendUnavailable(ja="埋め込みサーバーに接続できません。", en="Cannot reach the embedding server.")

    def embed_documents(self, texts):
        return self.embed_query(texts[0])

    def count_tokens(self, text):
        return len(text)


def test_the_right_passage_comes_first_with_its_scores(library):
    library.add("harbour.md", HARBOUR)
    first = library.search("灯台は5年前に建て替えた？").hits[0]
    assert first.text == "灯台は五年前に建て替えられた。"
    assert (first.source, first.heading_path, first.rank, first.lexical_rank) == ("harbour.md", ("灯台",), 1, 1)
    assert HARBOUR[first.start : first.end] == first.text
    assert 0 < first.dense_score <= 1


def test_ranks_count_up_and_scores_do_not_rise(library):
    library.add("harbour.md", HARBOUR)
    hits = library.search("倉庫の鍵は灯台？").hits
    assert [hit.rank for hit in hits] == [1, 2, 3]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("query", ["", "   ", "　\n"])
def test_a_blank_question_is_refused(library, query):
    with pytest.raises(QuestionError) as caught:
        library.search(query)
    assert "空" in caught.value.ja


@pytest.mark.parametrize("query", ["＊", "👍", "\"' OR 1=1 --", "NEAR("])
def test_a_question_of_signs_never_fails(library, query):
    library.add("harbour.md", HARBOUR)
    assert library.search(query).notices == ()


def test_a_very_long_question_is_cut_and_says_so(library):
    library.add("harbour.md", HARBOUR)
    result = library.search("灯台は五年前？" + "雨" * 50_000)
    assert result.hits[0].heading_path == ("灯台",)
    assert "2000" in result.notices[0].en


def test_a_question_beyond_the_embedders_window_is_cut_to_it(library):
    library.add("harbour.md", HARBOUR)
    embedder = Down(max_tokens=50)
    result = library.retriever(embedder=embedder).search("default", "灯台は五年前？" + "雨" * 200, 5)
    assert len(embedder.asked[0]) == 50
    assert result.hits[0].heading_path == ("灯台",)


class TestWithoutVectors:
    """Case C075: the embedder is down when a question is asked."""

    def test_keywords_answer_alone_and_the_result_says_so(self, library):
        library.add("harbour.md", HARBOUR)
        result = library.retriever(embedder=Down()).search("default", "灯台はいつ？", 5)
        assert result.hits[0].heading_path == ("灯台",)
        assert all(hit.dense_score is None and hit.lexical_rank for hit in result.hits)
        (notice,) = result.notices
        assert "キーワードだけ" in notice.ja
        assert "Cannot reach the embedding server." in notice.en

    def test_a_question_without_shared_words_finds_nothing(self, library):
        library.add("harbour.md", HARBOUR)
        assert library.retriever(embedder=Down()).search("default", "宇宙旅行", 5).hits == ()

    def test_keywords_only_on_wish_asks_no_embedder(self, library):
        library.add("harbour.md", HARBOUR)
        embedder = Down()
        result = library.retriever(embedder=embedder).search("default", "灯台はいつ？", 5, dense=False)
        assert result.hits[0].heading_path == ("灯台",)
        assert (embedder.asked, result.notices, result.embed_s) == ([], (), 0.0)

    def test_an_index_whose_server_is_down_degrades_alike(self, library):
        class DownIndex:
            name = "down"

            def search(self, *_):
                raise BackendUnavailable(ja="止まっています。", en="Chroma is down.")

        library.add("harbour.md", HARBOUR)
        result = library.retriever(index=DownIndex()).search("default", "灯台はいつ？", 5)
        assert result.hits[0].heading_path == ("灯台",)
        assert len(result.notices) == 1
        assert "Chroma is down." in result.notices[0].en

    def test_a_source_not_yet_embedded_is_found_by_keyword(self, library):
        library.embeds = False
        library.add("harbour.md", HARBOUR)
        assert library.search("灯台はいつ？").hits[0].heading_path == ("灯台",)


def test_a_zero_score_is_no_evidence(library):
    class ZeroIndex:
        name = "zero"

        def search(self, notebook, query, top_k, source_rows=None):
            return [ScoredChunk(int(i), 0.0) for i in library.store.vector_ids(notebook)]

    library.add("harbour.md", HARBOUR)
    assert library.retriever(index=ZeroIndex()).search("default", "宇宙旅行", 5).hits == ()


def test_notebooks_are_walls(library):
    library.add("mine.md", HARBOUR)
    library.add("yours.md", HARBOUR.replace("灯台", "霧笛"), notebook="other")
    assert {hit.source for hit in library.search("霧笛は五年前？").hits} == {"mine.md"}
    assert library.retriever().search("nowhere", "霧笛", 5).hits == ()


def test_only_the_chosen_sources_are_searched(library):
    library.add("one.md", "# 一\n\n灯台は北にある。\n")
    two = library.add("two.md", "# 二\n\n灯台は南にある。\n")
    assert [hit.source for hit in library.search("灯台は北？", source_ids=[two]).hits] == ["two.md"]
    assert library.search("灯台は北？", source_ids=[]).hits == ()
    assert library.search("灯台は北？", source_ids=["no-such-id"]).hits == ()


class TestCopies:
    """Case C078: copies fill all result places."""

    def test_seven_copies_take_one_place_and_are_named(self, library):
        for number in range(1, 8):
            library.add(f"copy{number}.md", (CASES / f"C078/copy{number}/notice.md").read_text("utf-8"))
        library.add("holiday.md", (CASES / "C078/holiday.md").read_text("utf-8"))
        hits = library.search("平日と休日の貸出は？").hits
        assert sorted(hit.source.rstrip("1234567.md") for hit in hits) == ["copy", "holiday"]
        copies = next(hit for hit in hits if hit.source.startswith("copy"))
        assert sorted([copies.source, *copies.also_in]) == [f"copy{number}.md" for number in range(1, 8)]

    def test_more_copies_than_candidates_do_not_hide_the_rest(self, library):
        for number in range(9):
            library.add(f"copy{number}.md", "# 知らせ\n\n休日も貸出窓口は開く。\n")
        library.add("holiday.md", "# 休日\n\n貸出は返却箱で受ける。\n")
        hits = library.retriever(candidate_count=3).search("default", "休日も貸出窓口は開く？", 3).hits
        assert "holiday.md" in {hit.source for hit in hits}

    def test_another_width_is_a_copy_but_another_digit_is_not(self, library):
        library.add("a.md", "受付は9時から、AB棟で。")
        library.add("b.md", "受付は９時から、ＡＢ棟で。")
        library.add("c.md", "受付は8時から、AB棟で。")
        hits = library.search("受付はAB棟で何時から？").hits
        assert len(hits) == 2
        assert {name for hit in hits for name in (hit.source, *hit.also_in)} == {"a.md", "b.md", "c.md"}


def test_two_equal_passages_of_one_source_are_not_named_twice(library):
    library.add("twice.md", "# 一\n\n灯台は北にある。\n\n# 二\n\n灯台は北にある。\n")
    (hit,) = library.search("灯台は北？").hits
    assert hit.also_in == ()


class TestReranker:
    def test_its_order_and_scores_are_used(self, library, rerank_server):
        library.add("harbour.md", HARBOUR)
        rerank_server.reply = lambda request: [
            {"index": i, "score": 5 if "床" in text else 1} for i, text in enumerate(request["texts"])
        ]
        reranker = HttpReranker(rerank_server.url, kind="tei")
        hits = library.retriever(reranker=reranker).search("default", "灯台はいつ建て替えた？倉庫は？", 3).hits
        reranker.close()
        assert (hits[0].text, hits[0].score) == ("倉庫の床は赤い。", 5.0)
        assert rerank_server.requests[0]["texts"][0].startswith("灯台\n")

    def test_when_it_fails_the_usual_order_stands(self, library, rerank_server):
        library.add("harbour.md", HARBOUR)
        rerank_server.status = 500
        reranker = HttpReranker(rerank_server.url)
        result = library.retriever(reranker=reranker).search("default", "灯台はいつ建て替えた？", 3)
        reranker.close()
        assert result.hits == library.search("灯台はいつ建て替えた？", 3).hits
        assert "500" in result.notices[0].en
