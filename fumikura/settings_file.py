"""Reading the settings: preset < config/settings.json < FUMIKURA__SECTION__KEY, with errors a person can act on."""

import difflib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from fumikura.errors import SettingsError
from fumikura.settings import Settings

ENV_PREFIX = "FUMIKURA__"


def load_settings(
    path: Path | None, environment: Mapping[str, str] = os.environ, preset: str | None = None
) -> Settings:
    """Read the file at `path` (None: defaults), the preset it names, and the environment over them.

    Raises SettingsError naming the file or variable, the key, the value and its bounds or the nearest known key.
    """
    given = _read(path) if path else {}
    chosen = preset or environment.get(f"{ENV_PREFIX}PRESET") or given.get("preset", "embedded")
    layers = [_preset(str(chosen), path), {**given, "preset": chosen}, _from_environment(environment)]
    merged: dict[str, Any] = {}
    for layer in layers:
        _merge(merged, layer)
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise _explain(error, path) from error


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingsError(
            f"設定ファイル {path} を読めません（{error.strerror}）。パスと権限を確認してください。",
            f"cannot read the settings file {path} ({error.strerror}): check the path and its permissions",
        ) from error
    except ValueError as error:
        raise SettingsError(
            f"設定ファイル {path} は正しい JSON ではありません（{error}）。",
            f"the settings file {path} is not valid JSON ({error})",
        ) from error
    if not isinstance(content, dict):
        raise SettingsError(
            f"設定ファイル {path} の一番外側は {{ … }} にしてください。",
            f"the settings file {path} must hold one JSON object",
        )
    return content


def _preset(name: str, path: Path | None) -> dict[str, Any]:
    folder = path.parent / "presets" if path else None
    if folder and (file := folder / f"{name}.json").is_file():
        return _read(file)
    if name == "embedded":
        return {}
    raise SettingsError(
        f"プリセット「{name}」がありません。config/presets/ にあるのは: {_names(folder)}",
        f"no preset '{name}'; config/presets/ holds: {_names(folder)}",
    )


def _names(folder: Path | None) -> str:
    return ", ".join(sorted(p.stem for p in folder.glob("*.json"))) if folder and folder.is_dir() else "(none)"


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """Turn FUMIKURA__CHUNK__SIZE=300 into {"chunk": {"size": 300}}; values are JSON where they parse, else text."""
    layer: dict[str, Any] = {}
    for name, value in environment.items():
        parts = name.removeprefix(ENV_PREFIX).lower().split("__")
        if not name.startswith(ENV_PREFIX) or parts == ["preset"]:
            continue
        if len(parts) != 2:
            raise SettingsError(
                f"環境変数 {name} は {ENV_PREFIX}SECTION__KEY の形にしてください。",
                f"the environment variable {name} must have the form {ENV_PREFIX}SECTION__KEY",
            )
        layer.setdefault(parts[0], {})[parts[1]] = _value(value)
    return layer


def _value(text: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.loads(text)
    except ValueError:
        return text


def _merge(target: dict[str, Any], layer: Mapping[str, Any]) -> None:
    for key, value in layer.items():
        if isinstance(value, dict) and isinstance(target.get(key), dict):
            target[key] = {**target[key], **value}
        else:
            target[key] = value


def _explain(error: ValidationError, path: Path | None) -> SettingsError:
    """Name the first wrong key with its value and what would be right."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"]) or "settings"
    where = str(path) if path else "defaults"
    if first["type"] == "extra_forbidden":
        near = _nearest(tuple(str(part) for part in first["loc"]))
        return SettingsError(
            f"設定「{key}」は知らない名前です。近い名前: {near}（{where} または環境変数）",
            f"unknown setting '{key}'; nearest known: {near} (in {where} or the environment)",
        )
    value = json.dumps(first["input"], ensure_ascii=False, default=str)
    ja, en = _reason(first["type"], first["msg"], tuple(str(part) for part in first["loc"]))
    return SettingsError(
        f"設定「{key}」の値 {value} は使えません。{ja}（{where} または環境変数）",
        f"the setting '{key}' cannot be {value}: {en} (in {where} or the environment)",
    )


def _reason(kind: str, message: str, location: tuple[str, ...]) -> tuple[str, str]:
    """Say in both languages what the value must be: its bounds, the allowed words, or its type."""
    if kind == "value_error" and location == ("chunk",):
        return "overlap は size より小さくしてください", message.removeprefix("Value error, ")
    field = _field(location)
    bounds = _bounds(field.metadata) if field else ""
    if bounds:
        return f"{bounds} の数にしてください", f"it must be a number {bounds}"
    return f"正しい値: {message}", message


def _field(location: tuple[str, ...]) -> FieldInfo | None:
    model = _model_at(location[:-1])
    return model.model_fields.get(location[-1])


def _bounds(metadata: list[Any]) -> str:
    low = [f"{getattr(m, 'ge', None)} ≤" for m in metadata if getattr(m, "ge", None) is not None]
    low += [f"{getattr(m, 'gt', None)} <" for m in metadata if getattr(m, "gt", None) is not None]
    high = [f"≤ {getattr(m, 'le', None)}" for m in metadata if getattr(m, "le", None) is not None]
    return " ".join([*low[-1:], "x", *high[-1:]]) if low or high else ""


def _model_at(location: tuple[str, ...]) -> type[BaseModel]:
    model: type[BaseModel] = Settings
    for part in location:
        field = model.model_fields.get(part)
        if field and isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            model = field.annotation
    return model


def _nearest(location: tuple[str, ...]) -> str:
    known = list(_model_at(location[:-1]).model_fields)
    return difflib.get_close_matches(location[-1], known, n=1, cutoff=0.0)[0]
