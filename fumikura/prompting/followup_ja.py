"""Japanese follow-ups, such as 閉園は？ 西公園だとどう？ それはいつ？ 誰が？ and もっと詳しく."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from fumikura.japanese import Analyzer, Morpheme

_LEAD = re.compile(
    r"(?:じゃあ?|では|それでは|それじゃあ?|そしたら|ちなみに|なら|そして|さらに|えっと|ええと|うん|はい|なるほど|"
    r"ありがとう(?:ございます)?|それと|あと)[、,。!！\s]+|(?:じゃあ|それじゃあ|ちなみに|あと(?=[一-鿿ァ-ヺ]))"
)
_NEW_TOPIC = re.compile(r"ところで|話は?変わ|別の(?:質問|話|件)")
_MORE = re.compile(
    r"(?:もっと|もう少し|もうちょっと|さらに)?(?:詳しく|くわしく|詳細に?|具体的に(?:は)?|短く|簡単に|わかりやすく|分かりやすく)"
    r"(?:教えて|説明して|話して|言うと|言って|まとめて|して|お願い)?(?:ください|下さい|します|ほしい|欲しい)?"
    r"|(?:その)?(?:他|ほか)(?:に(?:は|も)?|は)?(?:何か|なにか|何|なに)?(?:が|は)?(?:ある|あります|ない|ありません)?か?"
    r"|(?:例えば|たとえば|続き(?:は|を)?|続けて|それで|それから|つまり|要するに|本当(?:に|です)?か?|もう一度|もっと)"
)
_SAME = re.compile(r".{1,12}も(?:同じ|一緒|いっしょ|そう|必要|可能|大丈夫|対象)(?:です|なの|でしょう)?か?")
_WHY = re.compile(r"(?:それは)?(?:なぜ|何故|なんで|どうして|どうやって|どのように|どういう(?:こと|意味|ふうに))")
_ASKING = re.compile(
    r"(?:いつ|どこ|誰|だれ|どなた|いくら|いくつ|どれ|どちら|どっち|どの(?:くらい|ぐらい|人|日|部屋)|"
    r"何(?:時|日|曜日?|月|年|人|名|個|枚|台|回|円|分|時間|日間|歳|階|番|冊|本|グラム|キロ|メートル|センチ)?)"
    r"(?:間|頃|ごろ)?(?:から|まで|までに|に|で|が|を|へ|と|の|より|は)*"
    r"(?:です|でした|だ|だった|なの|なん|でしょう|になる|になります)*(?:か|の)?"
)
_TAIL = re.compile(
    r"(?P<case>の場合|のとき|の時|の方|のほう|について|に関して)?"
    r"(?P<mark>は|だと|なら(?:ば)?|って|も|では|とは|だったら)?"
    r"(?P<how>(?:どう|いかが)(?:です|でしょう|なの|だろう)?か?|どうな(?:る|ります|って(?:る|いる|います))の?か?)?$"
)
_POINTING = re.compile(
    r"(?P<thing>それ|これ|あれ|そいつ)(?!ぞれ|から|まで|以|に(?!つ)|で(?:は|も)|なら|じゃ|と[、も]|ら)"
    r"|(?P<place>そこ|あそこ|ここ|そちら|そっち|あちら|向こう)(?!で[、,]|まで|最近|数|から[一-鿿])"
    r"|(?P<of>その|この|あの|そちらの)(?!他|ほか|後|うえ|上で|ため|度|よう|辺|資料|文書|文章|ノート|ファイル|メモ|中|本|論文"
    r"|pdf|PDF|データ|サイト|ページ|アプリ|記事|規約|規則|会社|地域)"
    r"|(?P<who>彼女|彼ら?|前者|後者|同じ(?!く)|上記)"
)
_ANYONE = re.compile(r"(?:人|方|時|とき|日|理由|原因|内訳|担当者|結果|場合|点|意味|根拠|続き)")
_TIME = re.compile(
    r"(?:[月火水木金土日]曜日?|(?:令和|平成|昭和)?[\d０-９一二三四五六七八九十百千元]+(?:年度?|月|日|時半?|週目?|月[\d０-９]+日)"
    r"|平日|休日|祝日|週末|土日|午前|午後|朝|昼|夜|夕方|深夜|早朝|春|夏|秋|冬|年末年始|年末|年始|正月|お盆|夏休み|冬休み|春休み"
    r"|今日|明日|昨日|明後日|今週|来週|先週|今月|来月|先月|今年度?|来年度?|去年|昨年度?|前年度?|翌年度?|翌日|翌月|前日|当日"
    r"|今回|次回|前回|最近|今|現在|以前|昔)"
)
_WHAT_HAPPENED = re.compile(r"(?:年|月|日|曜|昨|今|明|翌|去).*何[がを]")
_OTHERS = frozenset("他 ほか 別 残り".split())
# What has attributes of its own: one asks for the hours of 東公園, hardly for those of 会費.
_THING = re.compile(
    r".{2}[会館室園課部係店駅市町村県寺校院社所堂荘棟祭展]$|(?:さん|様|氏|祭り|ホール|センター|プラザ|教室|講座)$"
)
_BUILDINGS = "館棟室号階班組課部係店駅"
_DIGITS = re.compile(r"[\d０-９]+")
_KANJI = re.compile(r"[一-鿿々]")
_JOINTS = frozenset("とや・-‐‑–−_/")
_NOMINAL = frozenset("名詞 接頭辞 接尾辞 形状詞 記号".split())
_REQUESTS = frozenset(
    "要約 説明 解説 紹介 整理 翻訳 確認 教え まとめ 一覧 表 箇条 英語 日本語 詳細 例 具体 次 最初 最後".split()
)
_ENDS = "？?。！! 　"


@cache
def _analyzer() -> Analyzer:
    return Analyzer()


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question about a phrase: 東公園 の 開園 (`parts` with their places), then what is said of it (は何時？)."""

    text: str
    parts: tuple[tuple[int, int], ...]
    rest: str

    def part(self, place: int) -> str:
        start, end = self.parts[place]
        return self.text[start:end]

    @property
    def phrase(self) -> str:
        return self.text[self.parts[0][0] : self.parts[-1][1]]

    @property
    def topic(self) -> int:
        """The place of the first part that is no time (今年の総会の日程: 総会)."""
        return next((place for place in range(len(self.parts)) if not _is_time(self.part(place))), 0)

    def with_part(self, place: int, words: str) -> str:
        start, end = self.parts[place]
        return self.text[:start] + words + self.text[end:]


