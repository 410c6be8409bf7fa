"""Where the settings are read, where the data lies, and the notebook that is meant where none is named."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT_NOTEBOOK = "default"
SETTINGS_IN_DATA = "settings.json"  # where the page writes them when there is no other file


@dataclass(frozen=True)
class Places:
    """Where the settings were read and where the data lies."""

    settings_file: Path | None
    data: Path


def find_places(data: Path | None, settings: Path | None, environment: Mapping[str, str] = os.environ) -> Places:
    """Return the places: --settings and --data, else below FUMIKURA_HOME, else config/ and data/ here or by the code.

    The data folder is `data/` beside the folder of the settings unless it or FUMIKURA_HOME is named.
    """
    named = environment.get("FUMIKURA_HOME")
    homes = [Path(named)] if named else [Path.cwd(), Path(__file__).parents[1]]
    if settings is None:
        found = (home / "config" / "settings.json" for home in homes)
        settings = next((path for path in found if path.is_file()), None)
    if data is None:
        data = (homes[0] if named or not settings else _home_of(settings)) / "data"
    if settings is None and (data / SETTINGS_IN_DATA).is_file():  # what a person chose on the page
        settings = data / SETTINGS_IN_DATA
    return Places(settings, data.absolute())


def _home_of(settings: Path) -> Path:
    folder = settings.absolute().parent
    return folder.parent if folder.name == "config" else folder
