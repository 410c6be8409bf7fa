"""Adding, changing and removing files: what the owner sees, and that nothing is lost or half done."""

import json
import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fumikura.errors import BackendUnavailable, Conflict, NotFound
from fumikura.library import Library
from fumikura.records import Vectors


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


def test_a_failed_update_leaves_the_old_version_answering(library: Library, cases: Path, tmp_path: Path) -> None:
    class Down:
        def __getattr__(self, name: str) -> object:
            return getattr(library.embedder, name)

        def embed_documents(self, texts: object) -> Vectors:
            raise BackendUnavailable("埋め込みサーバーが止まっています。", "the embedding server is down")

    path = tmp_path / "rules.md"
    path.write_bytes((cases / "C028" / "v1" / "rules.md").read_bytes())
    library.add("default", [path])
    path.write_bytes((cases / "C028" / "v2" / "rules.md").read_bytes())
    (report,) = replace(library, embedder=Down()).add("default", [path])  # type: ignore[arg-type]
    assert report.status == "failed"
    assert "止まっています" in report.error
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
    assert "big.md" in report.error
    assert "1,000" in report.error
    assert library.store.sources("default") == []


def test_removing_leaves_nothing_to_find(library: Library, cases: Path, tmp_path: Path) -> None:
    library.add("default", [cases / "C030" / "short_note.md"])
    library.remove("default", ["short_note.md"])
    assert library.notebook("default").search("合言葉は？").hits == ()
    library.close()
    stored = b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    assert "すずらん".encode() not in stored


def test_removing_by_an_ambiguous_name_names_the_candidates_and_removes_nothing(library: Library, cases: Path) -> None:
    library.add("default", [cases / "C028" / "v1", cases / "C028" / "v2"])
    with pytest.raises((Conflict, NotFound)):
        library.remove("default", ["rules.md"])
    assert len(library.store.sources("default")) == 2


@pytest.mark.parametrize("style", ["nan", "500"])
def test_c070_one_text_that_cannot_be_embedded_loses_only_itself(stub, open_library, cases: Path, style: str) -> None:  # type: ignore[no-untyped-def]
    stub.options.nan_marker, stub.options.nan_style = "NANNAN", style
    library = open_library("", **stub_settings(stub.url, FUMIKURA__CHUNK__SIZE="40"))
    (report,) = library.add("default", [cases / "C070" / "one_bad_chunk.md"])
    assert report.status == "keyword_ready"
    assert f"1 / {report.chunk_count}" in report.error or "1 of" in report.error
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
    assert any("reindex" in notice for notice in found.notices)
    assert "開館は九時" in found.hits[0].text
    (report,) = library.add("default", [cases / "C030" / "short_note.md"])
    assert report.status == "keyword_ready"
    assert "reindex" in report.error
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
    assert any("キーワードだけ" in notice for notice in answer.notices)
    unknown = library.notebook("default").ask("富士山の標高は？")
    assert (unknown.status, unknown.citations) == ("not_in_sources", ())


@pytest.mark.parametrize("kind", ["exact", "faiss", "chroma"])
def test_every_index_finds_the_same_passage(open_library, cases: Path, kind: str) -> None:  # type: ignore[no-untyped-def]
    library = open_library("", FUMIKURA__INDEX__KIND=kind)
    library.add_samples("default")
    hits = library.notebook("default").search("留守にする家の鍵を預けたのは誰？").hits
    assert hits
    assert hits[0].dense_score
