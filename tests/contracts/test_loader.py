"""What every loader promises, whatever it reads."""

import hashlib

import pytest

from fumikura.errors import UnreadableSource
from fumikura.loaders import MAX_SECTION_CHARACTERS, MarkdownLoader, TextLoader
from fumikura.protocols import Loader
from fumikura.records import Source, SourceFile

TEXTS = [
    "港の倉庫に木箱がある。",
    "\n\n 字下げ。\r\n\r\n次の段落。\r",
    "# 題\n\n- 一\n  - 二\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\n# 印\n",
    "a\n" * 30_000,
    "あ" * 50_000,
    "> 引用\n\n---\n\n\u3000全角の空白\u3000\n",
]


@pytest.fixture(params=[MarkdownLoader, TextLoader], ids=lambda loader: loader.__name__)
def loader(request: pytest.FixtureRequest) -> Loader:
    return request.param()


def load(loader: Loader, content: bytes, name: str = "note") -> Source:
    name += loader.suffixes[0]
    return loader.load(SourceFile(f"notes/{name}", name, content, "2026-01-02"))


@pytest.mark.parametrize("text", TEXTS)
def test_sections_together_are_the_whole_text(loader, text):
    source = load(loader, text.encode())
    assert source.text == text.replace("\r\n", "\n").replace("\r", "\n")
    assert "".join(section.text for section in source.sections) == source.text
    for section in source.sections:
        assert section.text == source.text[section.start : section.end]
        assert 0 < len(section.text) <= MAX_SECTION_CHARACTERS


@pytest.mark.parametrize("text", [*TEXTS, "---\ntitle: 題\n---\n---\n鍵: 棚\n---\n\n本文\n", "﻿先頭の印"])
def test_an_extracted_text_read_again_keeps_its_sections(loader, text):
    source = load(loader, text.encode())
    assert loader.sections_of(source.text) == source.sections


@pytest.mark.parametrize("text", TEXTS)
def test_blocks_are_in_order_inside_their_section_and_hold_all_words(loader, text):
    source = load(loader, text.encode())
    for section in source.sections:
        place, outside = section.start, ""
        for block in section.blocks:
            assert place <= block.start < block.end <= section.end
            outside += source.text[place : block.start]
            place = block.end
        outside += source.text[place : section.end]
        assert not outside.replace("---", "").strip()


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b" \n\t\n", "\u3000\n".encode()])
def test_a_blank_file_has_no_text(loader, content):
    source = load(loader, content)
    assert (source.text, source.sections, source.title) == ("", (), "note")


def test_binary_content_is_refused(loader):
    with pytest.raises(UnreadableSource):
        load(loader, bytes(range(256)) * 8)


@pytest.mark.parametrize("codec", ["cp932", "euc_jp", "iso2022_jp", "utf-16"])
def test_legacy_encodings_read_alike(loader, codec):
    text = "倉庫のかぎは、青い箱の二段目に置いてあります。"
    source = load(loader, text.encode(codec))
    assert (source.text, source.encoding_certain) == (text, True)


def test_names_are_nfc_and_bytes_are_hashed(loader):
    source = load(loader, b"abc", name="か\u3099")
    assert source.name == "が" + loader.suffixes[0]
    assert source.origin == "notes/" + source.name
    assert source.title == "が"
    assert (source.sha256, source.size_bytes) == (hashlib.sha256(b"abc").hexdigest(), 3)
    assert (source.date, source.metadata["modified"]) == (None, "2026-01-02")


def test_the_same_bytes_give_the_same_source(loader):
    assert load(loader, TEXTS[2].encode()) == load(loader, TEXTS[2].encode())


def test_suffixes_are_lower_case_with_their_dot(loader):
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in loader.suffixes)
