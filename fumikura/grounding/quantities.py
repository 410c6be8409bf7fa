"""The numbers of a normalised text with their units, and what a sentence says each of them is of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fumikura.grounding.names import VAGUE_NOUNS, Noun

_QUANTITY = re.compile(
    r"(?P<number>\d+(?:\.\d+)?) ?"
    r"(?P<unit>[かヶヵケカ箇](?=月|所|国|年|条)|時間(?!帯|割)|つ|[一-鿿ァ-ヺ%]|[a-z]{1,2}(?![a-z]))?"
    r"(?:(?<=時)(?=(?P<minute>\d{1,2})分))?"
)
# Units that count the same thing, and one letter for each measure.
_SAME_UNIT = str.maketrans(
    {
        **dict.fromkeys("人方", "名"),
        **dict.fromkeys("つケ", "個"),
        **dict.fromkeys("ヶヵカ箇", "か"),
        **dict.fromkeys("頭羽尾", "匹"),
        **dict.fromkeys("軒戸", "件"),
        "才": "歳",
        "度": "回",
        "号": "番",
        "ペ": "p",
        "頁": "p",
        "キ": "k",
        "グ": "g",
        "セ": "c",
        "メ": "m",
        "ミ": "m",
        "リ": "l",
        "ト": "t",
        "ワ": "w",
        "パ": "%",
    }
)
WEEKDAY = "曜"
_WEEKDAY = re.compile(r"([月火水木金土日])曜")
_CLOCK = re.compile(r"(?<![\d:.])(\d{1,2}):(\d{2})(?![\d:])")
_ORDINAL = re.compile(r"(?<=第)[一二三四五](?=[月火水木金土日])")
_PAUSE = re.compile(r"[、。；;]|, ")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it stands in a text; `unit` is one character, "" when none follows."""

    number: str
    unit: str
    start: int
    end: int  # of the number itself
    minute: str = ""  # of an hour: 18時30分

    def competes(self, other: "Quantity") -> bool:
        """Whether another number could stand in this one's place: 300円 beside 3,000円."""
        return self.number != other.number and self.unit == other.unit

    def touches(self, other: "Quantity") -> bool:
        """Whether both are parts of one figure in the same text (2.4.1)."""
        return self.end + 1 == other.start or other.end + 1 == self.start


@dataclass(frozen=True, slots=True)
class Subject:
    """One number of a sentence and the nouns that say what it is of; `is_near` when they stand right before it."""

    quantity: Quantity
    nouns: tuple[Noun, ...]
    is_near: bool


def quantities(normal: str) -> list[Quantity]:
    """Return the numbers of a normalised text in order, and its weekdays as numbers of 曜."""
    found = [
        Quantity(plain(match["number"]), _unit(match["unit"]), *match.span("number"), match["minute"] or "")
        for match in _QUANTITY.finditer(normal)
    ]
    days = [Quantity(match[1], WEEKDAY, *match.span(1)) for match in _WEEKDAY.finditer(normal)]
    return sorted([*found, *days], key=lambda one: one.start)


def units_agree(claimed: str, held: str) -> bool:
    """Whether 26名 may rest on 26 (a table cell), but not on 26円."""
    return not claimed or not held or claimed == held


def subjects(normal: str, found: Sequence[Quantity], nouns: Sequence[Noun]) -> tuple[Subject, ...]:
    """Return each number with the nouns before it, back to the number or the pause before; else with all nouns."""
    telling = tuple(noun for noun in nouns if noun.word not in VAGUE_NOUNS and noun.surface not in VAGUE_NOUNS)
    result: list[Subject] = []
    previous = 0
    for quantity in found:
        between = tuple(noun for noun in telling if previous <= noun.start < quantity.start)
        pauses = [match.end() for match in _PAUSE.finditer(normal, previous, quantity.start)]
        near = tuple(noun for noun in between if pauses and noun.start >= pauses[-1]) or between
        if near or pauses or not result:
            result.append(Subject(quantity, near or telling, bool(near)))
        else:  # 2026年5月1日: one thing
            result.append(Subject(quantity, result[-1].nouns, result[-1].is_near))
        previous = quantity.end
    return tuple(result)


def with_clock(normal: str) -> str:
    """Return a normalised text with 14:30 as 14時30分, 14:00 as 14時 and 第二水曜 as 第2水曜."""
    normal = _ORDINAL.sub(lambda ordinal: str("一二三四五".index(ordinal[0]) + 1), normal)
    return _CLOCK.sub(lambda clock: f"{clock[1]}時" + (f"{clock[2]}分" if clock[2] != "00" else ""), normal)


def plain(number: str) -> str:
    """Return a number without leading zeros."""
    whole, dot, part = number.partition(".")
    return (whole.lstrip("0") or "0") + dot + part


def _unit(written: str | None) -> str:
    if not written:
        return ""
    return "間" if written == "時間" else written[0].translate(_SAME_UNIT)
