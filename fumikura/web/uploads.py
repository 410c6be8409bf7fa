"""From what a browser or program sends to files: their names made safe to show, what cannot be taken refused by name.

A name is only ever shown and compared. Nothing is written under it: the bytes go into the store.
"""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from starlette.datastructures import UploadFile

from fumikura.errors import FumikuraError, SourceError, SourceTooLarge, UnreadableSource
from fumikura.records import SourceFile

LONGEST_NAME = 200  # characters; longer ones are cut before their suffix
_LONGEST_SUFFIX = 20
_NAMED_IN_MESSAGE = 60
# Browsers send these three characters of a name as in a URL (HTML standard, multipart/form-data).
_ESCAPED = {"%22": '"', "%0D": "\r", "%0d": "\r", "%0A": "\n", "%0a": "\n"}
_ESCAPE = re.compile("|".join(_ESCAPED))
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"  # control characters, line ends, halves of a pair
    "\u200b\u200e\u200f\u061c\u202a-\u202e\u2060-\u2069\ufeff]"  # invisible, or turning the reading direction
)
_DRIVE = re.compile(r"^[A-Za-z]:")


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that was not taken, and why."""

    name: str
    error: FumikuraError


def clean_path(raw: str) -> str:
    """Return the name to show: the last part of a path, or all of it when it leads down from a folder (2024/memo.md).

    Control and direction marks are taken out, and each part is cut to 200 characters. Raises SourceError when nothing
    is left.
    """
    text = _ESCAPE.sub(lambda match: _ESCAPED[match.group()], raw)
    text = _CONTROL.sub("", unicodedata.normalize("NFC", text))
    parts = [part.strip() for part in text.replace("\\", "/").split("/")]
    leads_down = "\\" not in text and not _DRIVE.match(text) and all(part.strip(".") for part in parts)
    name = "/".join(map(_cut, parts)) if leads_down else _cut(parts[-1])
    if not name.strip(". "):
        raise SourceError(
            ja=f"ファイルの名前「{text[:_NAMED_IN_MESSAGE]}」は使えません。名前を付けて、もう一度追加してください。",
            en=f"The file name '{text[:_NAMED_IN_MESSAGE]}' cannot be used: give the file a name and add it again",
        )
    return name


def read_uploads(uploads: list[UploadFile], limit: int) -> Iterator[SourceFile | Refused]:
    """Yield each file with its bytes, or why it was refused; the bytes of one at a time are in memory.

    A name that was sent twice is told apart: memo.md, memo (2).md. The same name in a later request replaces.
    """
    taken: set[str] = set()
    for upload in uploads:
        raw = upload.filename or ""
        try:
            name = _told_apart(clean_path(raw), taken)
            taken.add(name)
            yield SourceFile(f"upload:{name}", name, _content(upload, name, limit))
        except SourceError as error:
            yield Refused(_CONTROL.sub("", raw)[:LONGEST_NAME], error)


def pasted_text(text: str, name: str, limit: int) -> SourceFile:
    """Return a text as a Markdown file. With a name it replaces the one of that name, without it is a new source.

    Raises UnreadableSource for a blank text, SourceTooLarge, SourceError for a name that cannot be used.
    """
    content = text.encode("utf-8", errors="replace")
    shown = clean_path(name) if name.strip() else _first_words(text)
    if not text.strip():
        raise UnreadableSource(
            ja="貼り付けた文章が空です。文章を入れてください。", en="The pasted text is blank: put some text in"
        )
    check_size(shown, len(content), limit)
    if not PurePosixPath(shown).suffix:
        shown += ".md"
    own = shown if name.strip() else hashlib.sha256(content).hexdigest()[:16]
    return SourceFile(f"upload:{own}" if name.strip() else f"text:{own}", shown, content)


def check_size(name: str, size: int, limit: int) -> None:
    """Raise SourceTooLarge beyond `limit` bytes."""
    if size > limit:
        raise SourceTooLarge(
            ja=f"{name} は {size:,} バイトで、上限 {limit:,} バイト（limits.source_bytes）を超えています。",
            en=f"{name} has {size:,} bytes, over the limit of {limit:,} (limits.source_bytes)",
        )


def _content(upload: UploadFile, name: str, limit: int) -> bytes:
    check_size(name, upload.size or 0, limit)
    content = upload.file.read()
    if not content:
        raise UnreadableSource(
            ja=f"{name} は空です（0 バイト）。中身のあるファイルを追加してください。",
            en=f"{name} is empty (0 bytes): add a file that holds something",
        )
    return content


def _told_apart(name: str, taken: Collection[str]) -> str:
    stem, suffix = _split(name)
    count = 1
    candidate = name
    while candidate in taken:
        count += 1
        candidate = f"{stem} ({count}){suffix}"
    return candidate


def _cut(name: str) -> str:
    stem, suffix = _split(name)
    return name if len(name) <= LONGEST_NAME else stem[: LONGEST_NAME - len(suffix)] + suffix


def _split(name: str) -> tuple[str, str]:
    """Return the name without its suffix, and the suffix: as loaders see it, where it is short enough to be one."""
    suffix = PurePosixPath(name).suffix
    if not suffix or len(suffix) > _LONGEST_SUFFIX:
        return name, ""
    return name[: -len(suffix)], suffix


def _first_words(text: str) -> str:
    """Return the start of the first line that holds something, without marks that only a path or a heading has."""
    lines = (re.sub(r"^[#>\-*\s]+", "", line) for line in text.splitlines())
    line = next(filter(str.strip, lines), "")
    words = _CONTROL.sub("", line).replace("/", "／").replace("\\", "＼")
    return words[:40].rstrip(" .") or "メモ"
