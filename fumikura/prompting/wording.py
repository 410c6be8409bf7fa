"""The fixed wording of a prompt, one pair of text files per language in `texts/`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

Language = Literal["ja", "en"]


@dataclass(frozen=True, slots=True)
class Wording:
    """What the prompt says besides the user's own texts: the rules, and labels by name."""

    rules: str
    labels: Mapping[str, str]


@cache
def load_wording(language: Language) -> Wording:
    """Read the wording of `language` from the package."""
    texts = files(__package__).joinpath("texts")
    rules = texts.joinpath(f"rules_{language}.txt").read_text(encoding="utf-8")
    labels = texts.joinpath(f"labels_{language}.txt").read_text(encoding="utf-8")
    pairs = (line.partition(" = ") for line in labels.splitlines() if line)
    return Wording(rules.strip(), MappingProxyType({name: words for name, _, words in pairs}))
