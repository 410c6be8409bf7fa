"""Reading the settings: preset < config/settings.json < FUMIKURA__SECTION__KEY, with errors a person can act on."""

import difflib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from fumikura.errors import SettingsError
from fumikura.settings import Settings

ENV_PREFIX = "FUMIKURA__"
CROSS_CHECKS = {
    "chunk": "overlap は size より小さくしてください",
    "llm": "answer_tokens は context_tokens の半分までにしてください",
}

Content = dict[str, Any]
Location = tuple[str, ...]
Layer = tuple[str, Content]
"""Where settings come from, in words for a person, and what it holds."""


def load_settings(
    path: Path | None, environment: Mapping[str, str] = os.environ, preset: str | None = None
) -> Settings:
    """Read the file at `path` (None: defaults), the preset it names, and the environment over them.

    Raises SettingsError naming the file or variable, the key, the value and its bounds or the nearest known key.
    """
    return _settled(_read(path) if path else {}, path, environment, preset)


def change_settings(
    path: Path, changes: Mapping[str, Any], environment: Mapping[str, str] = os.environ, preset: str | None = None
) -> tuple[Content, Settings]:
    """Return the file's content with the values of `changes` ("chunk.size": 300; None: without), and what it means.

    Other keys and their order stay. Writes nothing. Raises SettingsError, also for a value that the environment fixes.
    """
    given = _read(path) if path.exists() else {}
    _settled(given, path, environment, preset)  # refuses a file that was broken by hand meanwhile
    for key, value in changes.items():
        variable = fixed_by(key, environment)
        if variable:
            raise SettingsError(
                f"設定「{key}」は環境変数 {variable} で決まっています。変えるには、その変数を外してください。",
                f"the setting '{key}' is fixed by the environment variable {variable}: unset that to change it",
            )
        section, _, name = key.partition(".")
        values = given.setdefault(section, {})
        if value is None:
            values.pop(name, None)
        else:
            values[name] = value
    return given, _settled(given, path, environment, preset)


def write_settings(path: Path, content: Content) -> None:
    """Put the content into the place of the file, all or nothing. Raises SettingsError."""
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    target = path.resolve()  # a link stays a link
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise SettingsError(
            f"設定ファイル {path} に書けません（{error.strerror}）。権限を確かめてください。",
            f"cannot write the settings file {path} ({error.strerror}): check its permissions",
        ) from error


def preset_settings(preset: str, path: Path | None) -> Settings:
    """Return the values that hold where neither the file nor the environment says anything. Raises SettingsError."""
    return _settled({}, path, {}, preset)


