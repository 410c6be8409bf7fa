"""Bytes to text, in a strict order that never reads one encoding as another without saying so.

BOM, ISO-2022-JP by its escapes, UTF-16 by its NULs, strict UTF-8, UTF-8 with a few broken bytes, and last CP932
against EUC-JP. Knows nothing of file kinds.
"""

import codecs
import re
from dataclasses import dataclass, replace

from fumikura.errors import SettingsError, UnreadableSource
from fumikura.loaders.scoring import REPLACEMENT, control_share, japanese_score, kana_share, text_score
from fumikura.records import Notice

# UTF-32 before UTF-16: the little-endian marks begin alike.
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BINARY_MARKS = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b", b"\xd0\xcf\x11\xe0")
_JIS_ESCAPE = re.compile(rb"\x1b\$[@B]|\x1b\$\(D|\x1b\([IJ]")
_SURROGATE_BYTES = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_CONTROL_BYTE = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_JIS_SEGMENT = re.compile(rb"(\x1b\$[@B]|\x1b\$\([@BD]|\x1b\([BIJH]|\n)")
_HIGH_RUN = re.compile(rb"[\x80-\xff]{3}")
_LINE_END = re.compile(r"\r\n?")
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")

# Scores of 1.1k-character encyclopedia texts: right reading 0.7-0.9, wrong reading below 0.35.
_GOOD_SCORE = 0.5
_CLEAR_MARGIN = 0.2
_KANA_SHARE = 0.25
_MAX_CONTROL_SHARE = 0.05
_VALID_PER_BROKEN = 4  # CP932 or EUC-JP read as UTF-8 has more broken than valid sequences


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text with line feeds as line ends, and how sure its encoding is."""

    text: str
    encoding: str
    certain: bool = True
    notices: tuple[Notice, ...] = ()


def decode(content: bytes, encoding: str | None = None) -> Decoded:
    """Return the text of `content`; `encoding` overrides the guess.

    Raises UnreadableSource when the bytes are no text, SettingsError when `encoding` is no codec.
    """
    reading = _read(content, _known(encoding)) if encoding is not None else _guess(content)
    return replace(reading, text=clean_text(reading.text))


def clean_text(text: str) -> str:
    """Unify line ends to line feeds, drop NULs and leading BOMs, and turn lone surrogates into U+FFFD."""
    unified = _LINE_END.sub("\n", text.lstrip("\ufeff").replace("\0", ""))
    return _LONE_SURROGATE.sub(REPLACEMENT, unified)


def _guess(content: bytes) -> Decoded:
    for mark, name in _BOMS:
        if content.startswith(mark):
            return _read(content[len(mark) :], name)
    if content.startswith(_BINARY_MARKS):
        raise _no_text()
    return _reject_binary(_decode_unmarked(content))


def _decode_unmarked(content: bytes) -> Decoded:
    if _JIS_ESCAPE.search(content) and content.isascii():
        return _finish(_jis_as_euc(content), "euc_jis_2004", "iso-2022-jp")
    if _SURROGATE_BYTES.search(content):
        content = _without_surrogates(content)
    valid, broken = _utf8_counts(content)
    if broken == 0 and not _CONTROL_BYTE.search(content):
        return _read(content, "utf-8")
    wide = _as_utf16(content)
    if wide is not None:
        return _read(content, wide)
    if valid >= _VALID_PER_BROKEN * broken:
        return _read(content, "utf-8")
    return _decode_legacy(content)


def _without_surrogates(content: bytes) -> bytes:
    """Repair UTF-8 that was written from UTF-16 unit by unit: pairs are joined, lone halves become U+FFFD."""
    try:
        units = content.decode("utf-8", errors="surrogatepass").encode("utf-16-le", errors="surrogatepass")
    except UnicodeDecodeError:
        return content
    return units.decode("utf-16-le", errors="replace").encode()


def _utf8_counts(content: bytes) -> tuple[int, int]:
    """Return how many valid non-ASCII characters and how many broken places a reading as UTF-8 has."""
    text = content.decode("utf-8", errors="replace")
    broken = text.count(REPLACEMENT) - content.count(REPLACEMENT.encode())
    return len(text) - len(text.encode("ascii", errors="ignore")) - broken, broken


def _as_utf16(content: bytes) -> str | None:
    """Return the byte order when this is UTF-16 without a BOM: NULs where ASCII stands, or else plenty of kana."""
    if b"\0" not in content and not _may_be_kana_pairs(content):
        return None
    readings = {name: content.decode(name, errors="replace") for name in ("utf-16-le", "utf-16-be")}
    (second, _), (best, name) = sorted((text_score(text), name) for name, text in readings.items())
    if best < _GOOD_SCORE or best - second < _CLEAR_MARGIN:
        return None
    return name if b"\0" in content or kana_share(readings[name]) >= _KANA_SHARE else None


def _may_be_kana_pairs(content: bytes) -> bool:
    """In UTF-16 the high byte of kana is 0x30; the same bytes as ASCII would be every second one a zero digit."""
    pairs = len(content) // 2
    return len(content) % 2 == 0 and content.count(b"0") >= _KANA_SHARE * max(1, pairs)


def _decode_legacy(content: bytes) -> Decoded:
    readings = [_finish(content, "cp932", "cp932"), _finish(content, _euc_codec(content), "euc-jp")]
    scores = sorted((japanese_score(reading.text), -place) for place, reading in enumerate(readings))
    (second, _), (best, place) = scores
    if best < _GOOD_SCORE and _looks_western(content):
        return _uncertain(_finish(content, "cp1252", "cp1252"))
    if best < 0:
        raise _no_text()
    # Half-width kana in CP932 and kanji in EUC-JP are the same bytes: without any kana only a bad second reading tells.
    told = kana_share(readings[-place].text) > 0 or second < 0
    clear = told and best >= _GOOD_SCORE and best - second >= _CLEAR_MARGIN and not _has_controls(content)
    return readings[-place] if clear else _uncertain(readings[-place])


def _looks_western(content: bytes) -> bool:
    """Accented letters stand alone among ASCII ones; Japanese bytes come in pairs."""
    ascii_text = content.decode("ascii", errors="ignore")
    return not _HIGH_RUN.search(content) and len(ascii_text) > 0.8 * len(content) and control_share(ascii_text) == 0


def _has_controls(content: bytes) -> bool:
    """Short UTF-16 without a BOM can read as good CP932, but then control characters stand between."""
    return control_share(content[:1000].decode("ascii", errors="ignore")) > 0


def _euc_codec(content: bytes) -> str:
    """Plain EUC-JP lacks ① and ㈱ (row 13), which JIS X 0213 has; JIS X 0212 is only in plain EUC-JP."""
    try:
        content.decode("euc_jp")
    except UnicodeDecodeError:
        return "euc_jis_2004"
    return "euc_jp"


def _jis_as_euc(content: bytes) -> bytes:
    """Turn ISO-2022-JP into EUC-JP, its eight-bit form: the codecs for EUC also know row 13 (①, ㈱).

    A line end returns to ASCII even where the closing escape is missing (RFC 1468 demands it there).
    """
    parts, mode = [], b"("
    for piece in _JIS_SEGMENT.split(content):
        if piece.startswith(b"\x1b") or piece == b"\n":
            mode = b"(" if piece == b"\n" else piece[1:]
        parts.append(b"" if piece.startswith(b"\x1b") else _raise_segment(piece, mode))
    return b"".join(parts)


def _raise_segment(piece: bytes, mode: bytes) -> bytes:
    if mode == b"(I":
        return b"".join(b"\x8e" + bytes([byte | 0x80]) for byte in piece)
    if not mode.startswith(b"$"):
        return piece
    raised = bytes(byte | 0x80 if byte > 0x20 else byte for byte in piece)
    if mode != b"$(D":
        return raised
    return b"".join(b"\x8f" + raised[place : place + 2] for place in range(0, len(raised), 2))


def _read(content: bytes, encoding: str) -> Decoded:
    return _finish(content, encoding, encoding)


def _finish(content: bytes, codec: str, name: str) -> Decoded:
    text = content.decode(codec, errors="replace")
    broken = text.count(REPLACEMENT) - (content.count(REPLACEMENT.encode()) if codec == "utf-8" else 0)
    notices = [_broken(broken, name)] if broken else []
    if nul_count := text.count("\0"):
        notices.append(Notice(f"NUL文字を{nul_count}個取り除きました。", f"{nul_count} NUL characters were removed."))
    return Decoded(text, name, notices=tuple(notices))


def _broken(count: int, name: str) -> Notice:
    return Notice(
        f"読めないバイトが{count}か所あり、「{REPLACEMENT}」に置き換えました({name})。",
        f"{count} bytes could not be read and were replaced by {REPLACEMENT} ({name}).",
    )


def _uncertain(reading: Decoded) -> Decoded:
    notice = Notice(
        f"文字コードを確定できません({reading.encoding} として読みました)。表示を確かめてください。",
        f"The encoding is not certain (read as {reading.encoding}): check how the text looks.",
    )
    return Decoded(reading.text, reading.encoding, certain=False, notices=(*reading.notices, notice))


def _reject_binary(reading: Decoded) -> Decoded:
    if control_share(reading.text) > _MAX_CONTROL_SHARE:
        raise _no_text()
    return reading


def _no_text() -> UnreadableSource:
    return UnreadableSource(
        ja="ファイルの中身が文章ではありません(バイナリ)。テキストとして保存したものを追加してください。",
        en="The file holds binary content, not text: save it as text and add that.",
    )


def _known(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError as error:
        raise SettingsError(
            ja=f"文字コード「{encoding}」は知られていません。utf-8、cp932、euc-jp などを指定してください。",
            en=f"Unknown encoding '{encoding}': give one such as utf-8, cp932 or euc-jp.",
        ) from error
