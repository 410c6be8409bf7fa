"""First step: width, case, composition, invisible characters and variant forms, character by character."""

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import normalize as unicode_normalize

from fumikura.japanese.rewrite import Edit
from fumikura.japanese.tables import DASHES, INVISIBLE, SAME

# Marks that join the character before them: dakuten of either width, accents, jamo vowels and finals.
_JOINING = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u1160-\u11ff\u20d0-\u20f0\u3099\u309a\uff9e\uff9f" + INVISIBLE
)


def _unchanged_kanji() -> str:
    folded = sorted(char for char in SAME if "\u4e00" <= char <= "\u9fff")
    edges = ["\u4dff", *folded, "\ua000"]
    ranges = ((chr(ord(low) + 1), chr(ord(high) - 1)) for low, high in zip(edges, edges[1:], strict=False))
    return "".join(f"{low}-{high}" for low, high in ranges if low <= high)


# Only what this class leaves out is looked at: plain Japanese text then costs one regular expression scan.
_UNCHANGED = rf"\t\n\r -@\[-~、。「」『』【】・々〆ゝゞヽヾぁ-ゖァ-ヴー{_unchanged_kanji()}"
_CHANGED = re.compile(rf"[^{_UNCHANGED}][{_JOINING}]*")
_JOINS = re.compile(f"[{_JOINING}]")
_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_KATAKANA = re.compile("[ァ-ヺー]")
_WORD_AFTER = re.compile(r"[0-9A-Za-z０-９Ａ-Ｚａ-ｚ]")


@lru_cache(maxsize=8192)
def _fold(cluster: str) -> str:
    if cluster[0] in SAME:
        cluster = SAME[cluster[0]] + cluster[1:]
    composed = unicode_normalize("NFKC", _INVISIBLE.sub("", cluster)).lower()
    return _SURROGATE.sub("\ufffd", "".join(SAME.get(char, char) for char in composed))


def _is_long_mark(text: str, position: int) -> bool:
    """Tell whether a minus sign stands for ー, as old converters left it: サ−バ."""
    return bool(_KATAKANA.match(text, max(position - 1, 0)) and not _WORD_AFTER.match(text, position + 1))


def character_edits(text: str) -> Iterator[Edit]:
    """Yield NFKC, lower case and our own tables; a lone surrogate becomes U+FFFD."""
    for match in _CHANGED.finditer(text):
        start, end = match.span()
        cluster = match[0]
        if _JOINS.match(cluster) and start:
            start -= 1
            cluster = text[start:end]
        folded = "ー" if cluster in DASHES and _is_long_mark(text, start) else _fold(cluster)
        if folded != cluster:
            yield start, end, folded
