"""Whether one place of a passage says a number of the thing that the claim says it of.

A place is a sentence, list entry or table row with what stands above it (heading path, title, table header, list
parent), if need be with the sentence beside it. Swapped numbers inside one clause pass.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fumikura.grounding.features import Claim, Features, features
from fumikura.grounding.names import has_weekday
from fumikura.grounding.quantities import WEEKDAY, Quantity, Subject, quantities, units_agree, with_clock
from fumikura.japanese import normalize, sentences
from fumikura.records import Passage

SUBJECT_SHARE = 0.5  # of the nouns that say what a number is of
LONGEST_NOUN = 2  # おばあちゃん weighs no more than 祖母
RIVAL_MARGIN = 0.15  # where another place names more of them than this with its number, that one is meant
FURTHEST_LENDER = 4  # sentences or lines before a number: 氏名, 所属, 席, 内線

_AFTERNOON = re.compile(r"午後|夜|夕方|p\.?m\b")
_TOPIC = re.compile(r"[^\W\d](?:は|も|って)(?!じ|ず|や|ん)")
_OWNER = re.compile(r"[^、。はも]+の(?=[^、。はもの]+は)")
_CLAUSE = re.compile(r"[、。，,・／/（(]")
_BLANK = re.compile(r"\s+")
_HEADING = re.compile(r"#{1,6}\s")
_ENTRY = re.compile(r"(?:[-*+・●○◦•■□]|\d{1,3}[.)．])\s*\S")
_TABLE_RULE = re.compile(r"[|:\-\s]+$")


@dataclass(slots=True)
class _Unit:
    """A sentence, entry or row; `above` is what must be read with it."""

    text: str
    above: str
    quantities: list[Quantity]
    is_row: bool = False
    header: str = ""


class Windows:
    """The places of one passage, read when first asked for."""

    def __init__(self, passage: Passage) -> None:
        self._passage = passage
        self._units: list[_Unit] | None = None
        self._features: dict[str, Features] = {}

    def hold(self, wanted: Claim, subject: Subject) -> bool:
        """Whether a place holds the number, in an agreeing unit, and the nouns that say what it is of.

        Where a sentence or row itself gives such a number of those nouns, no heading lends them to another number.
        """
        places = [(index, own) for index, unit in enumerate(self._read()) for own in unit.quantities]
        rivals = [place for place in places if units_agree(subject.quantity.unit, place[1].unit)]
        same = [place for place in rivals if _is_same(subject.quantity, place[1], wanted, self._read()[place[0]].text)]
        if not subject.nouns and same:
            return True
        if subject.quantity.unit == WEEKDAY and not same:  # written as 火・金 or (火)
            return any(has_weekday(unit.text, subject.quantity.number) for unit in self._read())
        best = max((self._says(*place, subject) for place in rivals), default=0.0)
        if same and subject.is_near and best >= SUBJECT_SHARE:
            said = max(self._says(*place, subject) for place in same)
            return said >= max(SUBJECT_SHARE, best - RIVAL_MARGIN)
        if any(self._is_lent(*place, subject, wanted) for place in same):
            return True
        # A number in a heading, the title or the date holds for all below it.
        above = with_clock(normalize(_context(self._passage)).text)
        return any(_is_same(subject.quantity, own, wanted, above) for own in quantities(above)) and (
            not subject.is_near or self._share(subject, [above, *(unit.text for unit in self._read())]) >= SUBJECT_SHARE
        )

    def _says(self, index: int, own: Quantity, subject: Subject) -> float:
        """Return how much of the subject the sentence or row itself names with the number."""
        return self._share(subject, _clause(self._read()[index], own))

    def _is_lent(self, index: int, own: Quantity, subject: Subject, wanted: Claim) -> bool:
        """Whether what stands above the number's place, or beside it, says what the number is of."""
        units = self._read()
        unit = units[index]
        clause = _clause(unit, own)
        near = [*clause, unit.above]
        if self._share(subject, near) >= SUBJECT_SHARE:
            return True
        # A sentence with a topic of its own (入会金は500円) borrows none, unless that too was spoken of.
        is_other = bool(_TOPIC.search(unit.text)) and not any(word in part for word in wanted.spoken for part in clause)
        if unit.is_row or (subject.is_near and is_other):
            return False
        before = self._beside(range(index - 1, index - 1 - FURTHEST_LENDER, -1), own, subject)
        after = self._beside(range(index + 1, index + 2), own, subject)
        return any(self._share(subject, [*near, *lent]) >= SUBJECT_SHARE for lent in (before, after))

    def _beside(self, indices: Iterable[int], own: Quantity, subject: Subject) -> list[str]:
        """Return the sentences there, up to one that has another such number."""
        units = self._read()
        lent: list[str] = []
        for index in indices:
            if not 0 <= index < len(units) or units[index].is_row:
                break
            if subject.is_near and any(own.competes(quantity) for quantity in units[index].quantities):
                break
            lent.append(units[index].text)
        return lent

    def _share(self, subject: Subject, texts: Iterable[str]) -> float:
        """Return the share of the subject's nouns that the texts hold; less than 0 when one of its names is missing."""
        joined = " ".join(text for text in texts if text)
        spaceless = _BLANK.sub("", joined)
        held = total = 0.0
        for noun in subject.nouns:
            weight = min(len(noun.surface), LONGEST_NOUN)
            total += weight
            if noun.surface in spaceless:
                held += weight
            elif noun.is_name and subject.is_near:
                return -1.0
            else:
                held += weight * self._read_features(joined).holds(noun.word)
        return held / total if total else 1.0

    def _read_features(self, text: str) -> Features:
        if text not in self._features:
            self._features[text] = features(text)
        return self._features[text]

    def _read(self) -> list[_Unit]:
        if self._units is None:
            self._units = list(_units(self._passage))
        return self._units


