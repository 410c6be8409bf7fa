"""What every text loader does alike: names in NFC, hash and size of the bytes, notices in order."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from pathlib import PurePosixPath

from fumikura.loaders.dates import date_of
from fumikura.loaders.decoding import Decoded
from fumikura.records import Notice, Section, Source, SourceFile

_SUFFIX = re.compile(r"(?<=.)\.[A-Za-z][A-Za-z0-9]*$")  # the last dot of a date (2025.03.02) starts none


def stem_of(name: str) -> str:
    """Return the NFC file name without folders and suffix."""
    return _SUFFIX.sub("", PurePosixPath(unicodedata.normalize("NFC", name)).name)


def make_source(
    file: SourceFile,
    kind: str,
    decoded: Decoded,
    sections: tuple[Section, ...],
    *,
    title: str = "",
    metadata: Mapping[str, str] | None = None,
    notices: tuple[Notice, ...] = (),
) -> Source:
    """Return the source; its text is that of its sections, and its date never the time of the file's last change."""
    stem = stem_of(file.name)
    written = dict(metadata or {})
    return Source(
        origin=unicodedata.normalize("NFC", file.origin),
        name=unicodedata.normalize("NFC", file.name),
        kind=kind,
        text="".join(section.text for section in sections),
        sections=sections,
        sha256=hashlib.sha256(file.content).hexdigest(),
        size_bytes=len(file.content),
        title=unicodedata.normalize("NFC", title or stem),
        date=date_of(written, stem),
        encoding=decoded.encoding,
        encoding_certain=decoded.certain,
        metadata=({"modified": file.modified} if file.modified else {}) | written,
        notices=(*decoded.notices, *notices),
    )
