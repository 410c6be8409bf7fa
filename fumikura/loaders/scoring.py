"""How Japanese a decoded text looks. Knows characters, not files: used to choose between legacy encodings."""

from collections import Counter

SAMPLE_CHARACTERS = 20_000
REPLACEMENT = "\ufffd"


def japanese_score(text: str) -> float:
    """Return -1 (noise) to 1 (kana and common kanji) over the non-ASCII characters of a sample; 0 without any."""
    return _mean({char: count for char, count in _sample(text).items() if ord(char) >= 0x80})


def text_score(text: str) -> float:
    """Return -1 to 1 like `japanese_score`, counting printable ASCII as good and control characters as noise."""
    return _mean(_sample(text))


def kana_share(text: str) -> float:
    """Return the share of hiragana, katakana and 、。「」 in a sample."""
    counts = _sample(text)
    kana = sum(count for char, count in counts.items() if "\u3041" <= char <= "\u30fe" or char in "、。「」")
    return kana / max(1, counts.total())


def control_share(text: str) -> float:
    """Return the share of control characters, white space apart, in a sample."""
    counts = _sample(text)
    return sum(count for char, count in counts.items() if _is_control(char)) / max(1, counts.total())


def _sample(text: str) -> Counter[str]:
    return Counter(text[:SAMPLE_CHARACTERS])


def _is_control(char: str) -> bool:
    return (char < " " and char not in "\t\n\v\f\r\x1b") or "\x7f" <= char <= "\x9f"


def _mean(counts: dict[str, int]) -> float:
    total = sum(counts.values())
    return sum(_weight(char) * count for char, count in counts.items()) / total if total else 0.0


def _weight(char: str) -> float:
    code = ord(char)
    if char == REPLACEMENT or _is_control(char) or 0xE000 <= code <= 0xF8FF:
        return -1.0
    if code < 0x80 or 0x3000 <= code <= 0x30FF:
        return 1.0
    if 0x4E00 <= code <= 0x9FFF:
        return _kanji_weight(char)
    if 0xFF01 <= code <= 0xFF5E:
        return 0.8
    # Half-width kana: real text has some, but EUC-JP read as CP932 is full of it.
    return 0.3 if code > 0xFF5E else 0.4 if code < 0x3000 else 0.1


def _kanji_weight(char: str) -> float:
    """Level 1 of JIS X 0208 holds nearly all kanji of running text; misread bytes fall mostly outside it."""
    encoded = char.encode("euc_jp", errors="ignore")
    if not encoded:
        return 0.0
    return 0.8 if 0xB0 <= encoded[0] <= 0xCF else 0.3
