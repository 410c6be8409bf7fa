"""Web pages to sources: their text as Markdown with headings, lists and tables; menus, scripts and hidden parts out.

Nothing of the text is escaped, so that a quote from it stands on the page word for word.
"""

import re
from collections.abc import Iterator

from fumikura.loaders.decoding import Decoded, clean_text, decode
from fumikura.loaders.html_tokens import Tag, tokens
from fumikura.loaders.html_tree import BLOCKS, HEADINGS, Element, read_tree
from fumikura.loaders.markdown import MarkdownLoader
from fumikura.loaders.reading import make_source
from fumikura.records import Section, Source, SourceFile

_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_DECLARED_WITHIN = 4096  # bytes; browsers look at the first 1024
# As browsers read these labels: Windows writes more under them than the standards hold.
_CODECS = {"shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "iso-8859-1": "cp1252"}
_SPACE = re.compile(r"[ \t\n\r\f\xa0]+")
_CJK = r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]"
_WRAPPED = re.compile(rf"(?<={_CJK})[ \t]*\n\s*(?={_CJK})")  # a line break between kanji is no space
_DATE_NAMES = ("article:published_time", "date", "dcterms.created", "dc.date")
MOST_FILLED = 20  # empty cells behind a short row of a table
_LISTS = ("ul", "ol", "menu")
_BREAK = "\x00"  # stands for <br> while spaces are joined; `clean_text` has taken every real one


class HtmlLoader:
    """Reads HTML and XHTML of a declared or recognised encoding. `encoding` overrides both."""

    suffixes = (".html", ".htm", ".xhtml")

    def __init__(self, encoding: str | None = None) -> None:
        self._encoding = encoding
        self._markdown = MarkdownLoader()

    def load(self, file: SourceFile) -> Source:
        """Return the source; its title is the page's, else its first heading. Raises UnreadableSource."""
        decoded = decode(file.content, self._encoding) if self._encoding else decode_page(file.content)
        root = read_tree(decoded.text)
        text = "\n\n".join(_Page().read(_main(root)))
        return make_source(
            file,
            "html",
            decoded,
            self.sections_of(text + "\n" if text else ""),
            title=page_title(decoded.text) or _first_heading(root),
            metadata=_metadata(root),
        )

    def sections_of(self, text: str) -> tuple[Section, ...]:
        """Return the sections of an extracted text, which is Markdown."""
        return self._markdown.sections_of(text)


def decode_page(content: bytes, charset: str = "") -> Decoded:
    """Return the page's text by `charset` (a server's word) or the page's own, where the bytes bear that out."""
    if not content.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        declared = _CHARSET.search(content[:_DECLARED_WITHIN])
        for label in (charset, declared.group(1).decode("ascii") if declared else ""):
            text = _decoded_strictly(content, label)
            if text is not None:
                return Decoded(clean_text(text), _CODECS.get(label.lower(), label.lower()))
    return decode(content)


def page_title(page: str) -> str:
    """Return what the page calls itself, "" when it does not."""
    found = tokens(page)
    for token in found:
        if isinstance(token, Tag) and token.name == "title" and not token.is_end:
            text = next(found, "")
            return _joined(text) if isinstance(text, str) else ""
    return ""


def _decoded_strictly(content: bytes, label: str) -> str | None:
    """None: unknown, or the bytes are of another encoding after all (then they are recognised)."""
    if not label or b"\x00" in content[:_DECLARED_WITHIN]:
        return None
    try:
        return content.decode(_CODECS.get(label.lower(), label))
    except (LookupError, UnicodeError):
        return None


def _main(root: Element) -> Element:
    """Return the page's own main part where it marks one that holds text."""
    for element in root.elements():
        if (element.name == "main" or element.attributes.get("role") == "main") and element.text().strip():
            return element
    return root


def _first_heading(root: Element) -> str:
    return next((_flat(element) for element in root.elements() if element.name == "h1"), "")


def _metadata(root: Element) -> dict[str, str]:
    for element in root.elements():
        name = element.attributes.get("property") or element.attributes.get("name", "")
        if element.name == "meta" and name.lower() in _DATE_NAMES and element.attributes.get("content"):
            return {"date": element.attributes["content"][:10]}
    return {}


