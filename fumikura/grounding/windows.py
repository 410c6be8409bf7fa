"""Whether one place of a passage says a number of the thing that the claim says it of.

A place is a sentence, list entry or table row with what stands above it (heading path, title, table header, list
parent), if need be with the sentence beside it. Swapped numbers inside one clause pass.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fumikura.grounding.features import Claim, Features, features
from fumikura.grounding.quantities import Quantity, Subject, quantities, units_agree
from fumikura.japanese import normalize, sentences
from fumikura.records import Passage

SUBJECT_SHARE = 0.5  # of the nouns that say what a number is of, by length

_AFTERNOON = re.compile(r"午後|夜|夕方|p\.?m\b")
_TOPIC = re.compile(r"[^\W\d](?:は|も|って)(?!じ|ず|や|ん)")
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
        """Whether a place holds the number, in an agreeing unit, and the nouns that say what it is of."""
        units = self._read()
        for index, unit in enumerate(units):
            for own in unit.quantities:
                if _is_same(subject.quantity, own, wanted, unit.text) and self._tells(index, own, subject, wanted):
                    return True
        # A number in a heading, the title or the date holds for all below it.
        above = normalize(_context(self._passage)).text
        return any(_is_same(subject.quantity, own, wanted, above) for own in quantities(above)) and (
            not subject.is_near or self._share(subject, [above, *(unit.text for unit in units)]) >= SUBJECT_SHARE
        )

    def _tells(self, index: int, own: Quantity, subject: Subject, wanted: Claim) -> bool:
        if not subject.nouns:
            return True
        units = self._read()
        unit = units[index]
        clause = [*(_row_parts(unit, own) if unit.is_row else _clause(unit, own))]
        near = [*clause, unit.above]
        if self._share(subject, near) >= SUBJECT_SHARE:
            return True
        # A sentence with a topic of its own (入会金は500円) borrows none, unless that too was spoken of.
        is_other = bool(_TOPIC.search(unit.text)) and not any(word in part for word in wanted.spoken for part in clause)
        if unit.is_row or (subject.is_near and is_other):
            return False
        beside = [other for other in (index - 1, index + 1) if 0 <= other < len(units) and not units[other].is_row]
        return any(
            self._share(subject, [*near, units[other].text]) >= SUBJECT_SHARE
            for other in beside
            if not (subject.is_near and any(own.competes(quantity) for quantity in units[other].quantities))
        )

    def _share(self, subject: Subject, texts: Iterable[str]) -> float:
        """Return the share of the subject's nouns that the texts hold; less than 0 when one of its names is missing."""
        joined = " ".join(text for text in texts if text)
        spaceless = _BLANK.sub("", joined)
        held = total = 0.0
        for noun in subject.nouns:
            total += len(noun.surface)
            if noun.surface in spaceless:
                held += len(noun.surface)
            elif noun.is_name and subject.is_near:
                return -1.0
            else:
                held += len(noun.surface) * self._read_features(joined).holds(noun.word)
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
    if not units_agree(claimed.unit, held.unit):
        return False
    if claimed.number == held.number:
        return True
    if not (claimed.number.isdigit() and held.number.isdigit()):
        return False
    later = int(claimed.number) - int(held.number)
    return (later == 12 and bool(_AFTERNOON.search(text))) or (later == -12 and wanted.in_afternoon)


def _clause(unit: _Unit, own: Quantity) -> list[str]:
    """Return the sentence; of one with several numbers of the kind only the clause, with the topic that it shares."""
    if not any(own.competes(other) for other in unit.quantities):
        return [unit.text]
    cuts = [0, *(match.start() for match in _CLAUSE.finditer(unit.text)), len(unit.text)]
    start = max(cut for cut in cuts if cut <= own.start)
    end = min(cut for cut in cuts if cut > own.start)
    clause = unit.text[start:end]
    return [clause] if _TOPIC.search(clause) else [clause, unit.text[: unit.quantities[0].start]]


def _row_parts(unit: _Unit, own: Quantity) -> Iterator[str]:
    """Yield the row's cells and their column names, without columns that hold another number of the kind."""
    names = unit.header.strip(" |").split("|")
    place = 0
    for index, cell in enumerate(unit.text.strip(" |").split("|")):
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
        text = normalize(written).text
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
