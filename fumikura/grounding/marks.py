"""Finds citation marks of all shapes in a model's answer and takes them out of its text.

Recognised: [1] ［１］ 【1】 〔1〕 [[1]] [^1] [1, 2] [1-3] [出典: 1] (出典1) （資料１、２） [source 1]. Not taken for
marks: code, Markdown links, years such as [2024年] or [2024], bare (1), and brackets copied from a passage.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass

MOST_DIGITS = 3  # [2024] is a year
LONGEST_RANGE = 20  # [1-300] is no citation

_WORD = r"(?:出典|出所|資料|参照|参考|文献|引用|番号|sources?|refs?|references?|passages?|documents?|docs?|p)"
_NUMBERS = r"\d{1,4}(?:\s*(?:[-‐-–~〜～,、，;；・/&]|と|and)\s*\^?" + _WORD + r"?\s*[:：]?\s*\d{1,4})*"
_MARK = re.compile(
    rf"""
    (?P<gap>[ \t\u3000]*)
    (?: (?P<open>[\[［【〔]) [\[［^]? \s* (?:{_WORD}\s*(?:no\.?|番号)?\s*[:：.#]?\s*)? (?P<plain>{_NUMBERS}) \s*
          [\]］]? [\]］】〕]
      | [(（] \s* {_WORD} \s*(?:no\.?|番号)?\s*[:：.#]? \s* [\[［]? (?P<worded>{_NUMBERS}) [\]］]? \s* [)）] )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+")
_RANGE = re.compile(r"(\d+)\s*[-‐-–~〜～]\s*\D*?(\d+)")
_CODE = re.compile(r"(?P<ticks>`+).*?(?P=ticks)", re.DOTALL)
_LINK_TAIL = re.compile(r"\((?=[^()\s]*[./#:])|\[[^\]\d\n][^\]\n]*\]")
_DEFINITION_TAIL = re.compile(r":[ \t]*<?(?:[a-z][a-z0-9+.-]*:|[/#.])", re.IGNORECASE)
_CODE_TAIL = re.compile(r"[ \t]*(?:[=+*/<>]|-[ \t>])|\.[A-Za-z_]|\[\w+\][ \t]*=")
_LIVE = re.compile(r"\[(\d{1,3})\](?!\()")
_EMPTY_PAIRS = re.compile(r"\*\*\s*\*\*|[(（]\s*[)）]|__\s*__")
_CONTEXT_CHARS = 2


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark that was taken out: the place in the remaining text, and the passage numbers that it names."""

    position: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text without its marks, and the marks."""

    text: str
    marks: tuple[Mark, ...]


def take_marks(line: str, passage_texts: Iterable[str] = ()) -> MarkedText:
    """Take the citation marks out of one line of an answer.

    A bracket that stands in a passage with the same characters before it was copied from there: it stays, as ［3］ when
    it would otherwise read like one of our own marks.
    """
    sources = tuple(passage_texts)
    code = [match.span() for match in _CODE.finditer(line)]
    kept, marks, done, length = [], [], 0, 0
    for match in _MARK.finditer(line):
        if any(start <= match.start("gap") < end or start < match.end() <= end for start, end in code):
            continue
        if not (numbers := _numbers(match)) or _is_other_bracket(line, match):
            continue
        piece = line[done : match.start()]
        if _is_copied(line, match, sources):
            piece, numbers = piece + _unlike_a_mark(match.group()), ()
        kept.append(piece)
        length += len(piece)
        done = match.end()
        if numbers:
            marks.append(Mark(length, numbers))
    kept.append(line[done:])
    return MarkedText("".join(kept), tuple(marks))


def tidy(sentence: str) -> str:
    """Remove pairs that only held a mark, such as `****` and （）."""
    return _EMPTY_PAIRS.sub("", sentence)


def format_marks(numbers: Iterable[int]) -> str:
    """Write passage numbers in our one shape: `[1][2]`, ascending, without doubles."""
    return "".join(f"[{n}]" for n in sorted(set(numbers)))


def mute_unknown(text: str, known: Collection[int]) -> str:
    """Return text outside of code with every `[n]` that is no citation written ［n］, so that nothing links it."""
    return _LIVE.sub(lambda mark: mark[0] if int(mark[1]) in known else f"［{mark[1]}］", text)


def _numbers(match: re.Match[str]) -> tuple[int, ...]:
    """Return the numbers of a mark in order; () when it cannot be one."""
    body = unicodedata.normalize("NFKC", match["plain"] or match["worded"])
    if any(len(digits) > MOST_DIGITS for digits in _NUMBER.findall(body)):
        return ()
    found = [int(digits) for digits in _NUMBER.findall(body)]
    for first, last in _RANGE.findall(body):
        if int(last) - int(first) > LONGEST_RANGE:
            return ()
        found += range(int(first), int(last) + 1)
    return tuple(dict.fromkeys(found))


def _is_other_bracket(line: str, match: re.Match[str]) -> bool:
    """Whether the bracket is the text of a Markdown link, the label of a link definition, or an index in code."""
    if match["open"] != "[" or not match.group().endswith("]"):
        return False
    follows_name = not match["gap"] and bool(re.search(r"[A-Za-z_)]$", line[: match.start()]))
    tail = match.end()
    defines = not line[: match.start()].strip() and _DEFINITION_TAIL.match(line, tail)
    return bool(_LINK_TAIL.match(line, tail) or defines or (follows_name and _CODE_TAIL.match(line, tail)))


def _is_copied(line: str, match: re.Match[str], sources: tuple[str, ...]) -> bool:
    before = line[max(0, match.start() - _CONTEXT_CHARS) : match.start()]
    copied = before + match.group()
    return bool(before.strip()) and any(copied in source for source in sources)


def _unlike_a_mark(bracket: str) -> str:
    return re.sub(r"\[(\d+)\]", "［\\1］", bracket)
