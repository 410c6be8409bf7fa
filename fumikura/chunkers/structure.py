"""Chunks along what the author wrote: paragraphs, sentences, table rows, list entries, code. The default."""

from collections.abc import Iterator

from fumikura.chunkers.pieces import Piece, body_blocks, packed, pieces_of
from fumikura.chunkers.sections import chunk_sections, make_chunk, require_positive
from fumikura.chunkers.tokens import CountTokens, TokenLimit
from fumikura.records import Chunk, Source


class StructureChunker:
    """Packs whole pieces of one section up to `size` characters, without overlap.

    Rows carry their table's header and entries their parents in `lead`. A row above `size` stays whole; anything
    else above it is cut at the end of a sentence, a line, a pause or a grapheme.
    """

    def __init__(self, size: int = 256, *, max_tokens: int, count_tokens: CountTokens) -> None:
        require_positive("chunk.size", size)
        self._size = size
        self._limit = TokenLimit(max_tokens, count_tokens)
        self.recipe = f"structure size={size} v1"

    def chunk(self, source: Source) -> list[Chunk]:
        """Return the chunks in reading order. Raises SettingsError when the window holds no character."""
        return chunk_sections(source, self._cut, self._limit)

    def _cut(self, source: Source, number: int) -> Iterator[Chunk]:
        blocks = enumerate(body_blocks(source.text, source.sections[number]))
        pieces = [piece for place, block in blocks for piece in pieces_of(source.text, block, place, self._size)]
        for run in packed(pieces, self._size):
            yield from fitted_run(source, number, run, self._limit)


def fitted_run(source: Source, number: int, run: list[Piece], limit: TokenLimit) -> Iterator[Chunk]:
    """Yield a run of pieces as one chunk, or as more where the embedder's window asks for it: whole pieces first."""
    chunk = make_chunk(source, number, (run[0].start, run[-1].end), run[0].lead)
    if limit.fits(chunk):  # counted once: an embedder's own count takes 0.1 ms
        yield chunk
        return
    short = limit.shortened(chunk)
    middle = len(run) // 2
    if middle == 0 or limit.fits(short):
        yield from limit.fitted(source.text, short)
        return
    yield from fitted_run(source, number, run[:middle], limit)
    yield from fitted_run(source, number, run[middle:], limit)
