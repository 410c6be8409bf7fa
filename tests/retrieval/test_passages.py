import re

from fumikura.indexes import ExactIndex
from fumikura.retrieval import Retriever

STORY = "\n\n".join(
    [
        "# 岬の家",
        "岬の家には老人が住む。老人は毎朝六時に起きる。",
        "霧笛は岩の上に立つ。霧笛は冬だけ鳴る。",
        "灯台の鍵は台所の棚の赤い箱に入れてある。",
        "船は日曜に来る。船長は若い女性である。",
        "畑には豆と芋が植えてある。犬が番をする。",
    ]
)
QUESTION = "灯台の鍵はどの箱？"


def passages(library, **options):
    top_k = options.pop("top_k", 1)
    return library.retriever(**options).search("default", QUESTION, top_k).hits


def test_without_budget_a_hit_stays_as_it_was_found(library):
    library.add("story.md", STORY, size=30)
    (hit,) = passages(library, context_tokens=1)
    assert hit.text == "灯台の鍵は台所の棚の赤い箱に入れてある。"


def test_a_hit_is_widened_within_its_section_up_to_the_budget(library):
    library.add("story.md", STORY, size=30)
    library.add("other.md", "# 別の家\n\n別の家の話。")
    (hit,) = passages(library, context_tokens=70)
    assert len(hit.text) <= 70
    assert "船は日曜に来る。" in hit.text
    assert "灯台の鍵" in hit.text
    assert STORY[hit.start : hit.end] == hit.text
    (whole,) = passages(library, context_tokens=10_000)
    assert whole.text == STORY[STORY.index("岬の家には") :]


def test_the_rest_of_the_paragraph_comes_before_the_next_paragraph(library):
    text = "# 台帳\n\n" + "倉庫の棚は東側の壁にある。鍵は青い箱の中にある。\n\n別の段落が続いている。"
    library.add("ledger.md", text, size=14)
    (hit,) = library.retriever(context_tokens=26).search("default", "青い箱の鍵は？", 1, dense=False).hits
    assert hit.text == "倉庫の棚は東側の壁にある。鍵は青い箱の中にある。"


def test_neighbouring_hits_become_one_passage(library):
    library.add("story.md", STORY, size=30)
    library.add("far.md", "# 別の島\n\n灯台も箱もある島。")
    hits = library.retriever(context_tokens=80).search("default", "灯台の鍵の箱と船長の船は日曜？", 2).hits
    assert len(hits) == 2
    joined = next(hit for hit in hits if hit.source == "story.md")
    assert {"far.md", "story.md"} == {hit.source for hit in hits}
    assert "灯台の鍵" in joined.text
    assert "船長" in joined.text


def test_passages_never_share_a_character_and_keep_their_text(library):
    text = "# 記録\n\n" + "".join(f"第{i}倉庫の箱は赤い。灯台の鍵は箱{i}にある。" for i in range(60))
    library.add("structure.md", text, size=50)
    library.add("fixed.md", text, size=50, overlap=20)
    for budget in (1, 150, 400, 900):
        hits = library.retriever(context_tokens=budget).search("default", "第7倉庫の灯台の鍵は箱7？", 6).hits
        assert all(text[hit.start : hit.end] == hit.text for hit in hits)
        spans = sorted((hit.source, hit.start, hit.end) for hit in hits)
        for (source, _, end), (other, start, _) in zip(spans, spans[1:], strict=False):
            assert source != other or end <= start
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


def test_a_passage_never_leaves_its_section(library):
    library.add("two.md", "# 一\n\n灯台の鍵は赤い箱にある。\n\n# 二\n\n船は日曜に来る。")
    (hit,) = passages(library, context_tokens=10_000)
    assert hit.text == "灯台の鍵は赤い箱にある。"
    assert not re.search("船", hit.text)


def test_a_source_removed_during_the_search_is_left_out(library):
    class RemovesAfterReading:
        """The store while another thread removes what was just found."""

        def __getattr__(self, name):
            return getattr(library.store, name)

        def read_chunks(self, notebook, chunk_ids):
            chunks = library.store.read_chunks(notebook, chunk_ids)
            library.store.remove_source(notebook, "story.md")
            return chunks

    library.add("story.md", STORY)
    library.add("other.md", "# 島\n\n灯台の鍵は船にある。")
    retriever = Retriever(
        RemovesAfterReading(), ExactIndex(library.store), library.embedder, context_tokens=400, count_tokens=len
    )
    assert [hit.source for hit in retriever.search("default", QUESTION, 5).hits] == ["other.md"]
