"""The settings that can be changed on the page: which they are, what each changes, and its bounds."""

import typing
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_origin

from pydantic.fields import FieldInfo

from fumikura.library import Library
from fumikura.settings import Settings
from fumikura.settings_file import fixed_by
from fumikura.web.schemas_settings import Effect, FieldOut, Kind

EFFECTS: dict[str, Effect] = {
    "llm.system_prompt": "next_question",
    "llm.model": "reload",
    "llm.temperature": "reload",
    "llm.answer_tokens": "next_question",
    "llm.context_tokens": "reload",
    "chunk.method": "reindex",
    "chunk.size": "reindex",
    "chunk.overlap": "reindex",
    "search.top_k": "next_question",
    "search.context_tokens": "next_question",
    "search.candidate_count": "next_question",
    "search.lexical_weight": "next_question",
    "search.dense_weight": "next_question",
}


def value_of(settings: Settings, key: str) -> Any:  # noqa: ANN401 - a setting's value
    """Return the value of "section.name"."""
    section, name = key.split(".")
    return getattr(getattr(settings, section), name)


def adopted(current: Settings, changed: Settings) -> Settings:
    """Return `current` with the page's values of `changed`; what else was edited in the file waits for a restart."""
    sections: dict[str, dict[str, Any]] = {}
    for key in EFFECTS:
        section, name = key.split(".")
        sections.setdefault(section, {})[name] = value_of(changed, key)
    update = {section: getattr(current, section).model_copy(update=values) for section, values in sections.items()}
    return current.model_copy(update=update)


def shown_fields(library: Library, defaults: Settings, environment: Mapping[str, str]) -> Iterator[FieldOut]:
    """Yield every field with its present value and its default."""
    for key, effect in EFFECTS.items():
        found = _model_field(key)
        choices = choices_of(library, key)
        minimum, maximum = _bounds(found)
        yield FieldOut(
            key=key,
            value=value_of(library.settings, key),
            default=value_of(defaults, key),
            kind="choice" if choices else _kind(found),
            minimum=minimum,
            maximum=maximum,
            choices=choices,
            effect=effect,
            fixed_by=fixed_by(key, environment),
        )


def choices_of(library: Library, key: str) -> list[str]:
    """Return the words that a setting may be, none where it is free."""
    if key == "llm.model" and library.settings.llm.backend == "embedded":
        return [status.model.name for status in library.models.list()]
    annotation = _model_field(key).annotation
    return [str(word) for word in typing.get_args(annotation)] if get_origin(annotation) is Literal else []


def _model_field(key: str) -> FieldInfo:
    section, name = key.split(".")
    model = type(getattr(Settings(), section))
    found: FieldInfo = model.model_fields[name]
    return found


def _kind(found: FieldInfo) -> Kind:
    kinds: dict[object, Kind] = {int: "integer", float: "number"}
    return kinds.get(found.annotation, "text")


def _bounds(found: FieldInfo) -> tuple[float | None, float | None]:
    low = [float(one.ge) for one in found.metadata if getattr(one, "ge", None) is not None]
    high = [float(one.le) for one in found.metadata if getattr(one, "le", None) is not None]
    return (low[0] if low else None, high[0] if high else None)
