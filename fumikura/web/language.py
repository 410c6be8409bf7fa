"""The language of messages: what the request prefers of Japanese and English; Japanese where it names neither."""

from typing import Literal

Language = Literal["ja", "en"]


def preferred_language(accept_language: str) -> Language:
    """Return the language of an Accept-Language header: the one of higher quality, the earlier of equals."""
    qualities: dict[str, float] = {}
    for entry in accept_language.split(","):
        tag, _, parameters = entry.partition(";")
        language = tag.strip().lower().split("-")[0]
        if language in ("ja", "en"):
            qualities[language] = max(qualities.get(language, 0.0), _quality(parameters))
    wanted = [language for language, quality in qualities.items() if quality > 0]
    best = max(wanted, key=lambda language: qualities[language], default="ja")
    return "en" if best == "en" else "ja"


def _quality(parameters: str) -> float:
    _, _, value = parameters.partition("q=")
    try:
        return float(value) if value else 1.0
    except ValueError:
        return 0.0
