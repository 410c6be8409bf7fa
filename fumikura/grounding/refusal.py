"""Recognises a model's own words for "the sources do not say this", in Japanese and English.

A refusal joins two things in one clause: what was searched or looked for (資料, 記載, 情報, "the sources") and its
absence, at the end of the clause. 「在庫はありません。」 names a thing of the world, 「記載がない場合は…」 a condition:
both are answers.
"""

import re
import unicodedata

REFUSAL = "資料にありません。"
REFUSAL_EN = "Not in the sources."

_NEG = r"(?:ません(?:でした)?|ない|なかった|ず)"
_STATE = rf"て(?:は|も)?(?:(?:い|おり|おら|き|あり)?{_NEG})"  # ていません, ておりません, ておらず, てません, てきません
_SOURCE = (
    r"(?:資料|ソース|文書|文章|本文|文献|文脈|コンテキスト|ドキュメント|テキスト|抜粋|出典|情報源|上記|手元"
    r"|(?:提供|提示|共有|記載)(?:され|して)?(?:た|いただいた|頂いた|くださった)?(?:情報|内容|もの|データ)"
    r"|(?:与え|渡)(?:られ|され)た(?:情報|内容|もの|データ)|(?:参考|参照)(?:情報|文章))"
)
_PLACE = rf"{_SOURCE}(?:の)?(?:中|内|範囲|限り|情報|内容|どこ)?(?:に|で|から|だけで|のみで|の限りで)?(?:は|も)?、?"
_WRITTEN = (
    r"(?:記載|記述|言及|説明|明記|情報|記録|回答|答え|該当(?:する)?(?:箇所|部分|内容|もの)?|手がかり|根拠|文言|規定|定め"
    r"|(?:関連|該当)(?:する|の)?(?:内容|資料|文書|データ|部分|箇所))"
)
_ABSENT = (
    rf"(?:(?:あり|ござい){_NEG}|な(?:い|かった|し)|無(?:い|かった|し)|見当た(?:り|ら){_NEG}|見つ(?:かり|から|けられ){_NEG}"
    rf"|見出せ{_NEG}|存在し{_NEG}|(?:確認|発見)(?:は|が)?(?:でき|出来){_NEG}|含まれ(?:{_NEG}|{_STATE})|得られ{_NEG}"
    rf"|(?:示され|載っ|入っ|残っ|出){_STATE}|不足し{_STATE.replace('ません', 'ます')}|不足しています|ゼロ)"
)
_UNWRITTEN = (
    rf"(?:(?:記載|記述|言及|説明|明記|明示|記録|紹介|規定|掲載|提示|特定)(?:は|が|も)?(?:され|し){_STATE}"
    rf"|(?:書か|触れら|述べら|示さ|取り上げら)れ{_STATE}|書い{_STATE}|触れ{_STATE}|載っ{_STATE}|明らかに(?:され|なっ|し){_STATE})"
)
_UNKNOWN = (
    rf"(?:(?:お)?答え(?:する)?(?:こと)?(?:は|が)?(?:でき|出来){_NEG}|(?:お)?答えられ{_NEG}|(?:回答|判断|特定|断定)(?:する)?(?:こと)?(?:は|が)?"
    rf"(?:でき|出来){_NEG}|(?:(?:お)?答え|回答|判断)(?:でき|いた)?し?かね(?:ます|る)|(?:分か|わか|判|解)(?:り|ら){_NEG}|(?:分か|わか)りかね(?:ます|る)"
    rf"|読み取(?:れ|ることは?でき|ることが?でき){_NEG}|判明し(?:{_NEG}|{_STATE})|存じ(?:上げ)?{_NEG}|不明(?:です|でした|だ|である)?)"
)
_TAIL = (
    r"(?:よう|みたい|模様|情報|内容)?(?:です|でした|のです|んです)?"
    r"(?:が|け(?:れ)?ど(?:も)?|ものの|ので|ため|から|し)?(?=[、。.!\s)」]|$)"
)
_JAPANESE = re.compile(
    rf"{_PLACE}[^。、\n]{{0,40}}?(?<!必要)(?<!必要は)(?<!問題)(?<!問題は)(?:{_ABSENT}|{_UNKNOWN}){_TAIL}"
    rf"|{_WRITTEN}(?:に関して|について)?(?:は|が|も|の|等は)?(?:(?:一切|全く|特に|何も|まったく|どこにも)、?)?{_ABSENT}{_TAIL}"
    rf"|{_UNWRITTEN}{_TAIL}"
    rf"|{_UNKNOWN}{_TAIL}"
)
_EN_SOURCES = (
    r"(?:sources?|documents?|passages?|texts?|context|materials?|notes?|excerpts?|files?|information"
    r"|(?:given|provided|available) \w+|they|it)"
)
_EN_SAY = (
    r"(?:say|mention|contain|include|state|specify|provide|describe|cover|answer|indicate|address|give|list|discuss"
    r"|tell|reveal|refer to|explain|note|have (?:any )?(?:information|details|mention))"
)
_EN_SAID = (
    r"(?:mentioned|stated|found|specified|included|covered|available|provided|given|described|present|listed|addressed"
    r"|indicated|discussed|contained|recorded|documented|disclosed)"
)
_ENGLISH = re.compile(
    rf"\b{_EN_SOURCES}(?: above| below| that (?:i have|you provided|were given))? (?:do|does|did)(?: not|n't) "
    rf"(?:\w+ )?{_EN_SAY}\b"
    rf"|\b(?:not|never|isn't|aren't|wasn't|nowhere)(?: \w+)? {_EN_SAID}(?: anywhere)?"
    r"(?: (?:in|by|within|from|here)\b|[.,]|$)"
    rf"|\bnot (?:in|within|part of) (?:the |any |these |your |my |any of the )?(?:\w+ )?{_EN_SOURCES}\b"
    r"|\b(?:no|any|without) (?:\w+ )?(?:mention|information|indication|reference|record|details?|answer|data)"
    r"(?: (?:of|about|on|regarding|to|for|in|is|was|could|that)\b|[.,]|$)"
    r"|\b(?:can ?not|can't|could not|couldn't|unable to|am not able to) "
    r"(?:be )?(?:\w+ )?(?:find|found|answer|answered|determine|determined|tell|say|provide|locate|see)\b"
    r"|\bi (?:do not|don't) (?:know|have (?:any |enough |that )?(?:information|details|knowledge))\b"
    r"|\b(?:there is|there's|has|have|contain|contains) (?:no|nothing)(?: \w+)? "
    r"(?:about|on|regarding|information|mention)\b"
    r"|\b(?:insufficient|not enough) information\b",
    re.IGNORECASE,
)
_CLOSING = "「『\"'“」』”。. "
_QUOTED = re.compile(r"「[^「」]*」|『[^『』]*』|“[^“”]*”|\"[^\"]*\"")


def is_refusal(text: str) -> bool:
    """Whether a sentence of an answer says that the sources do not hold what was asked."""
    folded = unicodedata.normalize("NFKC", text).replace("’", "'").strip()
    spoken = _QUOTED.sub("", folded)  # what a source says is quoted: 備考欄には「記載なし」とあります
    if not spoken.strip(_CLOSING):  # the refusal itself put in quotation marks
        spoken = folded.strip(_CLOSING)
    return bool(_JAPANESE.search(spoken) or _ENGLISH.search(spoken))
