"""A lock on an open file, held across processes; the system drops it when a process dies."""

import sys

if sys.platform == "win32":
    import msvcrt

    def try_lock(handle: int) -> None:
        """Lock the file of this handle. Raises PermissionError when another process holds it."""
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def try_lock(handle: int) -> None:
        """Lock the file of this handle. Raises BlockingIOError when another process holds it."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
