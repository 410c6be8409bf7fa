"""Facet patterns: whether an answer says something, whatever its spelling, and does not deny it."""

import re
from functools import lru_cache

from fumikura.japanese import normalize

_REGULAR = "re:"
_DECORATION = re.compile(r"\[\d+(?:, ?\d+)*\]|\*\*|__|`")
# Between Latin words a space stays; 「16 GB」 and 「十 冊」 lose theirs.
_SPACE = re.compile(r"(?<![0-9a-z])[^\S\n]+|[^\S\n]+(?![0-9a-z])|(?<=[0-9])[^\S\n]+(?=[a-z])")
_COUNTER_KA = re.compile(r"(?<=[0-9])[カヵヶケ箇](?=[月所国年条])")
# 「瀬戸ではなく」 denies the word before it, also when only its first part was matched (「瀬戸口さんではなく」);
# 「瀬戸だけではなく」 and 「瀬戸ではないか」 do not.
_NOT = r"(?:ない(?!か)|なく|なかった|なけれ|ありません(?!か)|ございません)"
_DENIED = re.compile(
    rf"[一-鿿々ァ-ヺー]{{0,6}}(?:さん|氏|君|様|先生|のこと|の方)?(?:(?:では|じゃ|でも){_NOT}|以外)"
    rf"|{_NOT}|[てで]い?(?:ない|なかった|ません)"
    r"|(?:という|との|とは|かどうか|なのか)[^。、\n]{0,10}(?:ない|なかった|ません|不明|わから|分から)"
)
_QUANTITY_END = re.compile(r"[0-9](?:年|か月|週間|日|時間|分|冊|本|回)$")
_HOUR_END = re.compile(r"[0-9]時$")


def matching_text(text: str) -> str:
    """Return `text` as patterns see it: normalised, without citation marks, emphasis and spaces between words."""
    plain = _SPACE.sub("", _DECORATION.sub("", normalize(text).text))
    return _COUNTER_KA.sub("か", plain)


@lru_cache(maxsize=4096)
def compile_pattern(written: str) -> re.Pattern[str]:
    """Return the expression for plain words or for what follows `re:`.

    Plain words that begin or end in a number match no part of a longer one: 12 is not in 120, 112 or 1.12, and
    neither 15時 in 15時半 nor 2年 in 2年半. Raises re.error for a bad expression, ValueError for an empty one.
    """
    expression = written.removeprefix(_REGULAR) if written.startswith(_REGULAR) else _expression(written)
    if not expression or re.compile(expression).match(""):
        raise ValueError("matches everything")
    return re.compile(expression)


def _expression(words: str) -> str:
    literal = matching_text(words)
    return _edge_before(literal[:1]) + re.escape(literal) + _edge_after(literal) if literal else ""


def _edge_before(first: str) -> str:
    if first.isascii() and first.isdigit():
        return r"(?<![0-9a-z])(?<![0-9][.,])"
    return r"(?<![a-z])" if first.isascii() and first.isalpha() else ""


def _edge_after(literal: str) -> str:
    if _HOUR_END.search(literal):
        return r"(?!半|間|0*[1-9][0-9]*分)"
    if _QUANTITY_END.search(literal):
        return r"(?!半)"
    last = literal[-1]
    if last.isascii() and last.isdigit():
        return r"(?![0-9]|[.,][0-9])"
    return r"(?![a-z])" if last.isascii() and last.isalpha() else ""


def says(text: str, pattern: str) -> bool:
    """Tell whether `text` (as `matching_text` returns it) says the pattern at least once without denying it."""
    return any(not _DENIED.match(text, hit.end()) for hit in compile_pattern(pattern).finditer(text))
