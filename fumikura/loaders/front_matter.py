"""YAML front matter of Markdown. Values stay the text that was written; a block that is no mapping stays body."""

import re
from dataclasses import dataclass, field

import yaml

from fumikura.records import Notice

# The libyaml loader is 7 times faster (0.055 instead of 0.36 ms a note). The Base loaders resolve nothing:
# `2025-04-07`, `1.10`, `12:30` and `no` stay strings, and no tag can construct an object.
_YAML_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_MAX_CHARACTERS = 20_000
_FENCED = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY_LINE = re.compile(r"\s*[\w][\w .-]*:(?:\s|$)")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Front matter as strings (lists joined by ", "), and where the body starts in the text."""

    values: dict[str, str] = field(default_factory=dict)
    body_start: int = 0
    notices: tuple[Notice, ...] = ()


def read_front_matter(text: str) -> FrontMatter:
    """Return the front matter of `text`. Bad YAML costs the metadata and gives a notice, never the body."""
    fenced = _FENCED.match(text, 0, _MAX_CHARACTERS)
    # A blank first line marks a thematic break: the text up to the next one is prose.
    if fenced is None or not fenced[1].strip() or fenced[1].startswith("\n"):
        return FrontMatter()
    try:
        parsed = yaml.load(fenced[1], Loader=_YAML_LOADER)  # noqa: S506 - the Base loaders build only str, list, dict
    except (yaml.YAMLError, RecursionError) as error:
        return FrontMatter(notices=_bad_yaml(fenced[1], error))
    if not isinstance(parsed, dict):
        return FrontMatter()
    return FrontMatter(_as_strings(parsed), fenced.end())


def _as_strings(parsed: dict[object, object]) -> dict[str, str]:
    values = {str(key): _as_string(value) for key, value in parsed.items()}
    return {key: value for key, value in values.items() if value}


def _as_string(value: object) -> str:
    """Join the scalars of a list; deeper structure is left out (anchors could make it grow without bound)."""
    if isinstance(value, list):
        return ", ".join(entry for entry in value if isinstance(entry, str) and entry)
    return value if isinstance(value, str) else ""


def _bad_yaml(block: str, error: Exception) -> tuple[Notice, ...]:
    if not _KEY_LINE.match(block):
        return ()
    reason = getattr(error, "problem", None) or type(error).__name__
    ja = f"先頭の YAML(フロントマター)を読めないため、本文として扱いました: {reason}"
    return (Notice(ja, f"The front matter is no readable YAML and was kept as text: {reason}"),)
