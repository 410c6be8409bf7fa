"""Keeps chunks inside the embedder's window by counting tokens, never by guessing from characters."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from fumikura.chunkers.cutting import Span, split_span
from fumikura.errors import SettingsError
from fumikura.records import Chunk

CountTokens = Callable[[str], int]


class TokenLimit:
    """The embedder's window and its own count of tokens (prefix and special tokens included)."""

    def __init__(self, max_tokens: int, count_tokens: CountTokens) -> None:
        if max_tokens < 1:
            raise _window_too_small(max_tokens)
        self._max_tokens = max_tokens
        self._count = count_tokens

    def fits(self, chunk: Chunk) -> bool:
        """Say whether the embedder can read all of the chunk's `embed_text`."""
        return self._count(chunk.embed_text) <= self._max_tokens

    def shortened(self, chunk: Chunk) -> Chunk:
        """Return the chunk with heading path and lead within half of the window.

        Outer headings go first, then the lead's end, then the heading's end.
        """
        while (chunk.heading_path or chunk.lead) and self._context_tokens(chunk) > self._max_tokens // 2:
            chunk = _with_less_context(chunk)
        return chunk

    def fitted(self, text: str, chunk: Chunk) -> Iterator[Chunk]:
        """Yield the chunk, shortened or in pieces where it does not fit. `text` is the source's."""
        if self.fits(chunk):
            yield chunk
            return
        short = self.shortened(chunk)
        if self.fits(short):
            yield short
            return
        for start, end in self._halves(text, short.start, short.end):
            yield from self.fitted(text, replace(short, start=start, end=end, text=text[start:end]))

    def fitted_spans(self, text: str, span: Span) -> Iterator[Span]:
        """Yield the span, in pieces where its bare text does not fit."""
        if self._count(text[span[0] : span[1]]) <= self._max_tokens:
            yield span
            return
        for half in self._halves(text, *span):
            yield from self.fitted_spans(text, half)

    def _halves(self, text: str, start: int, end: int) -> list[Span]:
        middle = (end - start + 1) // 2
        halves = list(split_span(text, start, end, middle))
        if len(halves) > 1:
            return halves
        if end - start == 1:
            raise _window_too_small(self._max_tokens)
        return [(start, start + middle), (start + middle, end)]  # one grapheme of many code points

    def _context_tokens(self, chunk: Chunk) -> int:
        return self._count(replace(chunk, text="").embed_text)


def _with_less_context(chunk: Chunk) -> Chunk:
    if len(chunk.heading_path) > 1:
        return replace(chunk, heading_path=chunk.heading_path[1:])
    if chunk.lead:
        return replace(chunk, lead=_front_half(chunk.lead))
    heading = _front_half(chunk.heading_path[0])
    return replace(chunk, heading_path=(heading,) if heading else ())


def _front_half(text: str) -> str:
    half = text.removesuffix("…")[: len(text) // 2].rstrip()
    return f"{half}…" if len(half) > 1 else ""


def _window_too_small(max_tokens: int) -> SettingsError:
    return SettingsError(
        ja=f"埋め込みモデルの上限 {max_tokens} トークンには1文字も入りません。埋め込みの設定を確かめてください。",
        en=f"An embedder's window of {max_tokens} tokens holds not even one character: check the embedding settings.",
    )
