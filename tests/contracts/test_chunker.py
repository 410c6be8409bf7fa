"""What every chunker promises for any source."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fumikura.chunkers import FixedChunker, SemanticChunker, StructureChunker
from fumikura.embedders import HashingEmbedder
from fumikura.loaders import MarkdownLoader, TextLoader
from fumikura.protocols import Chunker
from fumikura.records import Section, Source, SourceFile

Make = Callable[[int, int], Chunker]


def fixed(size: int, max_tokens: int) -> Chunker:
    return FixedChunker(size, size // 3, max_tokens=max_tokens, count_tokens=len)


def structure(size: int, max_tokens: int) -> Chunker:
    return StructureChunker(size, max_tokens=max_tokens, count_tokens=len)


def semantic(size: int, max_tokens: int) -> Chunker:
    return SemanticChunker(HashingEmbedder(max_tokens=max_tokens), size)


every_chunker = pytest.mark.parametrize("make", [fixed, structure, semantic])

PARTS = [
    "# 見出し\n\n",
    "### 深い見出し\n\n",
    "副題\n---\n\n",
    "港の倉庫に木箱がある。山には雪が残る。「市場は、朝。」学校は昼。\n\n",
    "English sentences stand here. They are short! Are they?\n\n",
    "折り返した行の\n続きがここにある\n\n",
    "- 親\n  - 子その一\n    - 孫\n  - 子その二\n\n",
    "1. 一つ目の手順はとても長く、途中に読点が入り、終わりがない\n2. 二つ目\n\n",
    "| 棚 | 数 |\n|---|---|\n| 一番 | 11 |\n| 二番 | 22 |\n| 三番 | 33 |\n\n",
    "```py\nx = 1\n\n# 注\ny = 2\n```\n\n",
    "> 引用の文。\n\n",
    "👨‍👩‍👧‍👦か\u3099👩🏽‍💻🇯🇵" * 3 + "\n\n",
    "ーーーーーーっっっっっ。。。。。。\n\n",
    "---\n\n",
    "\n\n\n",
    "<div>\n印\n</div>\n\n",
]

NO_CONTENT = " \t\n\u3000*_-"  # white space and the marks of thematic breaks and empty entries


def covered(source: Source, chunker: Chunker) -> bytearray:
    """Mark the characters of the source that some chunk holds."""
    marks = bytearray(len(source.text))
    for chunk in chunker.chunk(source):
        marks[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
    return marks


def assert_promises(source: Source, chunker: Chunker, max_tokens: int) -> None:
    chunks = chunker.chunk(source)
    places = [(chunk.section, chunk.start, chunk.end) for chunk in chunks]
    assert places == sorted(set(places))
    for chunk in chunks:
        section = source.sections[chunk.section]
        assert section.start <= chunk.start < chunk.end <= section.end
        assert chunk.text == source.text[chunk.start : chunk.end] == chunk.text.strip()
        assert len(chunk.embed_text) <= max_tokens
    marks = covered(source, chunker)
    for section in source.sections:
        for block in section.blocks:
            missed = "".join(source.text[place] for place in range(block.start, block.end) if not marks[place])
            assert block.kind == "heading" or not missed.strip(NO_CONTENT)


def read(text: str) -> Source:
    return MarkdownLoader().load(SourceFile("a.md", "a.md", text.encode()))


@every_chunker
@settings(max_examples=120, deadline=None, derandomize=True, database=None)
@given(
    parts=st.lists(st.sampled_from(PARTS), max_size=12),
    size=st.sampled_from([1, 7, 30, 101, 256]),
    max_tokens=st.sampled_from([30, 90, 512]),
)
def test_chunks_cover_the_text_in_order_inside_sections_and_window(make, parts, size, max_tokens):
    assert_promises(read("".join(parts)), make(size, max_tokens), max_tokens)


@every_chunker
@settings(max_examples=80, deadline=None, derandomize=True, database=None)
@given(text=st.text(alphabet="あが。、「」\n #|-*`1.é\u3099\u200d👩 ", max_size=120), size=st.integers(1, 40))
def test_no_text_can_break_it(make, text, size):
    assert_promises(read(text), make(size, 60), 60)


@every_chunker
def test_headings_are_in_the_path_of_their_chunks(make):
    chunks = make(100, 512).chunk(read("# 案内\n\n## 東館\n\n定員は四十名。\n\n## 西館\n\n定員は六十五名。\n"))
    assert [(chunk.heading_path, chunk.text) for chunk in chunks] == [
        (("案内", "東館"), "定員は四十名。"),
        (("案内", "西館"), "定員は六十五名。"),
    ]
    assert chunks[1].embed_text == "案内 / 西館\n定員は六十五名。"


@every_chunker
def test_a_heading_without_any_text_is_findable(make):
    chunks = make(100, 512).chunk(read("# 案内\n\n本文。\n\n## 夜間窓口は北門\n"))
    assert "夜間窓口は北門" in chunks[-1].text


@every_chunker
def test_a_source_without_text_has_no_chunks(make):
    assert make(100, 512).chunk(read(" \n\n---\n")) == []


@every_chunker
def test_sections_without_blocks_are_cut_too(make):
    text = "一頁の文。\n\n二つ目の段落。"
    source = Source("a.pdf", "a.pdf", "pdf", text, (Section((), 0, len(text), text, page=1),), "", 0)
    marks = covered(source, make(100, 512))
    assert all(marks[place] or text[place].isspace() for place in range(len(text)))


@every_chunker
def test_blank_lines_by_the_thousand_make_no_chunk(make):
    source = TextLoader().load(SourceFile("a.txt", "a.txt", b"one\n" + b"\n" * 60_000 + b"two\n"))
    assert [chunk.text for chunk in make(100, 512).chunk(source)] == ["one", "two"]


@every_chunker
def test_the_recipe_tells_settings_apart(make):
    assert make(100, 512).recipe != make(101, 512).recipe
    assert make(100, 512).recipe.endswith(" v1")
