"""From paths to files, and the names under which a person sees them."""

import os
import unicodedata
from pathlib import Path

import pytest

from fumikura.errors import NotFound, SourceTooLarge, UnreadableSource
from fumikura.loaders import FoundFile, find_files, read_file, told_apart


def found(origin: str, name: str = "") -> FoundFile:
    return FoundFile(Path(origin), origin, name or Path(origin).name)


def names(*files: FoundFile, taken: dict[str, str] | None = None) -> list[str]:
    return [file.name for file in told_apart(files, taken or {})]


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("本文", encoding="utf-8")


def test_a_folder_is_walked_in_order_without_hidden_files(tmp_path: Path) -> None:
    write(tmp_path, "notes/b.md", "notes/a.md", "notes/deep/c.md", "notes/.git/x.md", "notes/.hidden.md")
    files = find_files([tmp_path / "notes"])
    assert [file.name for file in files] == ["notes/a.md", "notes/b.md", "notes/deep/c.md"]
    assert files[0].origin == str(tmp_path / "notes" / "a.md")


def test_a_file_named_twice_is_one_file(tmp_path: Path) -> None:
    write(tmp_path, "notes/a.md")
    assert len(find_files([tmp_path / "notes" / "a.md", tmp_path / "notes"])) == 1


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"nowhere\.md"):
        find_files([tmp_path / "nowhere.md"])


def test_names_are_nfc(tmp_path: Path) -> None:
    write(tmp_path, unicodedata.normalize("NFD", "ガイド.md"))
    (file,) = find_files([tmp_path])
    assert file.name.endswith(unicodedata.normalize("NFC", "ガイド.md"))


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (file,) = find_files([tmp_path / "a.md"])
    with pytest.raises(SourceTooLarge, match="over the limit of 3"):
        read_file(file, 3)
    (tmp_path / "a.md").unlink()
    with pytest.raises(UnreadableSource, match=r"a\.md"):
        read_file(file, 100)


def test_different_names_stay_as_they_are() -> None:
    assert names(found("/x/a.md"), found("/x/b.md"), taken={"c.md": "/y/c.md"}) == ["a.md", "b.md"]


def test_new_files_of_one_name_both_get_their_folder() -> None:
    assert names(found("/x/2024/a.md"), found("/x/2025/a.md")) == ["2024/a.md", "2025/a.md"]


def test_a_name_that_the_notebook_has_is_lengthened() -> None:
    assert names(found("/x/2025/a.md"), taken={"a.md": "/x/2024/a.md"}) == ["2025/a.md"]


def test_the_same_file_keeps_its_name() -> None:
    assert names(found("/x/2024/a.md"), taken={"a.md": "/x/2024/a.md"}) == ["a.md"]


def test_a_lengthened_name_stays_when_its_file_is_added_alone() -> None:
    taken = {"2024/a.md": "/x/2024/a.md", "2025/a.md": "/x/2025/a.md"}
    assert names(found("/x/2025/a.md"), taken=taken) == ["2025/a.md"]


def test_names_grow_until_they_differ() -> None:
    taken = {"a.md": "/p/a.md", "notes/a.md": "/p/notes/a.md", "home/notes/a.md": "/q/home/notes/a.md"}
    assert names(found("/x/home/notes/a.md", "notes/a.md"), taken=taken) == ["x/home/notes/a.md"]


def test_folders_of_one_name_at_the_root_end_in_the_whole_path() -> None:
    taken = {"notes/a.md": "/p/notes/a.md"}
    assert names(found("/notes/a.md", "notes/a.md"), taken=taken) == ["/notes/a.md"]


def test_all_names_differ_when_everything_is_called_alike() -> None:
    files = [found(f"/{one}/{two}/notes/a.md", "notes/a.md") for one in "xyz" for two in "xyz"]
    told = names(*files)
    assert len(set(told)) == len(files)
    assert all(file.origin.endswith(name) for file, name in zip(files, told, strict=True))
    again = dict(zip(told, [file.origin for file in files], strict=True))
    assert names(*files, taken=again) == told


def test_one_file_under_two_spellings_of_its_path_is_one_source(tmp_path: Path) -> None:
    (tmp_path / "n").mkdir()
    path = tmp_path / "n" / "a.md"
    path.write_text("本文", encoding="utf-8")
    assert len(find_files([path, tmp_path / "n" / ".." / "n" / "a.md", tmp_path / "n"])) == 1


def test_the_programs_own_data_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "fumikura.sqlite3").write_bytes(b"x")
    (tmp_path / "a.md").write_text("本文", encoding="utf-8")
    assert [file.path.name for file in find_files([tmp_path], except_in=tmp_path / "data")] == ["a.md"]


def test_a_linked_folder_is_not_walked(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "a.md").write_text("本文", encoding="utf-8")
    assert len(find_files([tmp_path])) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every folder")
def test_a_folder_that_may_not_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir(mode=0)
    (file,) = find_files([tmp_path])
    with pytest.raises(UnreadableSource) as caught:
        read_file(file, 1000)
    assert "shut" in caught.value.ja
