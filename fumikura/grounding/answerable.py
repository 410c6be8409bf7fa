"""Decides before the model is asked whether the sources can hold an answer at all. Leans towards asking.

A question is refused without the model only if most of its content words occur nowhere in the notebook and no hit
stands out by meaning. Measured with multilingual-e5-small on 25 invented notes (tests/grounding/test_measured.py): best
cosine 0.83 to 0.93 for 46 answerable questions, many in other words, 0.77 to 0.82 for 22 unanswerable ones. No
answerable question is refused, all 22 unanswerable ones are; all 8 near misses (right topic, fact absent) go on to the
model, whose invented answers grounding then drops.
"""

import re
from collections.abc import Mapping, Sequence

from fumikura.grounding.features import ENGLISH_STOP_WORDS, STOP_WORDS
from fumikura.grounding.names import analyzer
from fumikura.japanese import normalize
from fumikura.records import Hit

STANDOUT_GAP = 0.055  # of the best cosine above the median of the hits; unanswerable questions reach 0.04
MISSING_SHARE = 0.5  # of the content words; a question in other words often lacks half of them (感想 for レビュー)

# How an answer is asked for, not what about (in Sudachi's normalised forms): 値段の表を見せて, 内容をまとめて.
REQUEST_WORDS = STOP_WORDS | frozenset(
    "見せる 纏める 纏め 要約 要点 概要 概略 一覧 表 リスト 内容 説明 解説 紹介 整理 詳細 詳しい 簡単 短い 全部 全て "
    "払う 支払う 教える 知る 書く 書き出す 挙げる 上げる 並べる 出す 読む 調べる 探す 検索 表示 抜き出す 列挙 願う "
    "頼む 欲しい 良い 値段 金額 料金 価格 費用 代金 話 ノート メモ 文書 ファイル".split()
)

_JAPANESE = re.compile(r"[ぁ-ヿ一-鿿]")
_LATIN = re.compile(r"[a-z]+")


def content_words(question: str) -> tuple[str, ...]:
    """Return the question's content words in the keyword index's form, without question words (何, いつ, 教えて).

    () for a question without Japanese: its words say nothing about Japanese sources.
    """
    if not _JAPANESE.search(question):
        return ()
    text = _LATIN.sub(lambda word: " " if word[0] in ENGLISH_STOP_WORDS else word[0], normalize(question).text)
    words = (word for word in analyzer().words(text) if word not in REQUEST_WORDS and not word.isdigit())
    return tuple(dict.fromkeys(words))


def missing_terms(chunk_counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the words that occur in no chunk of the notebook."""
    return tuple(word for word, count in chunk_counts.items() if count == 0)


def stands_out(hits: Sequence[Hit], cosine: float | None) -> bool:
    """Whether one hit is near in meaning: by its cosine, or by its lead over the others.

    True when no hit has a cosine (keywords only): then nothing can be said.
    """
    scores = sorted((hit.dense_score for hit in hits if hit.dense_score is not None), reverse=True)
    if not scores:
        return bool(hits)
    lead = scores[0] - scores[len(scores) // 2]
    return lead >= STANDOUT_GAP or (cosine is not None and scores[0] >= cosine)


def nothing_there(
    chunk_counts: Mapping[str, int],
    hits: Sequence[Hit],
    cosine: float | None,
    *,
    all_given: bool = False,
) -> bool:
    """Whether to refuse without asking the model; `chunk_counts` holds how many chunks have each content word.

    Never when every chunk of the notebook was given (`all_given`): the model then reads all there is.
    """
    if not hits:
        return True
    if all_given or not chunk_counts:
        return False
    missing = len(missing_terms(chunk_counts))
    return missing > MISSING_SHARE * len(chunk_counts) and not stands_out(hits, cosine)
