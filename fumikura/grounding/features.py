"""What a sentence claims and what a passage holds, as comparable words and numbers."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fumikura.grounding.names import (
    COMMON_LATIN,
    VAGUE_NOUNS,
    Noun,
    analyzer,
    capitalised,
    denied,
    has_weekday,
    is_weekday,
    latin_names,
    names,
    nouns,
    weekdays,
)
from fumikura.grounding.quantities import Subject, plain, quantities, subjects, with_clock
from fumikura.japanese import normalize

WORD_WEIGHT_LIMIT = 4  # a long name counts at most as much as four characters
NUMBER_WEIGHT = 3.0
OTHER_UNIT = 0.5  # of that weight, for 3日 where only 3名 is written: small numbers occur everywhere
OTHER_LANGUAGE = 0.3  # less Japanese than this: an English sentence
ECHO_WEIGHT = 0.1  # a word of the question says little about where the rest comes from

# In Sudachi's normalised forms.
STOP_WORDS = frozenset(
    "為る 有る 無い 居る 成る 為 事 物 者 所 方 時 等 よる 因る 於く つく 就く 言う 行う "
    "出来る 下さる 頂く 致す 御座る 置く 見る 来る 呉れる 其の 此の 彼の 其れ 此れ 其々 其方 "
    "此方 又 但し 猶 及び 並びに 或いは 更に そして しかし 従って 即ち つまり 例えば はい "
    "いいえ 以下 以上 次 通り よう 様 御 ご お さん つ 資料 出典 記載 情報 内容 回答 答え "
    "答える 質問 示す 述べる 書く 関する 対する とる と言う 中 上 下記 上記 何 何れ 何時 いつ "
    "どこ 何処 誰 どれ どの どう どんな どちら 何故 なぜ 幾ら 幾つ 何人 何曜 教える 教え 知る "
    "下さい 説明 分かる 遣る 申し訳 恐縮 残念 御免".split()
)
ENGLISH_STOP_WORDS = frozenset(
    "a an the of in on at to for from by with and or but as is are was were be been it its this that these those there "
    "they them their he she his her you your we our i not no yes do does did has have had will would can could should "
    "may also according source sources passage passages document documents which who what when where how why s "
    "sorry apologies apologize unfortunately afraid".split()
)

_LATIN = re.compile(r"[a-zà-öø-ÿ]+(?:'[a-z]+)?")
_BLANK = re.compile(r"\s+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MEASURE = re.compile(r"(\d+(?:\.\d+)?) ?([^\W\d_]?)")
_SAME_UNIT = str.maketrans("人方才つ頁", "名名歳個ペ")
_COUNTED_LIST = re.compile(r"(?:次|以下|下記|上記)の?\d+(?:つ|個|点|項目|種類|通り)?|\d+(?:つ|点|番)目")
_ADDRESS = re.compile(r"https?://[^\s<>()\[\]「」、。]+")
_AFTERNOON = re.compile(r"午後|夜|夕方|p\.?m\b")
_JAPANESE = re.compile(r"[ぁ-ヿ一-鿿]")
_SPELLED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty".split()
)
_MONTHS = "january february march april may june july august september october november december".split()
_NUMBER_WORDS = {word: str(n) for n, word in enumerate(_SPELLED)} | {word: str(n) for n, word in enumerate(_MONTHS, 1)}


@dataclass(frozen=True, slots=True)
class Features:
    """The content of a text: words and numbers, each once; `text` is normalised."""

    text: str
    words: frozenset[str]
    numbers: frozenset[str]
    measures: frozenset[str]  # numbers with the first character of their unit, if any: 26名
    is_afternoon: bool
    japanese_share: float  # of its letters

    def holds(self, word: str) -> float:
        """Return how much of `word` occurs here: 1 for the word itself, less for a part of a compound."""
        if word in self.words or (not _LATIN.fullmatch(word) and word in self.text):
            return 1.0
        if _LATIN.fullmatch(word):
            return 1.0 if len(word) > 3 and any(_same_stem(word, other) for other in self.words) else 0.0
        if is_weekday(word):
            return 1.0 if has_weekday(self.text, word[0]) else 0.0
        pairs = [word[i : i + 2] for i in range(len(word) - 1)]
        found = sum(pair in self.text for pair in pairs)
        return found / len(pairs) if len(pairs) >= 2 and 2 * found > len(pairs) else 0.0

    def holds_number(self, number: str, *, in_afternoon: bool) -> bool:
        """Whether the number occurs, also as 15 for 午後3時 and the other way round."""
        return number in self.numbers or self.holds_hour(number, in_afternoon)

    def holds_hour(self, number: str, in_afternoon: bool) -> bool:
        """Whether the number occurs as the other name of an hour after noon."""
        if not number.isdigit():
            return False
        return (in_afternoon and str(int(number) + 12) in self.numbers) or (
            self.is_afternoon and str(int(number) - 12) in self.numbers
        )


def features(text: str) -> Features:
    """Return the content of `text`: function words, list counts (次の3つ) and marks are left out."""
    normal = normalize(text).text
    counted = _COUNTED_LIST.sub(" ", with_clock(normal))
    latin = {word for word in _LATIN.findall(normal) if word not in ENGLISH_STOP_WORDS}
    rest = _NUMBER.sub(" ", _LATIN.sub(" ", counted))
    words = {word for word in analyzer().words(rest) if word not in STOP_WORDS}
    numbers = {plain(number) for number in _NUMBER.findall(counted)}
    letters = len(_JAPANESE.findall(normal))
    share = letters / max(1, letters + sum(map(len, _LATIN.findall(normal))))
    return Features(
        text=normal,
        words=frozenset(words | latin),
        numbers=frozenset(numbers),
        measures=frozenset(plain(number) + unit.translate(_SAME_UNIT) for number, unit in _MEASURE.findall(counted)),
        is_afternoon=bool(_AFTERNOON.search(normal)),
        japanese_share=share,
    )


def with_number_words(found: Features) -> Features:
    """Return the features of a passage, its English number words and months counted as digits too."""
    spelled = {_NUMBER_WORDS[word] for word in _LATIN.findall(found.text) if word in _NUMBER_WORDS}
    return replace(found, numbers=found.numbers | spelled, measures=found.measures | spelled)


@dataclass(frozen=True, slots=True)
class Claim:
    """What must be found in the passages: weighted words, and numbers, names and addresses that may not be missing.

    Numbers, names and weekdays that the sentence denies (5,000円ではありません) are not among them.
    """

    text: str  # without blanks and its end
    words: Mapping[str, float]
    numbers: Mapping[str, float]
    measures: frozenset[str]
    addresses: tuple[str, ...]
    in_afternoon: bool
    japanese_share: float
    subjects: tuple[Subject, ...] = ()  # what each number is of
    denied: tuple[Subject, ...] = ()  # the same for the numbers of the question that the sentence denies
    spoken: frozenset[str] = frozenset()  # words of the sentence and the question that say what it is about
    names: tuple[str, ...] = ()
    latin: frozenset[str] = frozenset()  # Latin words of a Japanese sentence, all words of an English one
    weekdays: frozenset[str] = frozenset()
    capitals: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for (「はい。」, 「以下のとおりです。」)."""
        return not self.words and not self.numbers


