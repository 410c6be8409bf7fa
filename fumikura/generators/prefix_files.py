"""Computed prefixes in a folder: only whole, fitting files come back out, and the folder stays within its limit.

A state file is named in its sidecar together with its size, its checksum and all that it depends on. The sidecar's
rename is the moment from which the state exists; a state that no sidecar names is rubbish. So several processes can
share the folder without a lock. Does not know how a state is computed or what is in it.
"""

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fumikura.errors import BackendRefused

LIMIT_BYTES = 2 << 30  # 28.7 KB a token with the default model: about 70,000 tokens
BLOCK_BYTES = 1 << 20
RUBBISH_S = 3600.0  # a younger file may belong to a process that is writing it
STATE, SIDECAR, PART = ".state", ".json", ".part"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """All that a state depends on: with any of these changed it would be another state, or none that can be read."""

    model_file: str
    model_bytes: int
    model_mtime_ns: int
    context_tokens: int
    engine: str
    cache_type: str
    prefix_sha256: str

    @property
    def key(self) -> str:
        """Return a file name that no other fingerprint has."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class KeptPrefix:
    """A state file that was found whole."""

    path: Path
    token_count: int


class PrefixFiles:
    """The folder. Above `limit_bytes` the least recently used states are removed; the newest always stays."""

    def __init__(self, folder: Path, limit_bytes: int = LIMIT_BYTES) -> None:
        self.folder = folder
        self._limit_bytes = limit_bytes
        self._checked: dict[str, tuple[int, int]] = {}  # name: size and change time of a file whose checksum was right

    def prepare(self) -> bool:
        """Make the folder, for its owner only; False where that is not possible: then nothing is kept."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.access(self.folder, os.W_OK)
        except OSError:
            return False

    def find(self, fingerprint: Fingerprint) -> KeptPrefix | None:
        """Return the state of exactly this fingerprint; a damaged one is removed."""
        sidecar = self._sidecar(fingerprint)
        try:
            entry = json.loads(sidecar.read_bytes())
            path = self.folder / Path(str(entry["state"])).name
            if entry["fingerprint"] == asdict(fingerprint) and self._is_whole(path, entry):
                os.utime(sidecar)
                return KeptPrefix(path, int(entry["token_count"]))
        except (OSError, ValueError, KeyError, TypeError):
            pass  # not there, cut or foreign: what is left of it is of no use to anybody
        self.remove(fingerprint)
        return None

    @contextmanager
    def part(self) -> Iterator[Path]:
        """Give a path to write a state to; it is gone after the block unless `keep` took it."""
        path = self.folder / f"{secrets.token_hex(12)}{PART}"
        try:
            yield path
        except OSError as error:
            raise _not_written(self.folder, error) from error
        finally:
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def keep(self, fingerprint: Fingerprint, part: Path, token_count: int) -> None:
        """Make the written state the one of this fingerprint; only inside `part`. Raises BackendRefused, OSError."""
        part.chmod(0o600)
        checksum, size = _checksum(part), part.stat().st_size
        state = self.folder / f"{fingerprint.key}-{checksum[:16]}{STATE}"
        part.replace(state)
        entry = {
            "state": state.name,
            "size_bytes": size,
            "sha256": checksum,
            "token_count": token_count,
            "fingerprint": asdict(fingerprint),
        }
        try:
            self._write(self._sidecar(fingerprint), entry)
        except BackendRefused:
            state.unlink(missing_ok=True)
            raise
        self._checked[state.name] = _stamp(state)
        self.prune()

    def remove(self, fingerprint: Fingerprint) -> None:
        """Remove the state of this fingerprint."""
        self._remove(self._sidecar(fingerprint))

    def forget(self, wanted: Callable[[str], bool]) -> int:
        """Remove the states whose prefix hash is not wanted, and what no sidecar names; return how many there were.

        Raises BackendRefused when a file stays.
        """
        unwanted = [path for path, entry in self._entries() if not wanted(_prefix_of(entry))]
        for sidecar in unwanted:
            self._remove(sidecar)
        self._remove_rubbish(0.0)
        left = [path for path in unwanted if path.exists()]
        if left:
            raise BackendRefused(
                ja=f"計算済みの資料のファイル {left[0]} を消せません。フォルダーの権限を確かめ、手で消してください。",
                en=f"Cannot remove the computed prefix {left[0]}: check the folder's permissions and remove it by hand",
            )
        return len(unwanted)

    def prune(self) -> None:
        """Remove the least recently used states above the limit, and rubbish of processes that died."""
        self._remove_rubbish(RUBBISH_S)
        used = 0
        newest_first = sorted(self._entries(), key=lambda found: _used_at(found[0]), reverse=True)
        for position, (sidecar, entry) in enumerate(newest_first):
            used += int(entry.get("size_bytes") or 0)
            if used > self._limit_bytes and position > 0:
                self._remove(sidecar)

    def _sidecar(self, fingerprint: Fingerprint) -> Path:
        return self.folder / f"{fingerprint.key}{SIDECAR}"

    def _is_whole(self, path: Path, entry: dict[str, Any]) -> bool:
        """Tell whether the file is the one that was written: llama.cpp aborts the process on a cut one (SIGABRT)."""
        stamp = _stamp(path)
        if stamp[0] != entry["size_bytes"]:
            return False
        if self._checked.get(path.name) != stamp:
            if _checksum(path) != entry["sha256"]:
                return False
            self._checked[path.name] = stamp
        return True

    def _entries(self) -> list[tuple[Path, dict[str, Any]]]:
        return [(path, _read(path)) for path in self.folder.glob(f"*{SIDECAR}")]

    def _remove(self, sidecar: Path) -> None:
        """Remove the sidecar first: from then on nobody finds the state."""
        states = list(self.folder.glob(f"{sidecar.stem}-*{STATE}"))
        for path in (sidecar, *states):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _remove_rubbish(self, older_than_s: float) -> None:
        named = {str(entry.get("state")) for _, entry in self._entries()}
        before = time.time() - older_than_s
        for path in (*self.folder.glob(f"*{PART}"), *self.folder.glob(f"*{STATE}")):
            if path.name not in named and _used_at(path) <= before:
                with suppress(OSError):
                    path.unlink(missing_ok=True)

    def _write(self, path: Path, entry: dict[str, Any]) -> None:
        with self.part() as part:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                json.dump(entry, file)
            part.replace(path)


def _read(sidecar: Path) -> dict[str, Any]:
    """Return what the sidecar says; nothing when it is cut or has just been removed."""
    try:
        entry = json.loads(sidecar.read_bytes())
    except (OSError, ValueError):
        return {}
    return entry if isinstance(entry, dict) else {}


def _prefix_of(entry: dict[str, Any]) -> str:
    fingerprint = entry.get("fingerprint")
    return str(fingerprint.get("prefix_sha256")) if isinstance(fingerprint, dict) else ""


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _used_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _not_written(folder: Path, error: OSError) -> BackendRefused:
    reason = error.strerror or str(error)
    return BackendRefused(
        ja=f"計算済みの資料を {folder} に保存できません（{reason}）。ディスクの空きと権限を確かめてください。"
        "回答はできますが、再起動のあとに計算し直します。",
        en=f"Cannot keep the computed prefix in {folder} ({reason}): check free disk space and permissions. "
        "Answers work, but the prefix is computed again after a restart",
    )