def _is_same(claimed: Quantity, held: Quantity, wanted: Claim, text: str) -> bool:
    if not units_agree(claimed.unit, held.unit) or (claimed.minute and held.unit and claimed.minute != held.minute):
        return False
    if claimed.number == held.number:
        return True
    if not (claimed.number.isdigit() and held.number.isdigit()):
        return False
    later = int(claimed.number) - int(held.number)
    return (later == 12 and bool(_AFTERNOON.search(text))) or (later == -12 and wanted.in_afternoon)


def _clause(unit: _Unit, own: Quantity) -> list[str]:
    """Return the sentence; of one with several numbers of the kind only the clause, with the topic that it shares."""
    if unit.is_row:
        return list(_row_parts(unit, own))
    if not any(own.competes(other) and not own.touches(other) for other in unit.quantities):
        return [unit.text]
    rivals = [other.start for other in unit.quantities if own.competes(other) and not own.touches(other)]
    before = max((start for start in rivals if start < own.start), default=-1)
    after = min((start for start in rivals if start > own.start), default=len(unit.text))
    cuts = [match.start() for match in _CLAUSE.finditer(unit.text)]
    start = min((cut for cut in cuts if before < cut <= own.start), default=0) if before >= 0 else 0
    end = max((cut for cut in cuts if own.start < cut < after), default=after) if after < len(unit.text) else after
    clause = unit.text[start:end]
    topic = _TOPIC.search(clause)
    if not topic:
        return [clause, unit.text[: unit.quantities[0].start]]
    owner = _OWNER.match(unit.text)  # 図書室の開館は9時、閉館は17時: the library's too
    return [clause] if not owner or "の" in clause[: topic.end()] else [clause, owner[0]]


def _row_parts(unit: _Unit, own: Quantity) -> Iterator[str]:
    """Yield the row's cells and their column names, without columns that hold another number of the kind."""
    names = unit.header.strip().removeprefix("|").split("|")
    place = 0
    for index, cell in enumerate(unit.text.strip().removeprefix("|").split("|")):
        begin = unit.text.index(cell, place) if cell else place
        place = begin + len(cell)
        inside = [one for one in unit.quantities if begin <= one.start < place]
        if own in inside or not any(own.competes(one) for one in inside):
            yield cell
            yield names[index] if index < len(names) else ""


def _context(passage: Passage) -> str:
    parts = (passage.source, passage.title, *passage.heading_path, passage.date or "", passage.lead)
    return "\n".join(part for part in parts if part)


def _units(passage: Passage) -> Iterator[_Unit]:
    """Yield the places of a passage in order, each with its headings, table header or list parents."""
    outer = normalize(_context(passage)).text
    lead_rows = [line for line in passage.lead.splitlines() if line.strip().startswith("|")]
    header = normalize(lead_rows[0]).text if lead_rows else ""
    heading, in_table = "", bool(lead_rows)
    parents: list[tuple[int, str]] = []
    for start, end in sentences(passage.text):
        line_start = passage.text.rfind("\n", 0, start) + 1
        indent = start - line_start
        is_first = not passage.text[line_start:start].strip()
        written = passage.text[start:end]
        text = with_clock(normalize(written).text)
        if _HEADING.match(written):
            heading, parents, in_table = text, [], False
            continue
        if written.startswith("|"):
            if not in_table:
                header, in_table = text, True
            if not _TABLE_RULE.match(written):
                yield _Unit(text, f"{outer} {heading}", quantities(text), is_row=True, header=header)
            continue
        in_table = False
        is_entry = is_first and bool(_ENTRY.match(written))
        if is_first:
            parents = [(depth, name) for depth, name in parents if depth < indent and (depth >= 0 or is_entry)]
        above = " ".join([outer, heading, *(name for _, name in parents)])
        found = quantities(text)
        yield _Unit(text, above, found)
        if is_entry:
            parents.append((indent, text))
        elif written[-1] in ":：" or not found:  # what a list after it is about
            parents = [(-1, text)]