def claim(text: str, question: Features) -> Claim:
    """Return what `text` claims. Words and numbers that it repeats from the question weigh little.

    A sentence that only repeats the question (「はい、予約が必要です」) is judged by those words.
    """
    own = features(text)
    counted = _COUNTED_LIST.sub(" ", with_clock(own.text))
    days = weekdays(own.text)
    places = [one for one in quantities(counted) if one.number in own.numbers | days]
    spans: dict[str, list[tuple[int, int]]] = {}
    for place in places:
        spans.setdefault(place.number, []).append((place.start, place.end))
    asserted = own.numbers - (denied(counted, spans) & question.numbers)
    new_words = {word for word in own.words if not question.holds(word)}
    new_numbers = asserted - question.numbers
    echo = ECHO_WEIGHT if new_words or new_numbers else 1.0
    found = nouns(counted)
    is_latin = own.japanese_share < OTHER_LANGUAGE
    latin = frozenset(word for word in own.words if _LATIN.fullmatch(word)) if is_latin else latin_names(counted)
    named = set(names(counted, found))
    if new_words or new_numbers:  # a sentence that only confirms the question must have its names right too
        asked = _BLANK.sub("", question.text)
        named = {name for name in named if name not in asked}
        latin = latin if is_latin else latin - question.words
    about = subjects(
        counted,
        places,
        sorted([*found, *_latin_nouns(counted, are_names=not is_latin)], key=lambda noun: noun.start),
    )
    return Claim(
        text=_BLANK.sub("", own.text).rstrip("。.!?"),
        words={word: (1.0 if word in new_words else echo) * _weight(word) for word in sorted(own.words)},
        numbers={n: NUMBER_WEIGHT * (1.0 if n in new_numbers else echo) for n in sorted(asserted)},
        measures=own.measures,
        addresses=tuple(_ADDRESS.findall(own.text)),
        in_afternoon=own.is_afternoon,
        japanese_share=own.japanese_share,
        subjects=tuple(one for one in about if one.quantity.number in asserted | days),
        denied=tuple(one for one in about if one.quantity.number not in asserted | days),
        spoken=frozenset(
            word for word in own.words | question.words if len(word) > 1 and word not in VAGUE_NOUNS | COMMON_LATIN
        ),
        names=tuple(sorted(named)),
        latin=latin,
        weekdays=days,
        capitals=capitalised(text) if is_latin else frozenset(),
    )


