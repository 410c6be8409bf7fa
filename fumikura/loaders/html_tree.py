"""The elements of a page as a tree: what HTML leaves unclosed is closed, what nobody sees is left out."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fumikura.loaders.html_tokens import Tag, tokens

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
BLOCKS = HEADINGS | frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form"
    " header hgroup hr html li main menu nav ol p pre search section summary table tbody td tfoot th thead tr ul"
    " caption".split()
)
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
# Menus and controls are no text of the page; nor is what a browser never shows.
_LEFT_OUT = frozenset(
    "script style title template noscript nav head svg math iframe object embed video audio canvas map button select"
    " input textarea datalist dialog noembed noframes rp meta link".split()
)
_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_TABLE_PARTS = frozenset(("thead", "tbody", "tfoot", "tr", "td", "th"))
_ENDED_BY = {  # an open element (left) ends where one of these begins inside of its container
    "li": frozenset(("li",)),
    "dt": frozenset(("dt", "dd")),
    "dd": frozenset(("dt", "dd")),
    "td": _TABLE_PARTS,
    "th": _TABLE_PARTS,
    "tr": _TABLE_PARTS - {"td", "th"},
    "thead": frozenset(("tbody", "tfoot")),
    "tbody": frozenset(("tbody", "tfoot")),
    "rt": frozenset(("rt", "rp", "rb")),
    "rp": frozenset(("rt", "rp", "rb")),
}
_ENDING = frozenset().union(*_ENDED_BY.values())
_CONTAINERS = frozenset(("ul", "ol", "menu", "dl", "table", "ruby"))
# Deeper elements hang flat under their ancestor, so that no page exhausts Python's stack.
_DEEPEST = 150


@dataclass(slots=True)
class Element:
    """An element with its children in order: elements and texts."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: list["Element | str"] = field(default_factory=list)

    @property
    def is_shown(self) -> bool:
        """Whether a reader of the page sees it as part of its text."""
        hidden = "hidden" in self.attributes or self.attributes.get("aria-hidden", "").lower() == "true"
        return not (hidden or self.name in _LEFT_OUT or _HIDING_STYLE.search(self.attributes.get("style", "")))

    def elements(self) -> Iterator["Element"]:
        """Yield the element and all within it, in order."""
        left = [self]
        while left:
            element = left.pop()
            yield element
            left += [child for child in reversed(element.children) if isinstance(child, Element)]

    def text(self) -> str:
        """Return all texts within, as they stand."""
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)


def read_tree(page: str) -> Element:
    """Return the page's root element."""
    root = Element("")
    opened = [root]
    for token in tokens(page):
        if isinstance(token, str):
            opened[-1].children.append(token)
        elif token.is_end:
            _close(opened, token.name)
        else:
            _open(opened, token)
    return root


def _open(opened: list[Element], tag: Tag) -> None:
    if tag.name in BLOCKS:
        _close_paragraph(opened)
        _close_head(opened)
    if tag.name in _ENDING:
        _close_neighbour(opened, tag.name)
    element = Element(tag.name, tag.attributes)
    opened[-1].children.append(element)
    if tag.name not in _VOID and len(opened) < _DEEPEST:
        opened.append(element)


def _close(opened: list[Element], name: str) -> None:
    """Close the innermost open element of this name; a stray end tag closes nothing."""
    place = next((place for place in range(len(opened) - 1, 0, -1) if opened[place].name == name), 0)
    if place and (name in BLOCKS or not _has_block(opened[place + 1 :])):
        del opened[place:]


def _close_paragraph(opened: list[Element]) -> None:
    place = next((place for place in range(len(opened) - 1, 0, -1) if opened[place].name in BLOCKS), 0)
    if opened[place].name == "p":
        del opened[place:]


def _close_head(opened: list[Element]) -> None:
    place = next((place for place, element in enumerate(opened[:4]) if element.name == "head"), 0)
    if place:
        del opened[place:]


def _close_neighbour(opened: list[Element], name: str) -> None:
    """Close the entry, cell or row that a new one of this name ends."""
    for place in range(len(opened) - 1, 0, -1):
        if opened[place].name in _CONTAINERS:
            return
        if name in _ENDED_BY.get(opened[place].name, ()):
            del opened[place:]
            return


def _has_block(elements: Iterable[Element]) -> bool:
    """Whether an end tag like </b> would close a block that was opened inside: browsers do not let it."""
    return any(element.name in BLOCKS for element in elements)
