"""Prints the path of the Chromium that the browser tests drive; exit 1 when there is none."""

import os
import shutil
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """Return FUMIKURA_TEST_CHROMIUM, else the first browser found on the path."""
    named = os.environ.get("FUMIKURA_TEST_CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


if __name__ == "__main__":
    path = find_chromium()
    sys.stdout.write(f"{path}\n" if path else "")
    sys.exit(0 if path else 1)
