"""What a sentence may not get wrong: names of people and places, weekdays, and what its numbers are about."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from fumikura.japanese import Analyzer

# Nouns that say no more than the number's unit does, and when; in Sudachi's normalised forms.
VAGUE_NOUNS = frozenset(
    "費用 値段 料金 金額 価格 代金 代 額 時間 時刻 期間 期限 日時 日付 日 年 月 週 人数 数 量 合計 場所 名前 現在 今 "
    "今年 今月 去年 来年 来月 先月 以上 以下 以内 未満 程 毎日 毎朝 毎週 毎月 毎年 午前 午後 朝 昼 夕方 夜 前後 位 税 "
    "ほか もの こと それ これ 資料 出典 内容 情報 記載 通り 為 所 方 時 人 事 物 者 上 下 中 内 間 後 前".split()
)
# Latin words that name a kind of thing or a unit, and so need not stand in a passage.
COMMON_LATIN = frozenset(
    "ip id url pc ok tel fax mail email web app no ver version os cpu gpu ram gb mb kb tb kg km cm mm ml wifi wi fi am "
    "pm g m l k w v a t p s h mg ghz mhz dl cc pdf jr tv dvd cd sns faq".split()
)

_LATIN = re.compile(r"[a-zà-öø-ÿ]+")
_POLITE = frozenset("さん 様 氏 ちゃん くん 君".split())
_ANYONE = re.compile(r"[ぁ-ゖ]+|[父母兄姉弟妹奥嫁婿客皆爺婆孫娘]|息子|神")  # おばあさん, 奥さん: no names
_IS_WEEKDAY = re.compile(r"[月火水木金土日]曜日?")
_WEEKDAY = re.compile(r"([月火水木金土日])曜")
_WEEKDAY_LIST = re.compile(
    r"(?<![一-鿿々ァ-ヺーa-z\d])[月火水木金土日](?:[・、,/と]?[月火水木金土日])*(?![一-鿿々ァ-ヺー\d])"
)
_ENGLISH_WEEKDAYS = dict(
    zip("monday tuesday wednesday thursday friday saturday sunday".split(), "月火水木金土日", strict=True)
)
_MONTHS = frozenset("january february march april may june july august september october november december".split())
_LANGUAGES = frozenset("japan japanese english yen".split())
_CAPITALISED = re.compile(r"(?<![A-Za-z])[A-Z][a-zà-öø-ÿ]{2,}(?![A-Za-z])")
_DENIED = re.compile(
    r"[^、。,]{0,8}?(?:では?(?:あり|な[いくか])|じゃ(?:あり|な)|違|異な|誤り|間違)"
    r"|[^、。,]{0,12}?\b(?:is|are|was) not\b"
)
_DENIED_BEFORE = re.compile(r"(?:\bnot|n't)\b[^.,;、。\d]{0,20}$")


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun of a normalised text: where it stands, its dictionary form, and whether it is (part of) a name."""

    start: int
    end: int
    surface: str
    word: str
    is_name: bool


class _Nouns(Analyzer):
    """Reads the parts of speech, which the index's terms leave out."""

    def nouns(self, text: str) -> list[Noun]:
        found: list[Noun] = []
        after_number = is_polite = False
        for morpheme in self._tokenizer().tokenize(text):
            kind = morpheme.part_of_speech()
            surface = morpheme.surface()
            is_noun = kind[0] == "名詞" and kind[1] != "数詞" and not (after_number and kind[2] == "助数詞可能")
            is_polite = kind[0] == "接尾辞" and surface in _POLITE
            if is_polite and found and found[-1].end == morpheme.begin() and not _ANYONE.fullmatch(found[-1].surface):
                found[-1] = _as_name(found[-1])
            elif is_noun and not _LATIN.search(surface):
                follows_name = bool(found) and found[-1].is_name and morpheme.begin() - found[-1].end <= 1
                joined = follows_name and not text[found[-1].end : morpheme.begin()].strip()
                is_name = kind[1] == "固有名詞" or joined
                found.append(Noun(morpheme.begin(), morpheme.end(), surface, morpheme.normalized_form(), is_name))
            after_number = kind[1] == "数詞"
        return found


def _as_name(noun: Noun) -> Noun:
    return Noun(noun.start, noun.end, noun.surface, noun.word, True)


@cache
def _analyzer() -> _Nouns:
    return _Nouns()


def analyzer() -> Analyzer:
    """Return the one analyzer of this process: its dictionary takes 0.13 s to open."""
    return _analyzer()


def nouns(normal: str) -> list[Noun]:
    """Return the nouns of a normalised text, without numbers, units and Latin words."""
    return _analyzer().nouns(normal)


def names(normal: str, found: list[Noun]) -> Iterator[str]:
    """Yield what must stand in a passage as it is: runs of name parts without blanks, and Latin words."""
    run = ""
    end = -1
    for noun in (noun for noun in found if noun.is_name):
        if run and not normal[end : noun.start].strip() and not _is_denied(normal, end):
            run += noun.surface
        else:
            if run and not _is_denied(normal, end):
                yield run
            run = noun.surface
        end = noun.end
    if run and not _is_denied(normal, end):
        yield run


def latin_names(normal: str) -> frozenset[str]:
    """Return the Latin words of a Japanese sentence that are more than a unit or a kind of thing."""
    return frozenset(
        match[0]
        for match in _LATIN.finditer(normal)
        if len(match[0]) > 1 and match[0] not in COMMON_LATIN and not _is_denied(normal, match.end())
    )


def capitalised(text: str) -> frozenset[str]:
    """Return the capitalised names of an English sentence, its first word only when another follows it."""
    found = list(_CAPITALISED.finditer(text))
    kept = set()
    for index, match in enumerate(found):
        is_first = not text[: match.start()].strip(" *_\"'(「") or text[: match.start()].rstrip()[-1:] in ".!?:"
        joined = index + 1 < len(found) and text[match.end() : found[index + 1].start()] == " "
        if not is_first or joined:
            kept.add(match[0].lower())
    return frozenset(kept - _ENGLISH_WEEKDAYS.keys() - _MONTHS - _LANGUAGES)


def weekdays(normal: str) -> frozenset[str]:
    """Return the weekdays that a sentence names, 月 to 日, unless it denies them."""
    spoken = {match[1] for match in _WEEKDAY.finditer(normal) if not _is_denied(normal, match.end())}
    english = {_ENGLISH_WEEKDAYS[word] for word in _LATIN.findall(normal) if word in _ENGLISH_WEEKDAYS}
    return frozenset(spoken | english)


def has_weekday(normal: str, day: str) -> bool:
    """Whether a passage names the weekday, also in a list (火・金) or as (土)."""
    if f"{day}曜" in normal or day in weekdays(normal):
        return True
    return any(day in match[0] for match in _WEEKDAY_LIST.finditer(normal))


def is_weekday(word: str) -> bool:
    """Whether a word is a weekday (土曜)."""
    return bool(_IS_WEEKDAY.fullmatch(word))


def _is_denied(normal: str, end: int) -> bool:
    return bool(_DENIED.match(normal, end))


def denied(normal: str, spans: Mapping[str, list[tuple[int, int]]]) -> frozenset[str]:
    """Return the numbers that a sentence denies wherever it has them (5,000円ではありません)."""
    return frozenset(
        number
        for number, places in spans.items()
        if all(_is_denied(normal, end) or _DENIED_BEFORE.search(normal[:start]) for start, end in places)
    )