def japanese(question: str, anchor: str) -> str | None:
    """Return the completed question, None when it stands alone, "" when it only leans on the anchor."""
    if _NEW_TOPIC.match(question):
        return None
    body = _LEAD.sub("", question, count=1) if _LEAD.match(question) else question
    bare = body.rstrip(_ENDS)
    if not bare or _MORE.fullmatch(bare) or _SAME.fullmatch(bare) or _WHY.match(bare) and len(bare) < 12:
        return ""
    asked = _asked(anchor)
    pointing = _POINTING.search(bare)
    if pointing and not _nouns(bare[: pointing.start()]):
        return _pointed(pointing, body, asked)
    if _ASKING.fullmatch(bare):
        return f"{asked.phrase}は{body}" if asked and _asks_simply(asked) else ""
    switched = _TAIL.search(bare)
    words = bare[: switched.start()] if switched else bare
    has_mark = bool(switched and switched.group()) or body != bare
    if has_mark and _is_nominal(words):
        return _switched(words, body[len(words) :], asked, is_other=bool(switched and _marks_another(switched)))
    return None if _nouns(bare) or _WHAT_HAPPENED.search(bare) else ""


def _marks_another(tail: re.Match[str]) -> bool:
    """Whether the tail says that another thing takes the topic's place: だと, の場合は, ならどう."""
    return bool(tail["case"] in ("の場合", "のとき", "の時") or tail["mark"] in ("だと", "なら", "ならば", "だったら"))


def _pointed(pointing: re.Match[str], body: str, asked: _Asked | None) -> str:
    """Put what それ, そこ or その stands for in its place; a person was in the answer, which is not read."""
    if asked is None or pointing["who"]:
        return ""
    after = body[pointing.end() :]
    topic = asked.part(asked.topic)
    if pointing["of"]:
        if _ANYONE.match(after):
            return ""
        kind = re.match(r"[一-鿿々ァ-ヺー]+", after)
        if kind and topic.endswith(kind[0]):
            return body[: pointing.start()] + topic + after[kind.end() :]
        return body[: pointing.start()] + asked.phrase + "の" + after
    return body[: pointing.start()] + (topic if pointing["place"] else asked.phrase) + after


def _switched(words: str, tail: str, asked: _Asked | None, *, is_other: bool) -> str | None:
    """Complete `words` + は？ by the kind of the words: another time, another topic, another attribute."""
    parts = _parts(words)
    if parts[0] in _OTHERS:
        return ""
    first = next((place for place, part in enumerate(parts) if not _is_time(part)), len(parts))
    if len(parts) - first > 1:
        return None  # 西公園の駐車場は？ has its topic
    if asked is None:
        return ""
    if first == len(parts):
        return _at_another_time(words, asked)
    return _about_another(words, tail, asked, _same_kind(parts[-1], asked), is_other=is_other)


def _about_another(words: str, tail: str, asked: _Asked, place: int | None, *, is_other: bool) -> str | None:
    """Put `words` in place of the part of their kind or of the topic, else ask for them as the topic's attribute."""
    if place is not None:
        return asked.with_part(place, words)
    topic = asked.part(asked.topic)
    if _is_name(words) or is_other and _is_thing(words):
        return asked.with_part(asked.topic, words)
    if words.startswith(topic):
        return None
    says_one_thing = asked.rest[:1] in "はがもっ" and asked.rest.count("は") <= 1
    if is_other or not says_one_thing or not (len(asked.parts) > 1 or _is_thing(topic)):
        return ""
    return f"{topic}の{words}{tail}"


