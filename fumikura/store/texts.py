"""How texts, names and notices are brought into the form that SQLite takes."""

import hashlib
import json
import re
import secrets
import unicodedata
from datetime import UTC, datetime

from fumikura.errors import QuestionError
from fumikura.records import Notice

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# Control characters, and the marks that turn the direction of what follows: a name must not disguise another.
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
LONGEST_NAME = 200  # characters


def clean(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot hold, by U+FFFD one for one: offsets stay right."""
    return LONE_SURROGATE.sub("\ufffd", text)


def nfc(name: str) -> str:
    """Return the name in Unicode NFC, so that a name from macOS (NFD) is the same name."""
    return unicodedata.normalize("NFC", clean(name))


def one_line(text: str) -> str:
    """Return the text as a name: NFC, in one line, without unseen characters."""
    return " ".join(UNSEEN.sub("", " ".join(nfc(text).split())).split())


def checked_name(text: str) -> str:
    """Return the text as a name. Raises QuestionError when it is blank or over 200 characters."""
    name = one_line(text)
    if not name:
        raise QuestionError(
            ja="名前が空です。1 文字以上で付けてください。", en="the name is blank: give it at least one character"
        )
    if len(name) > LONGEST_NAME:
        raise QuestionError(
            ja=f"名前「{name[:20]}…」は {len(name):,} 文字です。{LONGEST_NAME} 文字までで付けてください。",
            en=f"the name '{name[:20]}…' has {len(name):,} characters: give it at most {LONGEST_NAME}",
        )
    return name


def as_json(value: object) -> str:
    """Return the value as JSON text that UTF-8 can hold."""
    return clean(json.dumps(value, ensure_ascii=False))


def notice_json(notice: Notice | None) -> str | None:
    """Return a notice as it is stored, None for none."""
    return None if notice is None else as_json([notice.ja, notice.en])


def stored_notice(value: str | None) -> Notice | None:
    """Return the notice that `notice_json` wrote."""
    return None if value is None else Notice(*json.loads(value))


def content_sha256(embed_text: str) -> str:
    """Return the hash under which a chunk's vector is known: of `Chunk.embed_text`."""
    return hashlib.sha256(clean(embed_text).encode()).hexdigest()


def new_id() -> str:
    """Return a public id, which nobody can guess."""
    return secrets.token_hex(8)


def now(timespec: str = "seconds") -> str:
    """Return the time as ISO text in UTC, to the second (or as datetime.isoformat's `timespec` says)."""
    return datetime.now(UTC).isoformat(timespec=timespec)
