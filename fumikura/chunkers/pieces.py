"""Sections to pieces: what their author wrote as one thing, no longer than the size where it can be cut.

A piece is a small block as a whole, a sentence, a table row or a list entry. Knows nothing of tokens.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fumikura import japanese
from fumikura.chunkers.cutting import has_content, split_span, trimmed
from fumikura.chunkers.entries import Entry, read_entries
from fumikura.records import Block, Section

_PARENT_CHARACTERS = 80
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of the source's text; `lead` must be read before it when the text before it is not in the chunk."""

    start: int
    end: int
    lead: str = ""
    block: int = 0  # which block of the section it comes from


def body_blocks(text: str, section: Section) -> list[Block]:
    """Return the section's blocks but its headings, with text that no block holds as paragraphs."""
    blocks: list[Block] = []
    place = section.start
    for block in section.blocks:
        blocks += _paragraphs(text, place, block.start)
        blocks += [block] if block.kind != "heading" and has_content(text[block.start : block.end]) else []
        place = block.end
    return blocks + list(_paragraphs(text, place, section.end))


def pieces_of(text: str, block: Block, number: int, size: int) -> Iterator[Piece]:
    """Yield the block's pieces: itself when it fits `size`, else its sentences, rows, entries or lines."""
    header = _header(text, block)
    start, end = trimmed(text, block.start, block.end)
    if end - start <= size:
        yield Piece(start, end, header if _is_continued(block) else "", number)
    elif block.kind == "table":
        yield from _rows(text, block, number, header)
    elif block.kind == "list":
        yield from _entry_list(text, block, number, size)
    elif block.kind == "code":
        yield from (Piece(*span, "", number) for span in split_span(text, start, end, size))
    else:
        yield from sentence_pieces(text, start, end, number, size)


def sentence_pieces(text: str, start: int, end: int, number: int, size: int, lead: str = "") -> Iterator[Piece]:
    """Yield the sentences of `text[start:end]`; one above `size` is cut at a line end, a pause or a grapheme."""
    for first, last in japanese.sentences(text[start:end]):
        for span in split_span(text, start + first, start + last, size):
            yield Piece(*span, lead, number)


def packed(pieces: Sequence[Piece], size: int) -> Iterator[list[Piece]]:
    """Yield runs of pieces whose span is at most `size` (one piece may be longer).

    A run that begins inside a table or list, and so carries a lead, ends with what that lead stands above.
    """
    run: list[Piece] = []
    for piece in pieces:
        if run and (piece.end - run[0].start > size or not _shares_lead(run[0], piece)):
            yield run
            run = []
        run.append(piece)
    if run:
        yield run


def _shares_lead(first: Piece, piece: Piece) -> bool:
    return not first.lead or (first.block == piece.block and piece.lead.startswith(first.lead))


def _paragraphs(text: str, start: int, end: int) -> Iterator[Block]:
    place = start
    borders = [match.span() for match in _BLANK_LINES.finditer(text, start, end)]
    for stop, after in [*borders, (end, end)]:
        first, last = trimmed(text, place, stop)
        if has_content(text[first:last]):
            yield Block("paragraph", first, last)
        place = after


def _is_continued(block: Block) -> bool:
    return 0 < block.header_end <= block.start


def _header(text: str, block: Block) -> str:
    start = block.header_start if _is_continued(block) else block.start
    return text[start : block.header_end].strip()


def _rows(text: str, block: Block, number: int, header: str) -> Iterator[Piece]:
    """Yield one piece a row; the first one holds the header rows too, unless they lie in an earlier section."""
    start, lead = block.start, header if _is_continued(block) else ""
    after_header = max(block.header_end, block.start)
    for line in re.finditer(r"[^\n]*\S[^\n]*", text[after_header : block.end]):
        first, last = trimmed(text, start, after_header + line.end())
        yield Piece(first, last, lead, number)
        start, lead = last, header
    if start == block.start:
        yield Piece(*trimmed(text, start, block.end), lead, number)


def _entry_list(text: str, block: Block, number: int, size: int) -> Iterator[Piece]:
    entries = read_entries(text, block.start, block.end)
    head_end = entries[0].start if entries else block.end
    yield from sentence_pieces(text, block.start, head_end, number, size)
    for entry in entries:
        yield from _entry(text, entry, (), number, size)


def _entry(text: str, entry: Entry, parents: tuple[str, ...], number: int, size: int) -> list[Piece]:
    """Return an entry with all below it as one piece where it fits, else its own text and then its children."""
    lead = "\n".join(parents)
    start, end = trimmed(text, entry.start, entry.end)
    if end - start <= size:
        return [Piece(start, end, lead, number)]
    own_end = entry.children[0].start if entry.children else entry.end
    own = list(sentence_pieces(text, start, own_end, number, size, lead))
    path = (*parents, _label(text, entry.start, own_end))
    below = [piece for child in entry.children for piece in _entry(text, child, path, number, size)]
    # A parent at the end of one chunk and its children in the next would waste the parent.
    if own and below and below[0].end - own[-1].start <= size:
        own[-1] = replace(own[-1], end=below.pop(0).end)
    return own + below


def _label(text: str, start: int, end: int) -> str:
    line = text[start:end].split("\n", 1)[0].rstrip()
    return line if len(line) <= _PARENT_CHARACTERS else f"{line[:_PARENT_CHARACTERS]}…"