def coverage(wanted: Claim, evidence: Iterable[Features]) -> float:
    """Return the share of the claim's weight that the evidence holds, between 0 and 1."""
    held = tuple(evidence)
    total = sum(wanted.words.values()) + sum(wanted.numbers.values())
    if not total:
        return 0.0
    words = sum(weight * max((one.holds(word) for one in held), default=0.0) for word, weight in wanted.words.items())
    numbers = sum(
        weight * max((_number_share(number, wanted, one) for one in held), default=0.0)
        for number, weight in wanted.numbers.items()
    )
    return (words + numbers) / total


def _number_share(number: str, wanted: Claim, held: Features) -> float:
    if not held.holds_number(number, in_afternoon=wanted.in_afternoon):
        return 0.0
    own = {
        measure for measure in wanted.measures if measure.startswith(number) and not measure[len(number) :].isdigit()
    }
    is_same = number in held.measures | own or own & held.measures or held.holds_hour(number, wanted.in_afternoon)
    return 1.0 if is_same else OTHER_UNIT


def missing_numbers(wanted: Claim, evidence: Iterable[Features]) -> frozenset[str]:
    """Return the claim's numbers that occur nowhere in the evidence."""
    held = tuple(evidence)
    return frozenset(
        number
        for number in wanted.numbers
        if not any(one.holds_number(number, in_afternoon=wanted.in_afternoon) for one in held)
    )


def _latin_nouns(normal: str, *, are_names: bool) -> list[Noun]:
    """Return the content words of an English sentence, or the names in Latin script of a Japanese one."""
    return [
        Noun(match.start(), match.end(), match[0], match[0], are_names)
        for match in _LATIN.finditer(normal)
        if match[0] not in ENGLISH_STOP_WORDS and match[0] not in COMMON_LATIN
    ]


def _weight(word: str) -> float:
    return float(min(WORD_WEIGHT_LIMIT, 2 if _LATIN.fullmatch(word) else len(word)))


def _same_stem(word: str, other: str) -> bool:
    """Whether two English words differ by an ending only (open, opens, opened)."""
    stem = max(4, min(len(word), len(other)) - 2)
    return len(other) > 3 and word[:stem] == other[:stem]
