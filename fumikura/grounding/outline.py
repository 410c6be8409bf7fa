"""Reads an answer into lines and sentences with their marks, so that it can be put together again in its shape."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fumikura.grounding.marks import Mark, take_marks, tidy
from fumikura.japanese import sentences

LineKind = Literal["text", "heading", "table", "table_head", "code", "blank"]

_PREFIX = re.compile(r"[ \t\u3000]*(?:(?:[-*+>]|#{1,6}|\d{1,3}[.)])[ \t]+|[・●○◦▪‣•■□]\s*|[①-⑳]\s*|\d{1,3}）\s*)*")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$")
_ONLY_SOURCES = re.compile(
    r"[\s*_(（]*(?:出典|参考(?:資料)?|参照|資料|sources?|references?)?[\s*_:：、,。.)）]*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence without its marks; `gap` is the blank before it, mark positions count from its start."""

    gap: str
    text: str
    marks: tuple[Mark, ...] = ()


@dataclass(slots=True)
class Line:
    """One line of the answer (a whole fenced block for code)."""

    kind: LineKind
    prefix: str = ""
    sentences: list[Sentence] = field(default_factory=list)


def read_outline(text: str, passage_texts: Sequence[str]) -> list[Line]:
    """Return the lines of an answer. A line that holds nothing but marks adds them to the sentence before it."""
    lines: list[Line] = []
    pieces = list(_pieces(text))
    for piece, following in zip(pieces, [*pieces[1:], ""], strict=True):
        line, loose = _read_line(piece, following, passage_texts)
        last = next((one for one in reversed(lines) if one.sentences), None)
        if loose and last:
            last.sentences[-1] = _with_marks(last.sentences[-1], loose)
        else:
            lines.append(line)
    return lines


def _pieces(text: str) -> Iterator[str]:
    """Yield lines, a fenced block as one."""
    block: list[str] = []
    fence = ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if fence or found:
            block.append(line)
            if fence and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                yield "\n".join(block)
                block, fence = [], ""
            elif not fence and found:
                fence = found[1]
        else:
            yield line
    if block:
        yield "\n".join(block)


def _read_line(piece: str, following: str, passage_texts: Sequence[str]) -> tuple[Line, tuple[int, ...]]:
    """Return the line, and the numbers of marks that stand alone in it."""
    if not piece.strip():
        return Line("blank"), ()
    if _FENCE.match(piece):
        return Line("code", "", [Sentence("", piece)]), ()
    if _TABLE_RULE.match(piece) and "-" in piece:
        return Line("table_head", piece), ()
    if piece.lstrip().startswith("|"):
        marked = take_marks(piece, passage_texts)
        kind: LineKind = "table_head" if _TABLE_RULE.match(following) and following else "table"
        return Line(kind, "", [Sentence("", marked.text.rstrip(), marked.marks)]), ()
    prefix = _prefix(piece)
    marked = take_marks(piece[len(prefix) :], passage_texts)
    if marked.marks and _ONLY_SOURCES.fullmatch(marked.text):
        return Line("blank"), tuple(n for mark in marked.marks for n in mark.numbers)
    kind = "heading" if "#" in prefix else "text"
    return Line(kind, prefix, list(_sentences(tidy(marked.text), marked.marks))), ()


def _prefix(line: str) -> str:
    match = _PREFIX.match(line)
    return match.group() if match else ""


def _sentences(text: str, marks: Iterable[Mark]) -> Iterator[Sentence]:
    """Yield sentences; a mark right after a full stop belongs to the sentence that it ends."""
    spans = sentences(text)
    owned: dict[int, list[Mark]] = {index: [] for index in range(len(spans))}
    for mark in marks:
        owner = max((index for index, (start, _) in enumerate(spans) if start < mark.position), default=0)
        if spans:
            start, end = spans[owner]
            owned[owner].append(Mark(min(max(0, mark.position - start), end - start), mark.numbers))
    previous = 0
    for index, (start, end) in enumerate(spans):
        yield Sentence(text[previous:start], text[start:end], tuple(owned[index]))
        previous = end


def _with_marks(sentence: Sentence, numbers: tuple[int, ...]) -> Sentence:
    return Sentence(sentence.gap, sentence.text, (*sentence.marks, Mark(len(sentence.text), numbers)))
