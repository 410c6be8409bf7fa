"""How texts and names are brought into the form that SQLite takes."""

import hashlib
import re
import unicodedata
from datetime import UTC, datetime

LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot hold, by U+FFFD one for one: offsets stay right."""
    return LONE_SURROGATE.sub("\ufffd", text)


def nfc(name: str) -> str:
    """Return the name in Unicode NFC, so that a name from macOS (NFD) is the same name."""
    return unicodedata.normalize("NFC", clean(name))


def content_sha256(embed_text: str) -> str:
    """Return the hash under which a chunk's vector is known: of `Chunk.embed_text`."""
    return hashlib.sha256(clean(embed_text).encode()).hexdigest()


def now() -> str:
    """Return the time as ISO text in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
