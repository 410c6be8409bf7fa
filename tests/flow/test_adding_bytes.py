"""Files that come as bytes: found by keyword at once, embedded later and in steps; parts made once for all threads."""

import threading
from pathlib import Path

from fumikura.errors import BackendUnavailable
from fumikura.library import Library
from fumikura.records import SourceFile

KEY = SourceFile("upload:鍵.md", "鍵.md", "# 鍵\n\n物置の鍵は台所の引き出しです。\n".encode())


def memo(number: int, text: str = "") -> SourceFile:
    return SourceFile(f"upload:{number}.txt", f"{number}.txt", (text or f"{number}番の棚には毛布がある。").encode())


def test_bytes_are_found_by_keyword_at_once_and_by_meaning_after_embedding(library: Library) -> None:
    told: list[tuple[str, int, int]] = []
    report = library.add_bytes("default", KEY, lambda *step: told.append(step))
    assert (report.status, report.chunk_count, report.error) == ("added", 1, None)
    assert told == [("read", 0, 0), ("split", 0, 0), ("split", 0, 1), ("split", 1, 1)]
    assert library.store.get_source("default", report.source_id).status == "keyword_ready"
    notebook = library.notebook("default")
    assert notebook.search("物置の鍵").hits[0].dense_score is None
    assert library.embed_pending("default") is None
    assert library.store.get_source("default", report.source_id).status == "ready"
    assert notebook.search("物置の鍵").hits[0].dense_score


def test_the_bytes_are_kept_as_they_came(library: Library, tmp_path: Path) -> None:
    report = library.add_bytes("default", KEY)
    kept = library.store.original("default", report.source_id)
    assert kept is not None and kept.content == KEY.content
    path = tmp_path / "会議.txt"
    path.write_bytes("会議は月曜です。".encode("cp932"))
    (added,) = library.add("default", [path])
    for content in ("会議は月曜です。", "会議は火曜です。"):
        path.write_bytes(content.encode("cp932"))
        library.add("default", [path])
        original = library.store.original("default", added.source_id)
        assert original is not None and original.content == content.encode("cp932")
    library.reindex()
    original = library.store.original("default", added.source_id)
    assert original is not None and original.content == content.encode("cp932")


def test_the_same_bytes_again_change_nothing_and_new_ones_replace(library: Library) -> None:
    first = library.add_bytes("default", KEY)
    library.embed_pending("default")
    assert library.add_bytes("default", KEY).status == "unchanged"
    new = SourceFile(KEY.origin, KEY.name, "# 鍵\n\n物置の鍵は玄関です。\n".encode())
    report = library.add_bytes("default", new)
    assert (report.status, report.source_id) == ("updated", first.source_id)
    assert "玄関" in library.notebook("default").search("物置の鍵").hits[0].text
    assert library.store.get_source("default", first.source_id).status == "keyword_ready"


def test_a_hidden_source_is_shown_again_by_adding_it(library: Library) -> None:
    report = library.add_bytes("default", KEY)
    library.store.hide_source("default", report.source_id)
    assert library.store.sources("default") == []
    library.add_bytes("default", KEY)
    assert [source.source_id for source in library.store.sources("default")] == [report.source_id]


def test_a_renamed_source_keeps_its_name_and_its_headings(library: Library) -> None:
    report = library.add_bytes("default", KEY)
    library.store.rename_source("default", report.source_id, "物置の話")
    assert library.add_bytes("default", KEY).status == "unchanged"
    library.reindex()
    hit = library.notebook("default").search("物置の鍵").hits[0]
    assert (hit.source, hit.heading_path) == ("物置の話", ("鍵",))


def test_what_cannot_be_read_is_a_report_in_both_languages(library: Library) -> None:
    report = library.add_bytes("default", SourceFile("upload:a.bin", "a.bin", bytes(range(256)) * 20))
    assert report.status == "failed"
    assert report.error and "a.bin" in report.error.ja and "a.bin" in report.error.en
    assert library.store.sources("default") == []


def test_embedding_ends_between_batches_when_it_is_told_to(library: Library) -> None:
    for number in range(6):
        library.add_bytes("default", memo(number))
    steps: list[tuple[int, int]] = []
    library.embed_pending(
        "default",
        lambda stage, done, total: steps.append((done, total)),
        batch_count=2,
        keep_on=lambda: len(steps) < 2,
    )
    assert steps == [(2, 6), (4, 6)]
    assert sum(source.status == "ready" for source in library.store.sources("default")) == 4
    assert library.embed_pending("default") is None
    assert all(source.status == "ready" for source in library.store.sources("default"))


def test_the_index_forgets_what_was_purged(library: Library) -> None:
    report = library.add_bytes("default", KEY)
    library.embed_pending("default")
    assert library.notebook("default").search("物置の鍵").hits
    library.store.hide_source("default", report.source_id)
    assert [source.name for _, source in library.store.purge_hidden(0)] == ["鍵.md"]
    assert library.refresh("default") == ()
    assert library.notebook("default").search("物置の鍵").hits == ()


def test_an_index_that_is_down_is_a_notice(library: Library) -> None:
    class Down:
        def refresh(self, notebook: str) -> None:
            raise BackendUnavailable("Chroma が応答しません。", "Chroma does not answer")

    library.index = Down()  # type: ignore[assignment]
    (notice,) = library.refresh("default")
    assert "Chroma が応答しません" in notice.ja and "Chroma does not answer" in notice.en


def test_a_part_is_made_once_for_all_threads(library: Library) -> None:
    made: list[object] = []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait()
        made.append(library.notebook("default").retriever)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8 and len(set(map(id, made))) == 1
