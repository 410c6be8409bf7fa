"""Plain text files to sources: paragraphs by blank lines, no guessed headings, no mark-up taken away."""

import re
from collections.abc import Iterator

from fumikura.loaders.decoding import decode
from fumikura.loaders.reading import make_source
from fumikura.loaders.sections import Outline, build_sections
from fumikura.records import Block, Section, Source, SourceFile

_PARAGRAPH_END = re.compile(r"\n[^\S\n]*(?=\n)|\Z")
_CONTENT = re.compile(r"\S")


class TextLoader:
    """Reads plain text of any encoding that `decode` knows. `encoding` overrides the guess."""

    suffixes = (".txt", ".text", ".log")

    def __init__(self, encoding: str | None = None) -> None:
        self._encoding = encoding

    def load(self, file: SourceFile) -> Source:
        """Return the source with one section (more above 20,000 characters). Raises UnreadableSource."""
        decoded = decode(file.content, self._encoding)
        return make_source(file, "text", decoded, self.sections_of(decoded.text))

    def sections_of(self, text: str) -> tuple[Section, ...]:
        """Return the sections of an extracted text."""
        blocks = list(_paragraphs(text))
        return build_sections(text, [Outline((), 0, blocks)]) if blocks else ()


def _paragraphs(text: str) -> Iterator[Block]:
    content = _CONTENT.search(text)
    while content is not None:
        found = _PARAGRAPH_END.search(text, content.end())
        end = found.start() if found else len(text)
        start = content.start()
        yield Block("paragraph", start, start + len(text[start:end].rstrip()))
        content = _CONTENT.search(text, end)
