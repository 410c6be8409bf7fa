"""Writes names as their source does: a model that answers 高島 from a note that says 髙島 misspells a person."""

import re
from collections.abc import Iterable

from fumikura.japanese import normalize

_KANJI = re.compile(r"[㐀-䶿一-鿿豈-﫿]{2,}")


def as_written(answer: str, passage_texts: Iterable[str]) -> str:
    """Return the answer with each run of kanji spelled as in the first passage that holds it in variant kanji."""
    passages = [(text, normalize(text)) for text in passage_texts]

    def spelled(found: re.Match[str]) -> str:
        run, key = found[0], normalize(found[0]).text
        if any(run in text for text, _ in passages):
            return run
        for text, normalized in passages:
            place = normalized.text.find(key)
            if place >= 0:
                start, end = normalized.span(place, place + len(key))
                # Only characters exchanged one for one: numerals and symbols change lengths, and stay the model's.
                return text[start:end] if end - start == len(run) == len(key) else run
        return run

    return _KANJI.sub(spelled, answer)