def _at_another_time(words: str, asked: _Asked) -> str:
    time = _TIME.search(asked.text)
    if time:
        return asked.text[: time.start()] + words + asked.text[time.end() :]
    if asked.topic + 1 < len(asked.parts):
        return asked.with_part(asked.topic + 1, f"{words}の{asked.part(asked.topic + 1)}")
    return asked.with_part(asked.topic, f"{asked.part(asked.topic)}の{words}") if asked.rest[:1] == "は" else ""


def _same_kind(words: str, asked: _Asked) -> int | None:
    """Return the place of the part that `words` can stand for (東公園 and 西公園, 開園 and 閉園), the likest first."""
    likeness = [
        (_likeness(words, asked.part(place), is_topic=place < len(asked.parts) - 1), -place)
        for place in range(len(asked.parts))
    ]
    best, place = max(likeness)
    return -place if best else None


def _likeness(one: str, other: str, *, is_topic: bool) -> int:
    """Return how many last characters two words share, where that says that they are of one kind.

    One is enough for short words as long as each other (開園, 閉園); not for topics of two (契約の更新は？ 解約は？).
    """
    if one == other:
        return len(one)
    if _DIGITS.search(one) and _DIGITS.sub("0", one) == _DIGITS.sub("0", other):
        return len(one)
    count = 0
    while count < min(len(one), len(other)) and one[-1 - count] == other[-1 - count]:
        count += 1
    if count == 1 and len(one) == len(other) <= 3 and _KANJI.fullmatch(one[-1]):
        return 1 if len(one) == 3 or not is_topic or one[-1] in _BUILDINGS else 0
    return count if count > 1 else 0


def _asked(anchor: str) -> _Asked | None:
    """Return the phrase that a question begins with, None when it begins otherwise."""
    lead = _LEAD.match(anchor)
    parts: list[tuple[int, int]] = []
    start = end = lead.end() if lead else 0
    for morpheme in _analyzer().morphemes(anchor[start:]):
        place = morpheme.start + (lead.end() if lead else 0)
        if morpheme.surface == "の" and end > start:
            parts.append((start, end))
            start = end = place + 1
        elif morpheme.pos in _NOMINAL or morpheme.surface in _JOINTS:
            end = place + len(morpheme.surface)
        else:
            break
    if end == start:
        return None
    return _Asked(anchor, (*parts, (start, end)), anchor[end:])


def _asks_simply(asked: _Asked) -> bool:
    """Whether nothing but a question word follows the phrase (東公園の開園は何時？), which another may replace."""
    return (
        asked.rest[:1] == "は"
        and not _nouns(asked.rest[1:])
        and bool(_ASKING.fullmatch(asked.rest[1:].rstrip(_ENDS)) or not asked.rest[1:].rstrip(_ENDS))
    )


def _parts(words: str) -> list[str]:
    """Return the parts that の joins."""
    parts = [""]
    for morpheme in _analyzer().morphemes(words):
        if morpheme.surface == "の":
            parts.append("")
        else:
            parts[-1] += morpheme.surface
    return parts


def _is_nominal(words: str) -> bool:
    """Whether the words are nouns, joined by の, と, や or nothing (by blanks: a search for key words)."""
    found = _analyzer().morphemes(words)
    return (
        bool(words)
        and any(one.pos == "名詞" for one in found)
        and all(one.pos in _NOMINAL or one.surface == "の" or one.surface in _JOINTS for one in found)
    )


def _nouns(text: str) -> list[Morpheme]:
    """Return the nouns that say what a question is about: no verb's stem, question word, time or request."""
    found = _analyzer().morphemes(text)
    return [one for place, one in enumerate(found) if _is_content(one, found[place + 1 :], found[:place])]


def _is_content(one: Morpheme, after: Sequence[Morpheme], before: Sequence[Morpheme]) -> bool:
    if one.surface == "さ" and one.pos == "接尾辞":
        return bool(after)  # 重さ, 高さ
    if one.pos != "名詞" or one.kind == "数詞" or one.surface in _REQUESTS or _is_time(one.surface):
        return False
    if re.match(r"何|誰|いつ|いくら|どれ|どこ|幾|こと|もの|ため|よう|方法?$", one.surface):
        return False
    if before and (before[-1].kind == "数詞" or before[-1].surface == "何"):
        return False
    # 利用できますか, 誰が担当？, 無料ですか: said of something, not named.
    follows = after[0] if after else None
    return bool(follows and (follows.pos in ("助詞", "接尾辞", "名詞", "接頭辞") and follows.surface != "か"))


def _is_time(word: str) -> bool:
    return bool(_TIME.fullmatch(word))


def _is_thing(word: str) -> bool:
    return bool(_THING.search(word)) or _is_name(word)


def _is_name(word: str) -> bool:
    return any(one.kind == "固有名詞" for one in _analyzer().morphemes(word)) or word.endswith(("さん", "様", "氏"))
