"""Starts `fumikura serve` in the background unless it runs already, waits until it answers, prints its address.

Log and process id: logs/server.log, logs/server.pid. Standard library and fumikura only.
"""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from fumikura.errors import Conflict
from fumikura.library import find_places
from fumikura.web.server import LOCK_FILE, only_server

LOGS = Path(__file__).parents[1] / "logs"
PATIENCE_S = 60.0


def running_address(data: Path) -> str | None:
    """Return the address of the server that holds this data folder, None when there is none."""
    try:
        with only_server(data):
            return None
    except Conflict:
        return (data / LOCK_FILE).read_text(encoding="utf-8").strip()


def answers(address: str) -> bool:
    """Tell whether a server answers there; one that asks for its token does."""
    try:
        with urllib.request.urlopen(f"{address}/api/health", timeout=5):
            return True
    except urllib.error.HTTPError as error:
        return error.code == 401
    except OSError:
        return False


def start() -> subprocess.Popen[bytes]:
    """Start the server; it outlives this terminal."""
    LOGS.mkdir(exist_ok=True)
    with (LOGS / "server.log").open("ab") as log:
        command = [sys.executable, "-m", "fumikura", "serve"]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=os.environ
        )
    (LOGS / "server.pid").write_text(f"{process.pid}\n", encoding="ascii")
    return process


def main() -> int:
    """Return 0 once the server answers."""
    data = find_places(None, None).data
    address = running_address(data)
    process = None if address else start()
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and (process is None or process.poll() is None):
        address = running_address(data) if process else address
        if address and answers(address):
            sys.stdout.write(f"{address}\n")
            return 0
        time.sleep(0.2)
    sys.stderr.write(f"サーバーが応答しません / the server does not answer: {LOGS / 'server.log'}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
