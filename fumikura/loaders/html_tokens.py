"""HTML to tags and texts, as browsers split it, in linear time whatever the page holds.

The standard `html.parser` takes quadratic time on unclosed tags and comments (1 MB of `<a ` would hold the
worker for minutes). Here a construct that never ends ends the page, as the HTML standard has it.
"""

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_TAG_NAME = re.compile(r"[a-zA-Z][^\s/>]*")
_ATTRIBUTE = re.compile(
    r"""[\s/]*(?:(?P<end>>)|(?P<name>=?[^\s/>=]+|=)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*)?))?)"""
)
_RAW = {  # elements whose content is text up to their own end tag
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp")
}


@dataclass(frozen=True, slots=True)
class Tag:
    """A start or end tag; name and attribute names are lower case."""

    name: str
    is_end: bool
    attributes: Mapping[str, str]


def tokens(page: str) -> Iterator[Tag | str]:
    """Yield tags and texts (character references resolved) in order; comments and declarations are left out."""
    place = 0
    while (mark := page.find("<", place)) >= 0:
        if mark > place:
            yield html.unescape(page[place:mark])
        found, place = _construct(page, mark)
        if found is not None:
            yield found
        if isinstance(found, Tag) and not found.is_end and found.name in _RAW:
            end = _RAW[found.name].search(page, place)
            stop = end.start() if end else len(page)
            raw, place = page[place:stop], stop
            yield html.unescape(raw) if found.name in ("title", "textarea") else raw
    yield html.unescape(page[place:])


def _construct(page: str, mark: int) -> tuple[Tag | str | None, int]:
    """Return what stands at the `<` at `mark` (None: nothing to read) and where it ends."""
    is_end = page.startswith("/", mark + 1)
    name = _TAG_NAME.match(page, mark + 1 + is_end)
    if name:
        attributes, end = _attributes(page, name.end())
        return (Tag(name.group().lower(), is_end, attributes) if end else None), end or len(page)
    if page.startswith("<!--", mark):
        return None, _after(page, "-->", mark + 2)  # from mark + 2: "<!-->" is a whole comment
    if is_end or page.startswith(("!", "?"), mark + 1):
        return None, _after(page, ">", mark + 1)
    return "<", mark + 1


def _attributes(page: str, place: int) -> tuple[dict[str, str], int]:
    """Return the attributes and where the tag ends (0: it never does)."""
    found: dict[str, str] = {}
    while match := _ATTRIBUTE.match(page, place):
        place = match.end()
        if match["end"]:
            return found, place
        value = next((part for part in match.group(3, 4, 5) if part is not None), "")
        found.setdefault(match["name"].lower(), html.unescape(value))
    return found, 0


def _after(page: str, end: str, start: int) -> int:
    place = page.find(end, start)
    return place + len(end) if place >= 0 else len(page)