class _Page:
    """Collects the blocks of a page; the texts between two block borders become one paragraph."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._inline: list[str] = []

    def read(self, element: Element) -> list[str]:
        """Return the element's blocks in reading order."""
        self._visit_children(element)
        self._end_paragraph()
        return self._blocks

    def _visit_children(self, element: Element) -> None:
        for child in element.children:
            if isinstance(child, str):
                self._inline.append(child)
            elif child.is_shown:
                self._visit(child)

    def _visit(self, element: Element) -> None:
        if element.name not in BLOCKS:
            self._visit_inline(element)
            return
        self._end_paragraph()
        if element.name in HEADINGS:
            self._add_heading(element)
        elif element.name == "pre":
            self._add_code(element)
        elif element.name in _LISTS:
            self._add("\n".join(_list_lines(element, 0)))
        elif element.name == "table" and not _is_layout(element):
            self._add("\n".join(_table_lines(element)))
        else:
            self._visit_children(element)
        self._end_paragraph()

    def _visit_inline(self, element: Element) -> None:
        if element.name == "br":
            self._inline.append(_BREAK)
        elif element.name == "rt":
            self._inline.append(_reading(element))
        else:
            self._visit_children(element)

    def _add_heading(self, element: Element) -> None:
        text = _flat(element)
        self._add(f"{'#' * int(element.name[1])} {text}" if text else "")

    def _add_code(self, element: Element) -> None:
        text = element.text().strip("\n")
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
        self._add(f"{fence}\n{text}\n{fence}" if text.strip() else "")

    def _end_paragraph(self) -> None:
        text, self._inline = _joined("".join(self._inline)), []
        self._add(text)

    def _add(self, block: str) -> None:
        if block:
            self._blocks.append(block)


def _list_lines(element: Element, depth: int) -> Iterator[str]:
    """Yield a line an entry; four spaces a level stand inside of both "- " and "12. "."""
    number = 0
    for entry in element.children:
        if isinstance(entry, str) or not entry.is_shown:
            continue
        if entry.name in _LISTS:  # a list straight inside a list
            yield from _list_lines(entry, depth + 1)
            continue
        number += 1
        mark = f"{number}." if element.name == "ol" else "-"
        if text := _flat(entry, without=_LISTS):
            yield f"{'    ' * depth}{mark} {text}"
        for inner in _inner_lists(entry):
            yield from _list_lines(inner, depth + 1)


def _inner_lists(element: Element) -> Iterator[Element]:
    for child in element.children:
        if isinstance(child, Element) and child.is_shown:
            if child.name in _LISTS:
                yield child
            else:
                yield from _inner_lists(child)


def _is_layout(table: Element) -> bool:
    """Return whether the table arranges the page: it holds blocks, or never two cells side by side."""
    inside = [element for element in table.elements() if element is not table]
    blocks = HEADINGS | {"table", "ul", "ol", "pre", "form"}
    return any(element.name in blocks for element in inside) or max(map(len, _rows(table)), default=0) < 2


def _table_lines(table: Element) -> Iterator[str]:
    caption = next((element for element in table.elements() if element.name == "caption"), None)
    if caption and (text := _flat(caption)):
        yield text + "\n"
    rows = [row for row in _rows(table) if any(row)]
    width = max(map(len, rows), default=0)
    for place, row in enumerate(rows):
        # Filling every row up to the widest one would make 180 MB of a hostile page of 157 KB.
        missing = width - len(row) if place == 0 else min(width - len(row), MOST_FILLED)
        yield "| " + " | ".join(row + [""] * missing) + " |"
        if place == 0:
            yield "|" + "---|" * width


def _rows(table: Element) -> list[list[str]]:
    rows = [element for element in table.elements() if element.name == "tr" and element.is_shown]
    return [
        [
            _flat(cell).replace("|", "\\|")
            for cell in row.children
            if isinstance(cell, Element) and cell.name in ("td", "th") and cell.is_shown
        ]
        for row in rows
    ]


def _flat(element: Element, without: tuple[str, ...] = ()) -> str:
    """Return the element's text on one line; `without` names elements to leave out."""
    return _joined("".join(_pieces(element, without)))


def _pieces(element: Element, without: tuple[str, ...]) -> Iterator[str]:
    for child in element.children:
        if isinstance(child, str):
            yield child
        elif child.name == "rt":
            yield _reading(child)
        elif child.is_shown and child.name not in without:
            border = " " if child.name in BLOCKS or child.name == "br" else ""
            yield border
            yield from _pieces(child, without)
            yield border


def _reading(element: Element) -> str:
    text = _joined(element.text())
    return f"（{text}）" if text else ""


def _joined(text: str) -> str:
    """Return the text with its spaces as a browser shows them; the author's own breaks stay line breaks."""
    lines = _SPACE.sub(" ", _WRAPPED.sub("", text)).split(_BREAK)
    return "\n".join(line.strip() for line in lines).strip("\n")
