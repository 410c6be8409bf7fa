"""Settings with some keys changed for a run; the settings file stays as it is."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fumikura.errors import SettingsError
from fumikura.settings import Settings
from fumikura.settings_file import ENV_PREFIX, load_settings


def settings_with(
    changes: Mapping[str, str], path: Path | None, environment: Mapping[str, str], preset: str | None = None
) -> Settings:
    """Return the settings that hold here with the changes ({"chunk.size": "300"}) over them.

    Raises SettingsError naming the key as it was given.
    """
    variables = {_variable(key): key for key in changes}
    fixed = {name: value for name, value in environment.items() if name.upper() not in variables}
    try:
        return load_settings(path, fixed | {name: changes[key] for name, key in variables.items()}, preset)
    except SettingsError as error:
        ja, en = error.ja, error.en
        for name, key in variables.items():
            ja, en = (text.replace(name, f"--settings {key}") for text in (ja, en))
        raise SettingsError(ja, en) from error


def read_changes(given: Sequence[str]) -> dict[str, str]:
    """Return what `section.key=value` on a command line says. Raises SettingsError for another shape."""
    changes: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        check_key(key if equals else "", text)
        changes[key] = value
    return changes


def check_key(key: str, given: str) -> None:
    """Raise SettingsError unless the key has the form section.key."""
    section, dot, name = key.partition(".")
    if not (section and dot and name) or "." in name or "__" in key:
        raise _misshapen(given)


def as_text(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return a value as it is written on a command line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _variable(key: str) -> str:
    return (ENV_PREFIX + key.replace(".", "__")).upper()


def _misshapen(given: str) -> SettingsError:
    return SettingsError(
        f"「{given}」は section.key=value の形で書いてください（例: chunk.size=300）。",
        f"'{given}' must have the form section.key=value, as in chunk.size=300",
    )
