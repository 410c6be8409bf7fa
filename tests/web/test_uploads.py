"""Names as browsers and others send them: shown safely, kept whole, never a path."""

import io
import json
import re

import pytest
from starlette.datastructures import UploadFile

from fumikura.errors import SourceError, SourceTooLarge, UnreadableSource
from fumikura.web.uploads import LONGEST_NAME, Refused, clean_path, pasted_text, read_uploads

C023 = {
    "../outside.txt": "outside.txt",
    "..\\..\\outside.txt": "outside.txt",
    "/absolute_outside.txt": "absolute_outside.txt",
    "%2e%2e%2foutside.txt": "%2e%2e%2foutside.txt",
    "a/../../outside.txt": "outside.txt",
    "．．／outside.txt": "．．／outside.txt",
    "good.txt\0.md": "good.txt.md",
    "C:\\temp\\outside.txt": "outside.txt",
    ".": None,
    "..": None,
    "": None,
    "   .txt": ".txt",
    "con.txt": "con.txt",
    "-rf.txt": "-rf.txt",
    "memo\u202etxt.exe.txt": "memotxt.exe.txt",
    "改\n行.txt": "改行.txt",
}


def upload(name: str | None, content: bytes = "本文です。".encode()) -> UploadFile:
    return UploadFile(io.BytesIO(content), size=len(content), filename=name)


def names_of(*names: str) -> list[str]:
    return [file.name for file in read_uploads([upload(name) for name in names], 1_000)]


def test_c023_every_name_is_cleaned_or_refused(cases):
    assert sorted(C023) == sorted(json.loads((cases / "C023/names.json").read_text())["names"])
    for raw, shown in C023.items():
        (file,) = read_uploads([upload(raw)], 1_000)
        if shown is None:
            assert isinstance(file, Refused) and "名前" in file.error.ja
        else:
            assert file.name == shown and file.origin == f"upload:{shown}"


def test_c024_a_long_japanese_name_is_kept_whole(cases):
    name = json.loads((cases / "C024/names.json").read_text())["name"]
    assert names_of(name) == [name]


def test_a_name_over_the_limit_keeps_its_suffix():
    (name,) = names_of("長" * 300 + ".md")
    assert len(name) == LONGEST_NAME and name.endswith("長.md")
    assert len(clean_path("a." + "b" * 300)) == LONGEST_NAME


def test_c025_marks_in_names_stay_and_line_ends_go(cases):
    names = json.loads((cases / "C025/names.json").read_text())
    assert names_of(*names) == [re.sub(r"[\r\n]", "", name) for name in names]
    # As browsers send them.
    assert names_of("報告 %22最終%22.md", "改行%0D%0AX.md") == ['報告 "最終".md', "改行X.md"]


def test_c062_markup_in_a_name_is_only_text(cases):
    names = json.loads((cases / "C062/names.json").read_text())
    assert names_of(*names) == [name if "/" not in name else clean_path(name) for name in names]
    assert all(not name.startswith("/") for name in names_of(*names))


@pytest.mark.parametrize("name", ["か\u3099く.md", "👨‍👩‍👧 家族.md", "葛\U000e0100城.md"])
def test_letters_of_several_code_points_stay_together(name):
    assert names_of(name) == [name.replace("か\u3099", "が")]


def test_a_folder_keeps_its_files_apart_and_a_name_sent_twice_is_numbered():
    assert names_of("2024/請求.md", "2025/請求.md") == ["2024/請求.md", "2025/請求.md"]
    assert names_of("memo.md", "memo.md", "memo (2).md", "memo.md", "メモ", "メモ") == [
        "memo.md",
        "memo (2).md",
        "memo (2) (2).md",
        "memo (3).md",
        "メモ",
        "メモ (2)",
    ]


def test_what_cannot_be_taken_is_refused_by_name_and_the_others_are_read():
    large, empty, good = read_uploads([upload("大.md", b"x" * 11), upload("空.md", b""), upload("良.md", b"abc")], 10)
    assert isinstance(large, Refused) and isinstance(large.error, SourceTooLarge)
    assert large.name == "大.md" and "11 バイト" in large.error.ja and "大.md" in large.error.en
    assert isinstance(empty, Refused) and isinstance(empty.error, UnreadableSource) and "空.md" in empty.error.ja
    assert good.content == b"abc"
    (nameless,) = read_uploads([upload(None)], 10)
    assert isinstance(nameless, Refused)


def test_a_pasted_text_is_named_after_its_first_words():
    file = pasted_text("\n## 棚の/整理\n- 上の段\n", "", 1_000)
    assert (file.name, file.content.decode()) == ("棚の／整理.md", "\n## 棚の/整理\n- 上の段\n")
    assert file.origin != pasted_text("## 棚の/整理\n- 下の段", "", 1_000).origin
    assert pasted_text("---\n。", "", 100).name == "。.md"
    assert pasted_text("---", "", 100).name == "メモ.md"
    assert (named := pasted_text("本文", " 日記 ", 100)).name == "日記.md"
    assert named.origin == pasted_text("別の本文", "日記", 100).origin == "upload:日記.md"
    assert pasted_text("\ud800", "a.txt", 100).content == b"?"


@pytest.mark.parametrize(("text", "name"), [(" \n", ""), ("本文" * 10, ""), ("本文", "..")])
def test_a_text_that_cannot_be_taken(text, name):
    with pytest.raises(SourceError):
        pasted_text(text, name, 20)
