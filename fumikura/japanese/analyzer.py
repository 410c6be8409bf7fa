"""Terms for the keyword index: character bigrams, and words in the dictionary's normalised form."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from threading import local

from sudachipy import Dictionary, SplitMode
from sudachipy.tokenizer import Tokenizer

from fumikura.japanese.normalization import stages
from fumikura.japanese.numbers import era_names
from fumikura.japanese.spelling import KANJI, one_spelling

_SPACED = "a-z\u00b5-\u052f"  # scripts that put blanks between words: their words are terms, not pairs of letters
_RUN = re.compile(
    rf"(?P<number>\d+(?:\.\d+)*)|(?P<spaced>[{_SPACED}](?:[{_SPACED}'\u0300-\u036f]*[{_SPACED}])?(?:\+\+|\#)?)"
    rf"|(?P<run>[^\W\d_{_SPACED}]+)"
)
_SPACED_OUT = re.compile(rf"(?<=([{KANJI}]))(?: |\n)(?=([{KANJI}]))")
_IS_KANJI = re.compile(f"[{KANJI}]")
_HAS_WORD = re.compile(r"\w")

_PIECE_LENGTH = 8_000  # characters, at most 32,000 bytes: Sudachi refuses more than 49,149
_PIECE_BORDER = re.compile(r"[\s。、！？]")
_NO_CONTENT = ("助詞", "助動詞", "補助記号", "空白")


@dataclass(frozen=True, slots=True)
class Morpheme:
    """A piece of a text with its part of speech ("名詞") and the kind of it ("固有名詞", "*" where there is none)."""

    start: int
    end: int
    surface: str
    pos: str
    kind: str


@cache
def _dictionary() -> Dictionary:
    """Open the dictionary once in a process: it takes 0.13 s, and its tokenizers may be used by any thread."""
    return Dictionary(dict="small")


class Analyzer:
    """Splits text into terms. One may serve many threads: each gets its own Sudachi tokenizer."""

    def __init__(self) -> None:
        self._dictionary = _dictionary()
        self._threads = local()
        self.dictionary_version = f"small-{version('sudachidict_small')}"

    def bigrams(self, text: str) -> list[str]:
        """Return pairs of neighbouring kana and kanji, whole words of Latin script, and whole numbers.

        A run of one character yields itself; a number also yields itself with the character after it (5年);
        era names stay beside the year that normalisation makes of them.
        """
        texts = stages(text)
        return [*_pairs(texts.normalized), *_across_blanks(texts.normalized), *era_names(texts.written)]

    def words(self, text: str) -> list[str]:
        """Return content words in Sudachi's normalised form (打合せ = 打ち合わせ), without particles and marks."""
        return [word for piece in _pieces(stages(text).dictionary) for word in self._words(piece)]

    def morphemes(self, text: str) -> list[Morpheme]:
        """Return all pieces of a short text (at most 8,000 characters) as it is written."""
        text = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate becomes one other character
        return [
            Morpheme(found.begin(), found.end(), found.surface(), *found.part_of_speech()[:2])
            for found in self._tokenizer().tokenize(text)
        ]

    def _words(self, piece: str) -> Iterator[str]:
        for morpheme in self._tokenizer().tokenize(piece):
            if morpheme.part_of_speech()[0] not in _NO_CONTENT and _HAS_WORD.search(morpheme.surface()):
                yield one_spelling(morpheme.normalized_form().lower())

    def _tokenizer(self) -> Tokenizer:
        if not hasattr(self._threads, "tokenizer"):
            self._threads.tokenizer = self._dictionary.tokenizer(mode=SplitMode.A)
        tokenizer: Tokenizer = self._threads.tokenizer
        return tokenizer


def _pairs(text: str) -> Iterator[str]:
    for match in _RUN.finditer(text):
        run = match[0]
        if match["run"] is None:
            yield run
            if match["number"] and text[match.end() : match.end() + 1].isalpha():
                yield text[match.start() : match.end() + 1]
        elif len(run) == 1:
            yield run
        else:
            yield from map("".join, zip(run, run[1:], strict=False))


def _across_blanks(text: str) -> Iterator[str]:
    """Yield the pair around a line break, or a blank beside a lone kanji: 申 請 書 is one word, 東京 大阪 two."""
    for match in _SPACED_OUT.finditer(text):
        start, end = match.span()
        lone_before = not _IS_KANJI.match(text, start - 2) if start >= 2 else True
        if match[0] == "\n" or lone_before or not _IS_KANJI.match(text, end + 1):
            yield match[1] + match[2]


def _pieces(text: str) -> Iterator[str]:
    """Yield parts that Sudachi accepts, cut at the last blank or mark where there is one."""
    start = 0
    while len(text) - start > _PIECE_LENGTH:
        limit = start + _PIECE_LENGTH
        end = max((match.end() for match in _PIECE_BORDER.finditer(text, limit - 1000, limit)), default=limit)
        yield text[start:end]
        start = end
    yield text[start:]
