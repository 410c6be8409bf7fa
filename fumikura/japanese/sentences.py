"""Borders of sentences and of what a reader sees as one character."""

import re
from collections.abc import Iterator

import regex

_GRAPHEME = regex.compile(r"\X")
_PLAIN = re.compile(r"[ -~、。ぁ-ゖァ-ヺ一-鿿]")
_LOOK_BACK = 1024  # an emoji with all its joiners is far shorter


def boundary(text: str, position: int) -> int:
    """Return the greatest grapheme boundary <= `position`: never inside an emoji, か + dakuten or CRLF."""
    if position <= 0 or position >= len(text):
        return max(0, min(position, len(text)))
    start = max(0, position - 1)
    floor = max(0, position - _LOOK_BACK)
    while start > floor and not _PLAIN.match(text, start):
        start -= 1
    found = start
    for match in _GRAPHEME.finditer(text, start, min(len(text), position + _LOOK_BACK)):
        if match.end() > position:
            return int(match.start())
        found = int(match.end())
    return found


_OPEN = "「『（(【〈《［[〔｛{“"
_CLOSE = "」』）)】〉》］]〕｝}”"
_PAIRED = dict(zip(_CLOSE, _OPEN, strict=True))
_BRACKET_LENGTH = 200  # a longer quotation is split inside
_WRAPPED_LENGTH = 30  # a shorter line is a heading, an entry or a verse, not a paragraph cut by its line width

_BREAK = re.compile(r"[。．｡！？!?]+|\.+|\n\s*")
_TAIL = re.compile(rf"(?:[{re.escape(_CLOSE)}])*(?:[ 　]?\[\d{{1,3}}\])*")  # closing brackets, then citation numbers
_BRACKET = re.compile(rf"[{re.escape(_OPEN + _CLOSE)}]|\n\s*\n")
_ABBREVIATION = re.compile(
    r"(?:^|[^A-Za-z])(?:[A-Z]|[A-Za-z]\.[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|No|Nos|Fig|Eq|Vol|pp?|vs|cf|approx|Inc|Ltd|Co|Corp)$"
)
_QUOTED_ON = re.compile("[とはがをにのもでなっやらかへだし、。]")  # 「…。」 と言った
_LATIN = re.compile("[0-9A-Za-z０-９Ａ-Ｚａ-ｚ]")
_LINE_END = re.compile(r"[ぁ-ゖァ-ヺー一-鿿a-z,、，]")
_LINE_START = re.compile(r"[ぁ-ゖァ-ヺ一-鿿A-Za-z]")


def _bracketed(text: str) -> list[tuple[int, int]]:
    """Return the outermost bracket pairs of at most _BRACKET_LENGTH characters; none spans a blank line."""
    pairs: list[tuple[int, int]] = []
    stack: list[tuple[str, int]] = []
    for match in _BRACKET.finditer(text):
        char, position = match[0], match.start()
        if char in _PAIRED:
            while stack and (stack[-1][0] != _PAIRED[char] or position - stack[-1][1] >= _BRACKET_LENGTH):
                stack.pop()
            if stack:
                start = stack.pop()[1]
                while pairs and pairs[-1][0] > start:
                    pairs.pop()
                pairs.append((start, position + 1))
        elif len(char) == 1:
            stack.append((char, position))
        else:
            stack.clear()
    return pairs


def _is_wrapped(text: str, newline: re.Match[str]) -> bool:
    """Tell whether a line ends for its width only, in the middle of a sentence."""
    start, end = newline.span()
    long_line = start >= _WRAPPED_LENGTH and "\n" not in text[start - _WRAPPED_LENGTH : start]
    return bool(
        long_line and newline[0].count("\n") == 1 and _LINE_END.match(text, start - 1) and _LINE_START.match(text, end)
    )


def _is_end(text: str, mark: re.Match[str]) -> bool:
    """Tell whether a mark outside brackets ends a sentence; a full stop may belong to 3.5, Dr. or a file name."""
    if mark[0][0] == "\n":
        return not _is_wrapped(text, mark)
    after = text[mark.end() : mark.end() + 1]
    if mark[0].strip("．") == "":
        return not (_LATIN.match(after) and _LATIN.match(text, mark.start() - 1))
    if mark[0].strip("!?."):
        return True
    if after and not after.isspace() and after not in _CLOSE:
        return False
    before = text[max(0, mark.start() - 10) : mark.start()]
    numbered = before.rsplit("\n", 1)[-1].strip().isdigit()
    return mark[0] != "." or not (numbered or _ABBREVIATION.search(before))


def _cuts(text: str) -> Iterator[int]:
    pairs = iter([*_bracketed(text), (len(text) + 1, len(text) + 1)])
    opened, closed = next(pairs)
    for mark in _BREAK.finditer(text):
        while closed <= mark.start():
            opened, closed = next(pairs)
        tail = _TAIL.match(text, mark.end())
        end = tail.end() if tail else mark.end()
        if mark.start() < opened:
            if _is_end(text, mark):
                yield mark.start() if mark[0][0] == "\n" else end
        elif end >= closed and mark[0][0] != "\n":
            if text[closed - 1] not in "」』”" or not _QUOTED_ON.match(text, end):
                yield end


def sentences(text: str) -> list[tuple[int, int]]:
    """Return trimmed spans of sentences and lines; only white space lies between them.

    A quotation 「…。…」 stays whole, citation numbers stay with the sentence before them, and a line break inside a
    long line's sentence is no border.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for cut in [*_cuts(text), len(text)]:
        piece = text[start:cut]
        stripped = piece.strip()
        if stripped:
            first = start + len(piece) - len(piece.lstrip())
            spans.append((first, first + len(stripped)))
        start = max(start, cut)
    return spans
