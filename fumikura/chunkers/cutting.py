"""Where a text may be cut when nothing its author wrote ends there. Knows characters, not blocks or chunks."""

import re
from collections.abc import Iterator

import regex

from fumikura import japanese

Span = tuple[int, int]

# No line or chunk begins with these: closing marks, marks of pause, small kana, marks of repetition and length.
_NEVER_FIRST = frozenset(
    "、。，．・：；？！」』）】〉》〕］｝〙〗”’…‥々〻ゝゞヽヾー゛゜ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ,.)]}!?:;"
)
# Best first: blank line, line end, sentence end, pause, white space.
_SEPARATORS = tuple(re.compile(p) for p in (r"\n[^\S\n]*\n", r"\n", r"[。．！？!?]", r"[、，]|[,;:] ", r"\s"))
_MAX_GRAPHEME = 64  # twice what Unicode's stream-safe format allows; a longer pile of marks is cut inside
_GRAPHEME = regex.compile(r"\X")
_CONTENT = re.compile(r"[^\s*_-]")
_STEPS_BACK = 16


def has_content(text: str) -> bool:
    """Say whether there is more than white space and the marks of a thematic break."""
    return _CONTENT.search(text) is not None


def trimmed(text: str, start: int, end: int) -> Span:
    """Return the span without its outer white space; start == end when it is blank."""
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    return first, max(first, start + len(piece.rstrip()))


def split_span(text: str, start: int, end: int, limit: int) -> Iterator[Span]:
    """Yield trimmed spans of at most `limit` characters that cover `text[start:end]`, cut at the best place each.

    A span is longer only where a single grapheme is.
    """
    while end - start > limit:
        cut = min(end, _cut_place(text, start, start + limit))
        yield from _non_blank(text, start, cut)
        start = cut
    yield from _non_blank(text, start, end)


def grapheme_end(text: str, start: int, limit: int) -> int:
    """Return the greatest grapheme boundary in `text` up to `limit`, or the end of the first grapheme."""
    # Looked up in a slice: in a run of emoji the search for a boundary goes back as far as it may.
    place = japanese.boundary(text[start : limit + _MAX_GRAPHEME], limit - start)
    if place > 0:
        return start + place
    first = _GRAPHEME.match(text, start, min(len(text), start + _MAX_GRAPHEME))
    return first.end() if first else limit


def _non_blank(text: str, start: int, end: int) -> Iterator[Span]:
    first, last = trimmed(text, start, end)
    if first < last:
        yield first, last


def _cut_place(text: str, start: int, limit: int) -> int:
    """Return the last good place in the second half of the window, else a grapheme boundary."""
    middle = (start + limit) // 2
    for separator in _SEPARATORS:
        places = [match.end() for match in separator.finditer(text, middle, limit) if _may_start(text, match.end())]
        if places:
            return places[-1]
    return _boundary_to_start_at(text, start, limit)


def _boundary_to_start_at(text: str, start: int, limit: int) -> int:
    last = place = grapheme_end(text, start, limit)
    for _ in range(_STEPS_BACK):
        if text[place : place + 1] not in _NEVER_FIRST:
            return place
        place = grapheme_end(text, start, place - 1)
    return last


def _may_start(text: str, place: int) -> bool:
    return text[place : place + 1] not in _NEVER_FIRST and japanese.boundary(text, place) == place