def fixed_by(key: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the environment variable that has the last word on this key, None when there is none."""
    wanted = (ENV_PREFIX + key.replace(".", "__")).upper()
    return next((name for name in environment if name.upper() == wanted), None)


def _settled(given: Content, path: Path | None, environment: Mapping[str, str], preset: str | None) -> Settings:
    chosen = str(preset or environment.get(f"{ENV_PREFIX}PRESET") or given.get("preset", "embedded"))
    preset_file = _find_preset(chosen, path)
    layers = [
        (str(preset_file), _read(preset_file)),
        (str(path), {**given, "preset": chosen}),
        ("", _from_environment(environment)),
    ]
    merged: Content = {}
    for _, layer in layers:
        _merge(merged, layer)
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise _explain(error, layers, environment) from error


def _read(path: Path | Traversable) -> Content:
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


def _find_preset(name: str, path: Path | None) -> Path | Traversable:
    """Return the preset's file: from `presets/` beside the settings file, else the one that comes with the program."""
    found = _presets(files("fumikura") / "presets")
    if path:
        found |= _presets(path.parent / "presets")
    if name in found:
        return found[name]
    known = ", ".join(sorted(found))
    raise SettingsError(
        f"プリセット「{name}」がありません。あるのは: {known}",
        f"no preset '{name}'; there are: {known}",
    )


def _presets(folder: Path | Traversable) -> dict[str, Path | Traversable]:
    entries = folder.iterdir() if folder.is_dir() else ()
    return {entry.name.removesuffix(".json"): entry for entry in entries if entry.name.endswith(".json")}


def _from_environment(environment: Mapping[str, str]) -> Content:
    """Turn FUMIKURA__CHUNK__SIZE=300 into {"chunk": {"size": 300}}; values are JSON where they parse, else text."""
    layer: Content = {}
    for name, value in environment.items():
        parts = name.removeprefix(ENV_PREFIX).lower().split("__")
        if not name.startswith(ENV_PREFIX) or parts == ["preset"]:
            continue
        if len(parts) != 2:
            raise SettingsError(
                f"環境変数 {name} は {ENV_PREFIX}SECTION__KEY の形にしてください。",
                f"the environment variable {name} must have the form {ENV_PREFIX}SECTION__KEY",
            )
        layer.setdefault(parts[0], {})[parts[1]] = _value(value, _field(tuple(parts)))
    return layer


def _value(text: str, field: FieldInfo | None) -> Any:  # noqa: ANN401 - any JSON value
    try:
        value = json.loads(text)
    except ValueError:
        return text
    wanted = field.annotation if field else None
    # A model may be called 123: where text is wanted, what was written stays text.
    is_text = wanted is str or (wanted == str | None and value is not None)
    return text if is_text and not isinstance(value, str) else value


def _merge(target: Content, layer: Content) -> None:
    for key, value in layer.items():
        known = target.get(key)
        if isinstance(value, dict) and isinstance(known, dict):
            target[key] = {**known, **value}
        elif not (isinstance(value, dict) and key in target):  # a section that is no object stays, to be refused
            target[key] = value


def _explain(error: ValidationError, layers: Sequence[Layer], environment: Mapping[str, str]) -> SettingsError:
    """Name the first wrong key with its value, where it stands and what would be right."""
    first = error.errors()[0]
    location = tuple(str(part) for part in first["loc"])
    key = ".".join(location) or "settings"
    where = _where(location[:2], layers, environment)
    if first["type"] == "extra_forbidden":
        near = _nearest(location)
        return SettingsError(
            f"設定「{key}」は知らない名前です。近い名前: {near}（{where}）",
            f"unknown setting '{key}'; nearest known: {near} (in {where})",
        )
    value = json.dumps(first["input"], ensure_ascii=False, default=str)
    ja, en = _reason(first["type"], first["msg"], location)
    return SettingsError(
        f"設定「{key}」の値 {value} は使えません。{ja}（{where}）",
        f"the setting '{key}' cannot be {value}: {en} (in {where})",
    )


def _where(location: Location, layers: Sequence[Layer], environment: Mapping[str, str]) -> str:
    """Return the environment variable or the file that had the last word on this key."""
    wanted = (ENV_PREFIX + "__".join(location)).upper()
    variables = [name for name in environment if name.upper() == wanted or name.upper().startswith(f"{wanted}__")]
    if variables:
        return ", ".join(variables)
    return next((name for name, layer in reversed(layers) if _holds(layer, location)), "defaults")


def _holds(layer: Any, location: Location) -> bool:  # noqa: ANN401 - any JSON value
    if not location:
        return True
    return isinstance(layer, dict) and location[0] in layer and _holds(layer[location[0]], location[1:])


def _reason(kind: str, message: str, location: Location) -> tuple[str, str]:
    """Say in both languages what the value must be: its bounds, the allowed words, or its type."""
    if kind == "value_error" and location[-1] in CROSS_CHECKS:
        return CROSS_CHECKS[location[-1]], message.removeprefix("Value error, ")
    field = _field(location)
    bounds = _bounds(field.metadata) if field else ""
    if bounds:
        return f"{bounds} の数にしてください", f"it must be a number {bounds}"
    return f"正しい値: {message}", message


def _field(location: Location) -> FieldInfo | None:
    model = _model_at(location[:-1])
    return model.model_fields.get(location[-1])


def _bounds(metadata: list[Any]) -> str:
    low = [f"{getattr(m, 'ge', None)} ≤" for m in metadata if getattr(m, "ge", None) is not None]
    low += [f"{getattr(m, 'gt', None)} <" for m in metadata if getattr(m, "gt", None) is not None]
    high = [f"≤ {getattr(m, 'le', None)}" for m in metadata if getattr(m, "le", None) is not None]
    return " ".join([*low[-1:], "x", *high[-1:]]) if low or high else ""


def _model_at(location: Location) -> type[BaseModel]:
    model: type[BaseModel] = Settings
    for part in location:
        field = model.model_fields.get(part)
        if field and isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            model = field.annotation
    return model


def _nearest(location: Location) -> str:
    known = list(_model_at(location[:-1]).model_fields)
    return difflib.get_close_matches(location[-1], known, n=1, cutoff=0.0)[0]
