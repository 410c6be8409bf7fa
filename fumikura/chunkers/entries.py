"""The entries of a Markdown list as a tree. Knows markers and indentation, nothing else of Markdown."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_MARKER = re.compile(r"(?P<indent>[ \t]*)(?P<marker>[-+*]|\d{1,9}[.)])(?P<space>[ \t]+|$)", re.MULTILINE)
_FENCE = re.compile(r"[ \t]*(?:[-+*]|\d{1,9}[.)])?[ \t]*(`{3,}|~{3,})")


@dataclass(slots=True)
class Entry:
    """A list entry from its line's start to the start of its next sibling; `content` is the column of its text."""

    start: int
    end: int
    content: int
    children: list["Entry"] = field(default_factory=list)


def read_entries(text: str, start: int, end: int) -> list[Entry]:
    """Return the top-level entries of the list in `text[start:end]`, children inside (CommonMark's column rule)."""
    root = Entry(start, end, -1)
    above = [root]
    for line_start, indent, content in _markers(text, start, end):
        while indent < above[-1].content:
            above.pop().end = line_start
        entry = Entry(line_start, end, content)
        above[-1].children.append(entry)
        above.append(entry)
    return root.children


def _markers(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield line start, indentation and content column of the entries' first lines, fenced code left out."""
    fence = ""
    for line in _LINE.finditer(text, start, end):
        if not fence and (marker := _MARKER.match(text, line.start(), line.end())):
            indent = len(marker["indent"].expandtabs(4))
            space = len(marker["space"].expandtabs(4))
            yield line.start(), indent, indent + len(marker["marker"]) + (space if 1 <= space <= 4 else 1)
        mark = _FENCE.match(text, line.start(), line.end())
        if mark and not fence:
            fence = mark[1]
        elif mark and fence and mark[1].startswith(fence):
            fence = ""
