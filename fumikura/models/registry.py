"""The registry: which model files exist, what they must be, where they come from. As data: one more is one entry.

Each entry is one file; `parts` names packages of the Python package index that hold it in pieces of equal size.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fumikura.errors import SettingsError

REGISTRY = Path(__file__).with_name("registry.json")


@dataclass(frozen=True, slots=True)
class Parts:
    """A file cut into pieces of `part_bytes` (the last one shorter); `{n}` counts from 1 in the patterns."""

    package: str
    version: str
    member: str
    part_bytes: int
    sha256: tuple[str, ...]

    @property
    def count(self) -> int:
        """Return the number of parts."""
        return len(self.sha256)

    def requirement(self, n: int) -> str:
        """Return part n's package with its pinned version."""
        return f"{self.package.format(n=n)}=={self.version}"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One model file as published."""

    name: str
    file_name: str
    size_bytes: int
    sha256: str
    licence: str
    publisher: str
    context_tokens: int
    hub_path: str | None = None
    parts: Parts | None = None


@dataclass(frozen=True, slots=True)
class Registry:
    """All known model files by name."""

    default: str
    models: Mapping[str, ModelFile]

    def __getitem__(self, name: str) -> ModelFile:
        """Return the entry. Raises SettingsError with the known names."""
        if name not in self.models:
            known = ", ".join(self.models)
            raise SettingsError(
                ja=f"モデル「{name}」は登録されていません。使えるモデル: {known}",
                en=f"Unknown model '{name}': the registry holds {known}",
            )
        return self.models[name]


def load_registry(path: Path = REGISTRY) -> Registry:
    """Read a registry file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    models = [_model(entry) for entry in content["models"]]
    return Registry(content["default"], {model.name: model for model in models})


def _model(entry: Mapping[str, Any]) -> ModelFile:
    parts = entry.get("parts")
    pieces = Parts(**{**parts, "sha256": tuple(parts["sha256"])}) if parts else None
    return ModelFile(**{**entry, "parts": pieces})
