"""Markdown text to its top-level blocks with offsets. Knows the syntax, not files or sections."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.token import Token

from fumikura.records import Block, BlockKind

# Measured: 1 million characters of short list entries take 2.8 s and 140 MB in one parse; windows bound the memory.
WINDOW_CHARACTERS = 100_000
LARGEST_WINDOW_CHARACTERS = 800_000
_MAX_HEADING_CHARACTERS = 200
_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
}
_HEADING_ID = re.compile(r"\s*(?:\{/\*.*?\*/\}|\{#[^{}\s]+\})\s*$")
# CommonMark leaves **「重要」** next to kana as it stands; in a heading the marks are never meant to be read.
_LEFT_EMPHASIS = re.compile(r"\*\*(.+?)\*\*")


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A block, and for headings the level (1-6) and the heading's plain text."""

    block: Block
    level: int = 0
    heading: str = ""


class MarkdownBlocks:
    """Finds top-level blocks. Thematic breaks hold no text and give no block.

    `window` and `largest_window` are characters parsed at once: for any text, and for one block that goes on.
    """

    def __init__(self, window: int = WINDOW_CHARACTERS, largest_window: int = LARGEST_WINDOW_CHARACTERS) -> None:
        self._window = window
        self._largest_window = largest_window
        self._parser = MarkdownIt("commonmark").enable("table").disable("reference")
        # Inline parsing takes half of the time and is needed for headings only; the text is normalised already.
        self._parser.core.ruler.enableOnly(["block"])
        self._inline = MarkdownIt("commonmark")

    def read(self, text: str) -> Iterator[MarkdownBlock]:
        """Yield the blocks of `text` in order.

        Parses window by window: all blocks of a window but the last are closed for good, and parsing goes on at the
        start of the last one. So memory is bounded, and the result is that of one parse (blocks other than code that
        alone exceed the largest window are closed there).
        """
        start, size = 0, self._window
        while start < len(text):
            end = _line_end(text, start + size)
            found = list(self._parse(text, start, end))
            if end < len(text) and len(found) == 1 and self._may_grow(found[0], size):
                size *= 2
                continue
            if end < len(text) and len(found) > 1:
                end = found.pop().block.start
            yield from found
            start, size = end, self._window

    def _may_grow(self, only: MarkdownBlock, size: int) -> bool:
        """Allow code any length, since it costs one token; close other blocks at the largest window."""
        return only.block.kind == "code" or size < self._largest_window

    def _parse(self, text: str, start: int, end: int) -> Iterator[MarkdownBlock]:
        window = text[start:end]
        lines = list(accumulate((len(line) + 1 for line in window.split("\n")), initial=start))
        tokens = self._parser.parse(window)
        for place, token in enumerate(tokens):
            if token.level == 0 and token.map and token.type != "hr":
                found = self._block(text, lines, tokens, place)
                if found.block.start < found.block.end:  # to CommonMark a full-width space is text
                    yield found

    def _block(self, text: str, lines: Sequence[int], tokens: Sequence[Token], place: int) -> MarkdownBlock:
        token = tokens[place]
        first, after = token.map or [0, 0]
        start = lines[first]
        end = start + len(text[start : lines[after]].rstrip())
        kind = _KINDS.get(token.type, "paragraph")
        if kind == "table":
            return MarkdownBlock(Block(kind, start, end, header_end=lines[first + 2] - 1))
        if kind == "heading" and _is_heading(token, tokens[place + 1].content):
            return MarkdownBlock(Block(kind, start, end), int(token.tag[1]), self._plain(tokens[place + 1].content))
        return MarkdownBlock(Block("paragraph" if kind == "heading" else kind, start, end))

    def _plain(self, markdown: str) -> str:
        inline = self._inline.parseInline(_HEADING_ID.sub("", markdown))[0].children or []
        text = "".join(" " if token.type.endswith("break") else token.content for token in inline if _is_text(token))
        return " ".join(_LEFT_EMPHASIS.sub(r"\1", text).split(" ")).strip()


def _is_text(token: Token) -> bool:
    return token.type != "html_inline"


def _is_heading(token: Token, content: str) -> bool:
    """Tell headings from prose with a rule right below it, which the setext syntax takes for one."""
    if len(content) > _MAX_HEADING_CHARACTERS:
        return False
    return token.markup.startswith("#") or not ("\n" in content or content.endswith(("。", "．", ".")))


def _line_end(text: str, place: int) -> int:
    return (text.find("\n", place) + 1 or len(text)) if place < len(text) else len(text)
