"""Takes out of a model's answer what may never reach a reader: pictures that load by themselves, leftover thinking."""

import re
from collections.abc import Callable

_CODE = re.compile(r"(```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]+`)", re.DOTALL)
_IMAGES = re.compile(
    r"!\[[^\]]*\](?:\([^)\n]*\)?|\[[^\]]*\])?"
    r"|<\s*(?P<pair>picture|svg|iframe|object|video|audio|style|script)\b.*?(?:<\s*/\s*(?P=pair)\s*>|\Z)"
    r"|<\s*/?\s*(?:img|image|input|embed|link|source|track|base|meta|picture|svg|iframe|object|video|audio|style|script)\b[^>]*(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_BLANK_LINES = re.compile(r"[ \t]*\n(?:[ \t]*\n){2,}")
_THOUGHT = r"(?:think|thinking|thought|reasoning)"
_THOUGHT_PAIR = re.compile(rf"<{_THOUGHT}>.*?</{_THOUGHT}>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(rf"^.*</{_THOUGHT}>", re.DOTALL | re.IGNORECASE)
_THOUGHT_START = re.compile(rf"<{_THOUGHT}>(?:.*?\n\s*\n|.*\Z)", re.DOTALL | re.IGNORECASE)

_KANA = re.compile(r"[ぁ-ゖァ-ヺ]")
_HAN = re.compile(r"[㐀-䶿一-鿿]")
_QUOTED = re.compile(r"「[^「」]*」|『[^『』]*』")
_CHINESE_WORDS = re.compile(r"[這您沒麼們]|[一-鿿]是[一-鿿]")
SIMPLIFIED_SHARE = 0.1  # of the ideographs, in a text that also holds kana (a Chinese name)


def strip_images(text: str) -> str:
    """Remove image markup, Markdown and HTML, and other elements that load an address without a click.

    Code and links stay: a link opens only when it is clicked.
    """
    return _BLANK_LINES.sub("\n\n", outside_code(text, lambda part: _IMAGES.sub("", part)))


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Return `text` with `change` applied to all but its Markdown code."""
    parts = _CODE.split(text)
    parts[::2] = [change(part) for part in parts[::2]]
    return "".join(parts)


def strip_thinking(text: str) -> str:
    """Remove thinking text that slipped through: a pair, all before a lone closing tag, an unclosed first part."""
    answer = _THOUGHT_END.sub("", _THOUGHT_PAIR.sub("", text))
    return _THOUGHT_START.sub("", answer)


def looks_chinese(text: str) -> bool:
    """Whether an answer is Chinese: it has simplified forms that Japanese lacks (馆, 间), or Chinese grammar words."""
    spoken = _QUOTED.sub("", text)
    characters = _HAN.findall(spoken)
    simplified = sum(map(_is_simplified, characters))
    if _KANA.search(spoken):
        return simplified >= 3 and simplified >= SIMPLIFIED_SHARE * len(characters)
    return simplified > 0 or bool(_CHINESE_WORDS.search(spoken))


def _is_simplified(character: str) -> bool:
    """Whether the mainland's standard has this character and Japan's has not."""
    return _encodes(character, "gb2312") and not _encodes(character, "cp932")


def _encodes(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
