"""Markdown files to sources: front matter, headings, blocks. The text stays what its author wrote."""

from collections.abc import Iterable

from fumikura.loaders.decoding import decode
from fumikura.loaders.front_matter import read_front_matter
from fumikura.loaders.markdown_blocks import MarkdownBlock, MarkdownBlocks
from fumikura.loaders.reading import make_source
from fumikura.loaders.sections import Outline, build_sections
from fumikura.records import Section, Source, SourceFile


class MarkdownLoader:
    """Reads CommonMark with tables and YAML front matter. `encoding` overrides the guess."""

    suffixes = (".md", ".markdown")

    def __init__(self, encoding: str | None = None) -> None:
        self._encoding = encoding
        self._blocks = MarkdownBlocks()

    def load(self, file: SourceFile) -> Source:
        """Return the source; its title is the front matter's, else the first heading of level 1, else the file name.

        Raises UnreadableSource when the bytes hold no text.
        """
        decoded = decode(file.content, self._encoding)
        front = read_front_matter(decoded.text)
        body = decoded.text[front.body_start :]
        blocks = list(self._blocks.read(body))
        return make_source(
            file,
            "markdown",
            decoded,
            _sections(body, blocks),
            title=front.values.get("title", "") or _first_title(blocks),
            metadata=front.values,
            notices=front.notices,
        )

    def sections_of(self, text: str) -> tuple[Section, ...]:
        """Return the sections of an extracted text, from which the front matter is gone already."""
        return _sections(text, list(self._blocks.read(text)))


def _first_title(blocks: Iterable[MarkdownBlock]) -> str:
    return next((block.heading for block in blocks if block.level == 1 and block.heading), "")


def _sections(text: str, blocks: Iterable[MarkdownBlock]) -> tuple[Section, ...]:
    outlines = _outlines(blocks)
    return build_sections(text, outlines) if outlines else ()


def _outlines(blocks: Iterable[MarkdownBlock]) -> list[Outline]:
    """Group blocks under their headings; the first outline starts with the text."""
    outlines: list[Outline] = []
    path: list[tuple[int, str]] = []
    for found in blocks:
        if found.level:
            path = [entry for entry in path if entry[0] < found.level] + [(found.level, found.heading)]
        if found.level or not outlines:
            outlines.append(_open(path, found.block.start if outlines else 0))
        outlines[-1].blocks.append(found.block)
    return outlines


def _open(path: list[tuple[int, str]], start: int) -> Outline:
    return Outline(tuple(heading for _, heading in path if heading), start, [])
