"""One fetch at a time in a models folder, across processes; the system drops the lock when a process dies."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fumikura.errors import DownloadFailed
from fumikura.file_lock import try_lock


@contextmanager
def only_fetcher(folder: Path) -> Iterator[None]:
    """Hold the folder's lock. Raises DownloadFailed when another process fetches into it now."""
    path = folder / ".fetch.lock"
    with path.open("ab") as file:
        try:
            try_lock(file.fileno())
        except (BlockingIOError, PermissionError) as error:
            raise DownloadFailed(
                ja=f"別のプロセスが {folder} にモデルを取得しています。終わるのを待って再実行してください。",
                en=f"Another process is fetching a model into {folder}: wait for it and run this again",
            ) from error
        yield
