"""Notices true sentences that answer another question: 「池の水位は当番が毎朝はかる。」 to 「池の深さは？」.

Small models return a whole note where it does not say what was asked, and every sentence of it is supported. Cheap and
lenient: only a question that clearly asks for a place, time, person, number or reason is looked at, and one word that
could be such a thing anywhere in the answer or its quotes lets it pass. It does not judge whether the thing is right.

Measured: of 26 questions to the sample notes, 46 everyday ones and 71 tersely noted facts none is refused; nor of 378
JSQuAD questions of these kinds, used to tune it (before: 4 of 393 in the words of the answer, 19 as a bare sentence).
Of 38 invented near misses answered with the whole note 30 are noticed (tests/grounding/test_expected.py). A note with
another thing of the kind passes, and nearly any note holds something like a person or a time.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from fumikura.japanese import normalize

Asked = Literal["where", "when", "who", "count", "measure", "duration", "amount", "why"]

_END = r"(?:は|って)?[?。]?$"
_NOT_ASKED = r"(?!も|か(?![らか?。]|$))"  # 何度も, 何人か, 誰か
_TIME_UNIT = r"(?:時間|分|秒|週間?|日間|年間|泊|[かヶケカ箇]月)"
_THING_UNIT = r"(?:人|名|個|本|枚|冊|台|匹|頭|羽|件|種|軒|部屋|社|校|か所|ヶ所|カ所)"
_MEASURE_UNIT = (
    r"(?:歳|才|円|ドル|割|%|パーセント|[ckm]?m|k?g|[kmgt]b|ワット|度|メートル|キロ|グラム|リットル|センチ|ミリ|トン|畳|坪"
    r"|平方|杯)"
)
# Against the normalised question. Left alone, for their answer may be of another kind: どこに頼む (a company),
# どこまで読む (a chapter), 誰に頼む (a department), 誰か, いつも, いくらの.
_ASKS: dict[Asked, re.Pattern[str]] = {
    "where": re.compile(
        r"どこ(?:に(?:ある|あり|あっ|いる|い[たま]|置|お[いく]|建|保管|しま|住|集|隠|泊|停)"
        r"|で(?:開|行|お?こな|や[るりっ]|集|待|会))"
        r"|(?P<where_of>場所|住所|所在地|会場|ありか)(?:は|が)?(?:どこ(?:です)?か?)?[?。]?$"
        r"|\bwhere(?:'s| (?:is|are|was|were|can i find)) "
    ),
    "when": re.compile(
        rf"いつ(?!でも|の(?:間|ま)){_NOT_ASKED}(?:まで|から)?|何(?:時(?![間代])|曜|日(?!間)|月|年(?![間分])){_NOT_ASKED}"
        rf"|(?P<when_of>日時|日付|時刻|期限|締め?切り?|誕生日|発売日|定休日|休館日|開催日){_END}"
        r"|\bwhen (?:is|are|was|were|do|does|did|will|can|should)\b|\bwhat (?:time|date|day|year|month)\b"
    ),
    "who": re.compile(
        rf"(?:誰|だれ)(?!でも|しも|に|と|へ|から){_NOT_ASKED}|\bwho(?:'s| (?:is|are|was|were|did|does|has|will)) "
    ),
    "count": re.compile(
        rf"(?:何{_THING_UNIT}|いくつ){_NOT_ASKED}|(?P<count_of>人数|冊数|台数|個数|件数|戸数|定員){_END}|\bhow many\b"
    ),
    "measure": re.compile(
        rf"何{_MEASURE_UNIT}{_NOT_ASKED}"
        r"|(?:(?P<fee_of>[一-鿿]{0,3}[費代料額賃税])[はが])?いくら(?=です|だ|で(?:買|売|す)|かか|した|払|に(?:な|決|し)|か|[?。]|$)"
        rf"|(?P<measure_of>深さ|高さ|長さ|重さ|広さ|幅|厚さ|面積|体重|身長|標高|年齢|値段|料金|価格|費用){_END}"
        r"|\bhow (?:old|far|deep|high|tall|wide|heavy)\b"
        r"|\bhow much (?:is|are|was|were|does|do|did)\b(?: the (?P<cost_of>fee|price|cost|charge)\b)?"
    ),
    "duration": re.compile(rf"何{_TIME_UNIT}{_NOT_ASKED}"),
    "amount": re.compile(r"ど(?:れ|の)(?:くらい|ぐらい|ほど)|\bhow (?:long|much)\b"),
    "why": re.compile(rf"なぜ|何故|どうして(?!も|い)|理由{_END}|理由を|\bwhy\b"),
}
# A question that also asks for something else: 誰が書いたかを何で調べる？
_ASKS_ELSE = re.compile(
    r"何(?:[がをのとにはで]|か[らを])|どんな|どの(?!くらい|ぐらい|ほど)|どう(?!して)|どちら|どれ(?!くらい|ぐらい|ほど)"
    r"|\bwhich\b|\bwhat (?!time|date|day|year|month)|\bhow (?!many|much|long|old|far|deep|high|tall|wide|heavy)"
)

_NUMBER = r"\d+(?:[.,]\d+)*"
_NO_DATE = r"(?!\d|[.,:]\d|:|年(?!間)|月|日(?!間)|時(?!間)|曜)"
_NUMBER_WORD = (
    r"[十百千万億半]|数(?=人|名|個|本|枚|冊|台|件|回|日|年|分)|(?:ひと|ふた|みっ|よっ|いつ|むっ|なな|やっ|ここの)つ|ひとり|ふたり"
    r"|無料|ただ(?=です|で|。|$)|不要|かかりません|かからな|ゼロ|なし|無し|不明|未定|ほど|[くぐ]らい|[大小]さじ|ひとつまみ|少々|適量|生まれ"
    r"|¥|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve|twenty|thirty|hundred|thousand|dozen|half|free|none|no)\b"
)
_PLACE_NOUN = (
    r"(?:園|館|室|駅|階|店|屋|棚|机|庫|箱|引き?出し|玄関|廊下|台所|居間|庭|門|口|港|湖|山|川|海|岸|島|町|村|市|県|府|都|区|国|街|通り"
    r"|道|橋|寺|神社|城|校|場|所|院|局|センター|ホール|ビル|ホテル|宿|荘|家|宅|奥|隅|角|端|脇|地下|屋上|ポケット|フォルダー?|ディスク|封筒|袋"
    r"|鞄|ノート|ページ|欄|番地|丁目)"
)
_OFFERS: dict[Asked, re.Pattern[str]] = {
    "where": re.compile(
        r"に(?:あ[るりっ]|い(?:る|ます|た)|お(?:いて|く)|しま|かけ|と[めま]|入[れっ]|[置住建立書載掛貼集泊停隠並移着]|保管|位置)"
        r"|で(?:や[るりっ]|おこな|[開行買売会待受見食撮借集働拾泊遊])"
        r"|の(?:上|下|中|横|前|隣|となり|奥|裏|そば|向かい|外|内|間|手前|後ろ|右|左)|[東西南北](?:側|口|部|棟|端|[にへの])"
        rf"|\w*{_PLACE_NOUN}(?=[はがにでのへをや]|から|まで|です|だ|\W|$)"
        r"|駅前|近く|付近|周辺|[ァ-ヺー]{4,}|https?://|[\w.~]*/[\w./~-]+"
        r"|(?:場所|住所|所在地|会場|先)[はが:|]|\b(?:in|at|on|near|next|behind|under|inside|outside|beside|between|above)\b"
    ),
    "when": re.compile(
        rf"{_NUMBER}|[火水木金土](?=[・、と]|です|。|$)|[曜朝昼夕夜晩春夏秋冬月年週日時頃末翌祝盆]|午[前後]|(?<!名)前|後|毎|今"
        r"|最[初後近]|とき|ころ|てから|たら|ごと|おき|まで|すぐ|あと|みそか|なし|無し|未定|クリスマス"
        r"|\b(?:morning|noon|afternoon|evening|night|midnight|today|tomorrow|yesterday|day|daily|week|month|year"
        r"|every|after|before|until|during|spring|summer|autumn|winter|\w+day|january|february|march|april|may|june|july"
        r"|august|september|october|november|december|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    ),
    "who": re.compile(
        r"さん|[氏様君者員師士官役職長係課部班組会店社人親母父兄姉弟妹夫妻娘友番]|息子|お[ばじ]|先生|ちゃん|くん|担当|わたし|私|自分"
        r"|[ァ-ヺー]{2,}|[一-鿿々]{2,4}(?:が|から|によ)|[一-鿿々]{3,5}は|[a-z]{2,} [a-z]{2,}(?= ?[がはのにと])"
        r"|は[ぁ-ゖ一-鿿々 ]{2,8}(?:です|だ|。|$)|[一-鿿々ぁ-ゖ][ :|]+[一-鿿々]"
        r"|\b(?:by|he|she|they|we|my|our|mr|ms|mrs|dr|\w+(?:er|or|ist|ian))\b"
    ),
    "count": re.compile(rf"{_NUMBER}{_NO_DATE}\D?|{_NUMBER_WORD}|[全皆]|みんな|いな[いか]|いませ|[、・]|\wと\w"),
    "measure": re.compile(rf"{_NUMBER}{_NO_DATE}\D?|{_NUMBER_WORD}"),
    "duration": re.compile(rf"{_NUMBER}\D?|{_NUMBER_WORD}|まで|丸|一晩"),
    "amount": re.compile(rf"{_NUMBER}\D?|{_NUMBER_WORD}|[少多長短大小]|たくさん|ほとんど|しばらく|すぐ|いっぱい|まで"),
    "why": re.compile(
        r"ため|為|ので|から|理由|せい|おかげ|ゆえ|原因|きっかけ|によ[りっる]|すぎ|ように|[のん](?:だ|です)|目的|[てでし]、|\wで[一-鿿]"
        r"|くて|たい|な[いく]と|ば、|[防避]|\b(?:because|since|so|due|reason|cause|caused|as|to|for|avoid|prevent)\b"
    ),
}
# 「管理室です。」 names one thing, as an answer to the question does: what kind of thing a noun is, words cannot tell.
_NAMED = re.compile(
    r"(?:(?P<topic>[^は、。:|]{1,20})(?:は|(?P<label>[:|]) ?))?(?P<name>(?(topic)[^は、。]|[^はがを、。]){1,20}?)"
    r"(?(label)|(?:です|でした|だ|だった|である|(?<=[一-鿿々ァ-ヺーa-z0-9])|(?<=なか|うえ|した|よこ|そば)|(?<=ところ)))[。.]?$"
)
_LATIN_NAME = re.compile(r"[A-Z]\w+ [A-Z]\w+|\bby [A-Z]")
_OPEN_KINDS: frozenset[Asked] = frozenset({"where", "when", "who"})


def asked_kinds(question: str) -> frozenset[Asked]:
    """Return what kinds of thing the question clearly asks for; none for most questions."""
    normal = normalize(question).text.strip()
    if _ASKS_ELSE.search(normal):
        return frozenset()
    return frozenset(kind for kind, pattern in _ASKS.items() if pattern.search(normal))


def offers_expected(question: str, sentences: Iterable[str], quotes: Iterable[str]) -> bool:
    """Whether a kept sentence, or what it quotes, could hold a thing of a kind that the question asks for.

    Words that the question itself holds do not count. True where no kind is recognised.
    """
    kinds = asked_kinds(question)
    if not kinds:
        return True
    asked = normalize(question).text.strip()
    for kind in kinds:
        asked = _ASKS[kind].sub(" ", asked)
    kept = list(sentences)
    answers = [normalize(sentence).text.strip() for sentence in kept]
    texts = [*answers, *(normalize(quote).text for quote in quotes)]
    return (
        (bool(kinds & _OPEN_KINDS) and any(_names_one_thing(answer, asked) for answer in answers))
        or ("who" in kinds and any(map(_LATIN_NAME.search, kept)))
        or ("why" in kinds and len(answers) == 1 and "は" not in answers[0])
        or any(attribute in text for attribute in _attributes(question) for text in texts)
        or _holds(kinds, texts, asked)
    )


def _holds(kinds: frozenset[Asked], texts: Iterable[str], asked: str) -> bool:
    return any(found[0] not in asked for kind in kinds for text in texts for found in _OFFERS[kind].finditer(text))


def _names_one_thing(answer: str, asked: str) -> bool:
    found = _NAMED.match(answer)
    return found is not None and found["name"] not in asked and (not found["topic"] or found["topic"] in asked)


def _attributes(question: str) -> Iterator[str]:
    """Yield the nouns that are asked for (池の深さは？): a sentence that has the noun says something about it."""
    normal = normalize(question).text.strip()
    for pattern in _ASKS.values():
        found = pattern.search(normal)
        yield from (word for word in found.groupdict().values() if word) if found else ()
