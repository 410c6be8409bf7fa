"""Where a run's numbers come from: the program's revision, the machine, and a hash of what was asked about what."""

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path

from fumikura import __version__
from fumikura.evaluation.cases import QuestionSet

PACKAGE = Path(__file__).parents[1]


def revision() -> dict[str, str | None]:
    """Return the version and, in a git checkout, the commit with "+" when files were changed since."""
    return {"version": __version__, "commit": _commit()}


def machine() -> dict[str, object]:
    """Return what times depend on; nothing that tells one person's machine from another's of its kind."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
    }


def set_sha256(questions: QuestionSet, sources: Iterable[tuple[str, str]]) -> str:
    """Return a hash of the question file and of the sources, given as (name, SHA-256)."""
    whole = hashlib.sha256(questions.path.read_bytes())
    for name, sha256 in sources:
        whole.update(f"\n{name}\t{sha256}".encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def file_hashes(questions: QuestionSet) -> list[tuple[str, str]]:
    """Return the names and hashes of the set's own sources."""
    return [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in questions.source_files()]


def _commit() -> str | None:
    if not (PACKAGE.parent / ".git").exists():
        return None
    head = _git("rev-parse", "--short=12", "HEAD")
    return head and head + ("+" if _git("status", "--porcelain", "--", str(PACKAGE)) else "")


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=PACKAGE, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
