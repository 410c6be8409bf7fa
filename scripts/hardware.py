"""Tell what this machine has, in plain lines (stage 2 of setup.sh)."""

import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request

GIB = 1 << 30


def gpu() -> str:
    """Return the names of the GPUs, or that there is none."""
    if not shutil.which("nvidia-smi"):
        return "なし、CPU で動きます / none, the CPU does the work"
    run = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout.strip() or "なし / none"


def ollama(url: str) -> str:
    """Return whether an Ollama answers at `url`."""
    try:
        with urllib.request.urlopen(f"{url}/api/version", timeout=2) as reply:
            return f"応答あり / answers at {url}" if reply.status == 200 else f"HTTP {reply.status}"
    except (urllib.error.URLError, OSError):
        return "応答なし（内蔵モデルでは不要）/ none (not needed with the embedded model)"


def main() -> None:
    """Write the findings to standard output."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    free = shutil.disk_usage(".").free / GIB
    url = os.environ.get("FUMIKURA__OLLAMA__URL", "http://127.0.0.1:11434")
    lines = {
        "CPU": f"{os.cpu_count()} cores",
        "memory": f"{memory:.1f} GB",
        "disk free": f"{free:.1f} GB",
        "GPU": gpu(),
        "Ollama": ollama(url),
    }
    sys.stdout.write("".join(f"  {name}: {text}\n" for name, text in lines.items()))
    if memory < 3 or free < 1:
        sys.stdout.write("  注意: メモリかディスクが足りないかもしれません / memory or disk may be too small\n")


if __name__ == "__main__":
    main()
