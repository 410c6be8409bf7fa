"""Sections that together are the whole text, none above 20,000 characters. Knows blocks, not file kinds."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fumikura import japanese
from fumikura.records import Block, Section

MAX_SECTION_CHARACTERS = 20_000
_ENTRY_START = re.compile(r"^(?:[-+*]|\d{1,9}[.)])(?=\s)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outline:
    """The blocks under one heading; the text runs from `start` to the next outline's start."""

    heading_path: tuple[str, ...]
    start: int
    blocks: list[Block]


def build_sections(text: str, outlines: Sequence[Outline]) -> tuple[Section, ...]:
    """Return contiguous sections that cover `text`; a long one continues in further sections of the same path."""
    ends = [outline.start for outline in outlines[1:]] + [len(text)]
    return tuple(
        section for outline, end in zip(outlines, ends, strict=True) for section in _limited(text, outline, end)
    )


def _limited(text: str, outline: Outline, end: int) -> Iterator[Section]:
    start, blocks = outline.start, list(outline.blocks)
    while end - start > MAX_SECTION_CHARACTERS:
        cut = _cut_place(text, blocks, start)
        before = [_clip(text, block, cut) for block in blocks if block.start < cut]
        yield _section(text, outline.heading_path, start, cut, before)
        blocks = [_continued(block, cut) for block in blocks if block.end > cut]
        start = cut
    yield _section(text, outline.heading_path, start, end, blocks)


def _section(text: str, path: tuple[str, ...], start: int, end: int, blocks: Sequence[Block]) -> Section:
    inside = tuple(block for block in blocks if block.start < block.end)
    return Section(path, start, end, text[start:end], blocks=inside)


def _cut_place(text: str, blocks: Sequence[Block], start: int) -> int:
    """Return the last block start within the limit, or a place inside the block that is too long itself."""
    limit = start + MAX_SECTION_CHARACTERS
    body = next((block for block in blocks if block.kind != "heading"), None)
    first_body = body.start if body else limit
    block_starts = [block.start for block in blocks if first_body < block.start <= limit]
    across = next((block for block in blocks if block.start < limit < block.end), None)
    if block_starts:
        return block_starts[-1]
    return limit if across is None else _cut_inside(text, across, max(start, across.start), limit)


def _cut_inside(text: str, block: Block, start: int, limit: int) -> int:
    """Prefer the start of a top-level list entry, then a line or sentence end, else a grapheme boundary."""
    window = text[start:limit]
    place = window.rfind("\n") + 1
    if block.kind == "list":
        place = max((match.start() for match in _ENTRY_START.finditer(window)), default=0) or place
    elif block.kind == "paragraph":
        place = max((sentence_start for sentence_start, _ in japanese.sentences(window)), default=0) or place
    return start + (place or _inside_line(text, start, limit))


def _inside_line(text: str, start: int, limit: int) -> int:
    """Return the offset in `text[start:]` of the last comma or space before the limit, or of a grapheme boundary."""
    window = text[start:limit]
    place = max(window.rfind("、"), window.rfind("\u3000"), window.rfind(" ")) + 1
    return place or japanese.boundary(text[start : limit + 64], limit - start) or limit - start


def _clip(text: str, block: Block, cut: int) -> Block:
    """Return the part of `block` before `cut`, without the white space at its end."""
    if block.end <= cut:
        return block
    return replace(block, end=block.start + len(text[block.start : cut].rstrip()))


def _continued(block: Block, cut: int) -> Block:
    """Keep a table that goes on pointing at its header rows, which lie in an earlier section."""
    if block.start >= cut:
        return block
    header_start = block.header_start if block.header_end <= block.start else block.start
    return replace(block, start=cut, header_start=header_start if block.header_end else 0)
