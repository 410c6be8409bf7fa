"""Edits to a text that remember where every character came from."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

Edit = tuple[int, int, str]
"""Replace `text[start:end]` by a string."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A text after one step of edits. The four lists hold one entry for each edit that moved characters."""

    text: str
    new_starts: list[int]
    new_ends: list[int]
    old_starts: list[int]
    old_ends: list[int]

    def back(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the text before the edits that `text[start:end]` was made from."""
        first = self._old(start)[0]
        return (first, self._old(end - 1)[1]) if end > start else (first, first)

    def _old(self, position: int) -> tuple[int, int]:
        i = bisect_right(self.new_starts, position) - 1
        if i < 0:
            return position, position + 1
        if position < self.new_ends[i]:
            return self.old_starts[i], self.old_ends[i]
        old = position - self.new_ends[i] + self.old_ends[i]
        return old, old + 1


def rewrite(text: str, edits: Iterable[Edit]) -> Rewrite:
    """Apply edits that are in order and do not overlap."""
    pieces: list[str] = []
    result = Rewrite("", [], [], [], [])
    position = length = 0
    for start, end, replacement in edits:
        pieces += (text[position:start], replacement)
        length += start - position
        if end - start != 1 or len(replacement) != 1:  # one for one moves nothing
            result.new_starts.append(length)
            result.new_ends.append(length + len(replacement))
            result.old_starts.append(start)
            result.old_ends.append(end)
        length += len(replacement)
        position = end
    pieces.append(text[position:])
    return Rewrite("".join(pieces), result.new_starts, result.new_ends, result.old_starts, result.old_ends)
