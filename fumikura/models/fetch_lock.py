"""One fetch at a time in a models folder, across processes; the system drops the lock when a process dies."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fumikura.errors import DownloadFailed

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def only_fetcher(folder: Path) -> Iterator[None]:
    """Hold the folder's lock. Raises DownloadFailed when another process fetches into it now."""
    path = folder / ".fetch.lock"
    with path.open("ab") as file:
        try:
            _try_lock(file.fileno())
        except (BlockingIOError, PermissionError) as error:
            raise DownloadFailed(
                ja=f"別のプロセスが {folder} にモデルを取得しています。終わるのを待って再実行してください。",
                en=f"Another process is fetching a model into {folder}: wait for it and run this again",
            ) from error
        yield
