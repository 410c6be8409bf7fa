"""Spellings of one word: katakana variants, iteration marks, abbreviations, ruby and notes of Aozora Bunko."""

import re
from collections.abc import Iterator

from fumikura.japanese.rewrite import Edit

KANJI = "㐀-䶿一-鿿豈-﫿\U00020000-\U000323af々〆"

_COMPANIES = {"(株)": "株式会社", "(有)": "有限会社"}
_NOTATION = re.compile(
    rf"※?\[#[^\]\n]{{0,200}}\]|\|(?=[^|《》\n ]{{1,30}}《)|(?<=[{KANJI}])《[ぁ-ゖァ-ヺー・ ]{{1,30}}》"
    rf"|\(株\)|\(有\)(?=[ぁ-ゖァ-ヺ{KANJI}])"
)
_MARK = re.compile(rf"([{KANJI}])々|([ぁ-ゖァ-ヺ])([ゝゞヽヾ])")
_VOICED = dict(zip("かきくけこさしすせそたちつてとはひふへほ", "がぎぐげござじずぜぞだぢづでどばびぶべぼ", strict=True))
_VOICED |= {chr(ord(plain) + 96): chr(ord(voiced) + 96) for plain, voiced in _VOICED.items()}

# Whole words that vary by more than the rules below.
_WORDS = {
    "メインテナンス": "メンテナンス",
    "インタフェース": "インターフェース",
    "インターフェイス": "インターフェース",
    "インタフェイス": "インターフェース",
    "シュミレーション": "シミュレーション",
    "コミニュケーション": "コミュニケーション",
    "ディジタル": "デジタル",
    "ダイヤグラム": "ダイアグラム",
    "フイルム": "フィルム",
    "フェイス": "フェース",
    "メイル": "メール",
    "ギリシャ": "ギリシア",
    "イタリヤ": "イタリア",
}
_SOUNDS = {
    **{"ヴァ": "バ", "ヴィ": "ビ", "ヴェ": "ベ", "ヴォ": "ボ", "ヴュ": "ビュ", "ヴ": "ブ", "ヂ": "ジ", "ヅ": "ズ"},
    **{"ウィ": "ウイ", "ウェ": "ウエ", "ウォ": "ウオ", "クァ": "クア", "クォ": "クオ", "グァ": "グア"},
}
# A long mark at a word's end after three or more characters: サーバー = サーバ, but コピー and カバー stay.
_KATAKANA = re.compile(rf"{'|'.join(_WORDS)}|{'|'.join(_SOUNDS)}|(?<=[ァ-ヺー]{{3}})ー+(?![ァ-ヺー])")
_REPLACED = _WORDS | _SOUNDS


def notation_edits(text: str) -> Iterator[Edit]:
    """Drop Aozora's ruby after kanji, its start marks and its notes [#...]; write (株) and (有) out."""
    if "《" in text or "[#" in text or "(株)" in text or "(有)" in text:
        for match in _NOTATION.finditer(text):
            yield *match.span(), _COMPANIES.get(match[0], "")


def mark_edits(text: str) -> Iterator[Edit]:
    """Write iteration marks out: 人々 → 人人, いすゞ → いすず."""
    for match in _MARK.finditer(text):
        kanji, kana, mark = match.groups()
        again = kanji or (_VOICED.get(kana, kana) if mark in "ゞヾ" else kana)
        yield match.end() - 1, match.end(), again


def katakana_edits(text: str) -> Iterator[Edit]:
    """Bring katakana variants to one spelling: ヴァイオリン, メインテナンス, プリンター."""
    for match in _KATAKANA.finditer(text):
        yield *match.span(), _REPLACED.get(match[0], "")


def one_spelling(word: str) -> str:
    """Return `word` as `katakana_edits` leaves it."""
    return _KATAKANA.sub(lambda match: _REPLACED.get(match[0], ""), word)
