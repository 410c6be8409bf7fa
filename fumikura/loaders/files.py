"""From the paths a person names to the bytes of single files: folders walked, names made stable (NFC)."""

import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath

from fumikura.errors import NotFound, SourceTooLarge, UnreadableSource
from fumikura.records import SourceFile


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to add. `origin` is its absolute path, so that the same name in two folders stays two sources."""

    path: Path
    origin: str
    name: str


def find_files(paths: Iterable[Path], *, except_in: Path | None = None) -> list[FoundFile]:
    """Return the files named or lying in the folders named, sorted; hidden files and folders are left out.

    So are linked folders (they may loop) and what lies in `except_in`, the program's own data. Names may occur twice:
    `told_apart` mends that. Raises NotFound for a path that does not exist.
    """
    found: dict[str, FoundFile] = {}
    for path in paths:
        for file, name in _walk(path, except_in):
            origin = _nfc(os.path.normpath(file.absolute()))
            found.setdefault(origin, FoundFile(file, origin, name))
    return list(found.values())


def told_apart(files: Sequence[FoundFile], taken: Mapping[str, str]) -> list[FoundFile]:
    """Put folders before names that another source has, until each is the only one: 2024/invoice.md.

    `taken` maps the names that the notebook has already to their origins; a lengthened name is kept.
    """
    owners, counts = dict(taken), Counter(file.name for file in files)
    held = {origin: name for name, origin in taken.items()}
    told = []
    for file in files:
        names = [name for name in _names(file) if owners.get(name, file.origin) == file.origin]
        # Of two new files with one name neither keeps it: it would say nothing.
        fitting = (name for name in names if name != file.name or counts[name] == 1)
        name = held[file.origin] if held.get(file.origin) in names else next(fitting, file.origin)
        owners[name] = file.origin
        told.append(replace(file, name=name))
    return told


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


def _walk(path: Path, except_in: Path | None) -> list[tuple[Path, str]]:
    if path.is_file():
        return [(path, _nfc(path.name))]
    if not path.is_dir():
        raise NotFound(
            f"{path} が見つかりません。パスを確認してください。",
            f"{path} does not exist: check the path",
        )
    root = Path(os.path.normpath(path.absolute()))
    files = sorted(_files(root, except_in))
    return [(file, _nfc(f"{root.name}/{file.relative_to(root).as_posix()}")) for file in files]


def _files(root: Path, except_in: Path | None) -> Iterator[Path]:
    """Yield the files below `root`; a folder that may not be opened as `folder/*`, whose reading then says why."""
    shut: list[Path] = []
    for folder, folders, names in os.walk(root, onerror=lambda error: shut.append(Path(error.filename))):
        kept = [name for name in folders if not name.startswith(".") and Path(folder, name) != except_in]
        folders[:] = kept
        files = (Path(folder, name) for name in names if not name.startswith("."))
        yield from (file for file in files if file.is_file())
    yield from (folder / "*" for folder in shut)


def _names(file: FoundFile) -> Iterator[str]:
    """Yield the name, then ever longer ends of the path."""
    yield file.name
    parts = PurePath(file.origin).parts
    for count in range(len(PurePath(file.name).parts) + 1, len(parts)):
        yield "/".join(parts[-count:])


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
