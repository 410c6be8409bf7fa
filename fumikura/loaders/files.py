"""From the paths a person names to the bytes of single files: folders walked, names made stable (NFC)."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from fumikura.errors import NotFound, SourceTooLarge, UnreadableSource
from fumikura.records import SourceFile


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to add. `origin` is its absolute path, so that the same name in two folders stays two sources."""

    path: Path
    origin: str
    name: str


def find_files(paths: Iterable[Path]) -> list[FoundFile]:
    """Return the files named or lying in the folders named, sorted; hidden files and folders are left out.

    Raises NotFound for a path that does not exist.
    """
    found: dict[str, FoundFile] = {}
    for path in paths:
        for file, name in _walk(path):
            origin = _nfc(str(file.absolute()))
            found.setdefault(origin, FoundFile(file, origin, name))
    return _told_apart(list(found.values()))


def read_file(file: FoundFile, limit: int) -> SourceFile:
    """Return the bytes. Raises SourceTooLarge beyond `limit` bytes and UnreadableSource when the disk refuses."""
    try:
        size = file.path.stat().st_size
        if size > limit:
            raise SourceTooLarge(
                f"{file.name} は {size:,} バイトで、上限 {limit:,} バイト（limits.source_bytes）を超えています。",
                f"{file.name} has {size:,} bytes, over the limit of {limit:,} (limits.source_bytes)",
            )
        content = file.path.read_bytes()
        modified = datetime.fromtimestamp(file.path.stat().st_mtime, UTC).date().isoformat()
    except OSError as error:
        raise UnreadableSource(
            f"{file.name} を読めません（{error.strerror}）。権限とディスクを確認してください。",
            f"cannot read {file.name} ({error.strerror}): check its permissions and the disk",
        ) from error
    return SourceFile(file.origin, file.name, content, modified)


def _walk(path: Path) -> list[tuple[Path, str]]:
    if path.is_file():
        return [(path, _nfc(path.name))]
    if not path.is_dir():
        raise NotFound(
            f"{path} が見つかりません。パスを確認してください。",
            f"{path} does not exist: check the path",
        )
    root = path.absolute()
    files = sorted(p for p in root.rglob("*") if p.is_file() and not _hidden(p.relative_to(root)))
    return [(p, _nfc(f"{root.name}/{p.relative_to(root).as_posix()}")) for p in files]


def _hidden(relative: Path) -> bool:
    return any(part.startswith(".") for part in relative.parts)


def _told_apart(files: list[FoundFile]) -> list[FoundFile]:
    """Put the parent folder before names that occur twice: 2024/invoice.md and 2025/invoice.md."""
    counts: dict[str, int] = {}
    for file in files:
        counts[file.name] = counts.get(file.name, 0) + 1
    return [
        file
        if counts[file.name] == 1
        else FoundFile(file.path, file.origin, _nfc(f"{file.path.absolute().parent.name}/{file.path.name}"))
        for file in files
    ]


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
