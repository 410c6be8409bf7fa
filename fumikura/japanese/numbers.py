"""Numbers and dates: kanji numerals before a unit, thousands marks, era years, all to plain digits."""

import re
from collections.abc import Iterator

from fumikura.japanese.rewrite import Edit

_DIGITS = {char: value for value, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "壱": 1, "弐": 2}
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10**4, "億": 10**8, "兆": 10**12}
_ERAS = {"明治": (1868, 45), "大正": (1912, 15), "昭和": (1926, 64), "平成": (1989, 31), "令和": (2019, 99)}
_LETTERS = dict(zip("mtshr", _ERAS, strict=True))

_COUNTERS = (
    "年|月|日|時|分|秒|週|世紀|歳|才|名|人|個|箇|つ|本|枚|冊|台|匹|頭|羽|件|回|度|番|号|階|軒|棟|室|円|銭|ドル|ユーロ"
    "|倍|割|%|パーセント|点|位|級|段|巻|章|節|条|項|編|話|曲|杯|箱|袋|組|基|隻|艘|丁目|番地|区|校|社|店|代目|泊|票|議席|勝|敗"
    "|球|ページ|頁|行|文字|メートル|キロ|グラム|トン|リットル|センチ|ミリ|平方|立方|尺|寸|坪|畳|[カかケヶ箇](?:国|所|月|年|条)"
    "|k?m|c?m|mm|k?g|期|割|部|種"
)
_ORDINALS = "次|世代|四半期|弾|集|幕|話|版"
_KANJI = "〇零一二三四五六七八九十百千万億兆壱弐"
# Words in which the numeral is no number, or no longer felt as one.
_WORDS = (
    "一部|一番|一時(?!間|半|[0-9〇一二三四五六七八九十])|十分(?!間|後|前|以|ごと|おき|程)|一期一会|一日千秋|一本気|一人前|一人称|二人称|三人称"
    "|万年筆|百日紅|三日月|五月(?:雨|蠅|晴)|四日市|八日市|五日市|廿日市|十日町|六本木|二本松|三本松|三本木|四万十|九十九|八百万|五十嵐"
    "|第三者|第一人者|二日酔|二枚目|一枚岩|十八番|三重|千代|一段|三段論法|八百屋|十二分"
)
_NUMBER = re.compile(rf"{_WORDS}|(?P<number>(?:[0-9]+(?:\.[0-9]+)?)?[{_KANJI}]+(?:[0-9]+[十百千万億兆]+)*)")
_COUNTER = re.compile(_COUNTERS)
_ORDINAL = re.compile(_ORDINALS)
_DIGIT_FORM = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:,\d{3})+(?![\d,])|0+(?=\d+[年月日時分秒]))")
_PART = re.compile(r"[0-9]+(?:\.[0-9]+)?|.")

_ERA = re.compile(
    rf"(?P<era>{'|'.join(_ERAS)}) ?(?P<era_year>元|\d{{1,2}}) ?年"
    r"|(?<![a-z0-9.])(?P<letter>[mtshr])(?P<letter_year>元|\d{1,2})(?:年|[./](?P<m>\d{1,2})[./](?P<d>\d{1,2})(?![\d./]))"
    r"|(?<![\d./-])(?P<year>(?:18|19|20|21)\d\d)(?P<mark>[-./])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?![./-]?\d)"
)


def kanji_value(numeral: str) -> int | None:
    """Return the value of 百二十三, 二〇二五, 二三, 3万5千 or 1.5万; None when it is no well-formed number."""
    if all(char in _DIGITS for char in numeral):
        return int("".join(str(_DIGITS[char]) for char in numeral))
    total = group = 0
    pending: float | None = None
    for part in _PART.findall(numeral):
        if part in _LARGE:
            total, group, pending = total + round((group + (pending or 0)) * _LARGE[part]), 0, None
        elif part in _SMALL:
            group, pending = group + round((1 if pending is None else pending) * _SMALL[part]), None
        elif pending is not None:
            return None
        else:
            pending = _DIGITS[part] if part in _DIGITS else float(part)
    return total + group + round(pending or 0)


def _counts(match: re.Match[str]) -> bool:
    """Tell whether a numeral is a number here and not a part of a word or name (三浦, 一部)."""
    text, start, end = match.string, *match.span("number")
    numeral = match["number"]
    if numeral[0] in _LARGE or text[start - 1 : start] in {*"数何幾余."}:
        return False
    before = text[max(0, start - 2) : start]
    return bool(
        len(numeral) >= 3
        or numeral[0].isdigit()
        or _COUNTER.match(text, end)
        or (before.endswith("第") and _ORDINAL.match(text, end))
        or before == "分の"
    )


def kanji_number_edits(text: str) -> Iterator[Edit]:
    """Yield 五年前 → 5年前, 百二十三メートル → 123メートル, 3万5千円 → 35000円."""
    for match in _NUMBER.finditer(text):
        if match["number"] and _counts(match):
            value = kanji_value(match["number"])
            if value is not None:
                yield *match.span(), str(value)


def digit_edits(text: str) -> Iterator[Edit]:
    """Yield 1,234 → 1234 and 04月 → 4月."""
    for match in _DIGIT_FORM.finditer(text):
        yield *match.span(), match[0].replace(",", "") if "," in match[0] else ""


def _era_year(era: str, year: str) -> int | None:
    first, count = _ERAS[era]
    number = 1 if year == "元" else int(year)
    return first + number - 1 if 1 <= number <= count else None


def _date(match: re.Match[str]) -> str | None:
    if match["mark"]:
        year, month, day = int(match["year"]), match["month"], match["day"]
    else:
        era = match["era"] or _LETTERS[match["letter"]]
        found = _era_year(era, match["era_year"] or match["letter_year"])
        if found is None or not match["m"]:
            return None if found is None else f"{found}年"
        year, month, day = found, match["m"], match["d"]
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    return f"{year}年{int(month)}月{int(day)}日"


def date_edits(text: str) -> Iterator[Edit]:
    """Yield 令和8年 → 2026年, R8.3.5 and 2026-03-05 → 2026年3月5日. Years outside an era stay as they are."""
    for match in _ERA.finditer(text):
        date = _date(match)
        if date:
            yield *match.span(), date


def era_names(text: str) -> list[str]:
    """Return the eras whose years `date_edits` replaces, so that the name can still be searched for."""
    return [match["era"] for match in _ERA.finditer(text) if match["era"]]
