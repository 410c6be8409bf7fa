"""How quickly the command line is there: import and --help, whole processes, median of five."""

import statistics
import subprocess
import sys
import time

from bench.report import Figure, at_most


def run() -> list[Figure]:
    """Time `import fumikura.cli` and `fumikura --help`, beside an empty Python process."""
    empty = _median([sys.executable, "-c", "pass"])
    imported = _median([sys.executable, "-c", "import fumikura.cli"])
    shown = _median([sys.executable, "-m", "fumikura", "--help"])
    return [
        Figure("empty Python process", empty, "s"),
        at_most("import fumikura.cli (empty process taken off)", imported - empty, "s", 0.3),
        at_most("fumikura --help, whole process", shown, "s", 0.5),
    ]


def _median(command: list[str], tries: int = 5) -> float:
    times = []
    for _ in range(tries):
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)
