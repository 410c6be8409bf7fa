"""One process at a time for one run file; the system drops the lock when a process dies."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fumikura.errors import Conflict
from fumikura.file_lock import try_lock


@contextmanager
def only_writer(out: Path) -> Iterator[None]:
    """Hold the lock of a run file. Raises Conflict when another process writes it now."""
    out.parent.mkdir(parents=True, exist_ok=True)
    lock = out.with_name(f".{out.name}.lock")
    with lock.open("ab") as file:
        try:
            try_lock(file.fileno())
        except (BlockingIOError, PermissionError) as error:
            raise Conflict(
                f"{out} は別のプロセスが書いています。終わるのを待ってください。",
                f"another process writes {out} now: wait until it ends",
            ) from error
        yield
    with suppress(OSError):  # Windows keeps it while another process waits for it
        lock.unlink()
