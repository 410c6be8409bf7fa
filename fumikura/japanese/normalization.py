"""Normalised text for matching, with the way back to the original. Texts are stored and quoted as they were written."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fumikura.japanese.characters import character_edits
from fumikura.japanese.numbers import date_edits, digit_edits, kanji_number_edits
from fumikura.japanese.rewrite import Edit, Rewrite, rewrite
from fumikura.japanese.spelling import katakana_edits, mark_edits, notation_edits

NORMALIZER_VERSION = "1"
"""Part of an index's recipe: a change here asks for a new keyword index."""

Step = Callable[[str], Iterator[Edit]]

_TO_WRITTEN: tuple[Step, ...] = (character_edits, notation_edits)
_TO_NUMBERS: tuple[Step, ...] = (kanji_number_edits, digit_edits, date_edits)
_TO_ONE_SPELLING: tuple[Step, ...] = (mark_edits, katakana_edits)


@dataclass(frozen=True, slots=True)
class Normalized:
    """A normalised text and the steps that made it from the original."""

    text: str
    rewrites: tuple[Rewrite, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the original that `text[start:end]` was made from."""
        for step in reversed(self.rewrites):
            start, end = step.back(start, end)
        return start, end


def _apply(text: str, steps: tuple[Step, ...]) -> list[Rewrite]:
    rewrites = []
    for step in steps:
        rewrites.append(rewrite(text, step(text)))
        text = rewrites[-1].text
    return rewrites


def normalize(text: str) -> Normalized:
    """Bring all spellings of one thing to one: width, case, variant kanji, numbers, years, katakana.

    Not length preserving; a lone surrogate becomes U+FFFD. Normalising twice changes nothing more.
    """
    rewrites = _apply(text, _TO_WRITTEN + _TO_NUMBERS + _TO_ONE_SPELLING)
    return Normalized(rewrites[-1].text, tuple(rewrites))


@dataclass(frozen=True, slots=True)
class Stages:
    """The texts between the steps, for terms that need an earlier one."""

    written: str  # era names still there
    dictionary: str  # numbers in digits, words spelled as a dictionary has them
    normalized: str


def stages(text: str) -> Stages:
    """Return the normalised text and what came before it."""
    written = _apply(text, _TO_WRITTEN)[-1].text
    dictionary = _apply(written, _TO_NUMBERS)[-1].text
    return Stages(written, dictionary, _apply(dictionary, _TO_ONE_SPELLING)[-1].text)
