"""Fixed windows of characters with an overlap, as the simplest notebook cuts. Knows no sentences."""

from collections.abc import Iterator

from fumikura import japanese
from fumikura.chunkers.cutting import grapheme_end, has_content
from fumikura.chunkers.sections import chunk_sections, make_chunk, require_positive
from fumikura.chunkers.tokens import CountTokens, TokenLimit
from fumikura.errors import SettingsError
from fumikura.records import Chunk, Section, Source


class FixedChunker:
    """Cuts every `size` characters, `overlap` of them shared with the next chunk; never inside a grapheme."""

    def __init__(self, size: int = 500, overlap: int = 100, *, max_tokens: int, count_tokens: CountTokens) -> None:
        require_positive("chunk.size", size)
        if not 0 <= overlap < size:
            raise SettingsError(
                ja=f"chunk.overlap は0以上、chunk.size({size})未満にしてください(今は {overlap})。",
                en=f"chunk.overlap must be at least 0 and below chunk.size ({size}); it is {overlap}.",
            )
        self._size = size
        self._overlap = overlap
        self._limit = TokenLimit(max_tokens, count_tokens)
        self.recipe = f"fixed size={size} overlap={overlap} v1"

    def chunk(self, source: Source) -> list[Chunk]:
        """Return the chunks in reading order. Raises SettingsError when the window holds no character."""
        return chunk_sections(source, self._cut, self._limit)

    def _cut(self, source: Source, number: int) -> Iterator[Chunk]:
        section = source.sections[number]
        start = read = _body_start(section)
        while start < section.end:
            stop = min(section.end, grapheme_end(source.text, start, min(section.end, start + self._size)))
            if has_content(source.text[start:stop]):
                whole = make_chunk(source, number, (start, stop))
                chunk = next(self._limit.fitted(source.text, whole))
                # Where the embedder's window is shorter than the size, the next chunk begins there.
                stop = stop if chunk.end == whole.end else chunk.end
                if chunk.end > read:  # else white space at the window's end left only the overlap
                    yield chunk
                read = chunk.end
            start = self._next_start(source.text, start, stop) if stop < section.end else stop

    def _next_start(self, text: str, start: int, stop: int) -> int:
        following = japanese.boundary(text, stop - self._overlap)
        return following if following > start else stop


def _body_start(section: Section) -> int:
    first = section.blocks[0] if section.blocks else None
    return first.end if first and first.kind == "heading" else section.start
