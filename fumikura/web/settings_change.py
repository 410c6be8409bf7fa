"""Changing settings while the server runs: all of them or none, and no answer under way is disturbed."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool

from fumikura import build
from fumikura.errors import FumikuraError, SettingsError
from fumikura.library import SETTINGS_IN_DATA, Library, Places
from fumikura.protocols import Chunker, Generator
from fumikura.retrieval import Retriever
from fumikura.settings import LlmSettings, Settings
from fumikura.settings_file import change_settings, write_settings
from fumikura.web.errors import SettingRefused
from fumikura.web.service import Service
from fumikura.web.settings_fields import EFFECTS, adopted, choices_of


@dataclass(frozen=True)
class NewParts:
    """The parts that other settings ask for; None: the present one stays, and with it what it has loaded."""

    settings: Settings
    chunker: Chunker | None
    retriever: Retriever | None
    generator: Generator | None


async def change(service: Service, changes: Mapping[str, Any]) -> None:
    """Write the changes to the settings file and use them from the next question on. Raises SettingRefused."""
    async with service.settings_lock:
        retired = await run_in_threadpool(_change, service, changes)
    if retired is not None:
        service.retire(retired)


def needs_reindex(library: Library, embedder_recipe: str) -> bool:
    """Tell whether sources were cut or embedded otherwise than the present settings say ("": embedder not known)."""
    store = library.store
    if embedder_recipe and store.vector_recipe() not in ("", embedder_recipe):
        return True
    try:
        present = library.chunker.recipe
    except FumikuraError:
        return False  # without its parts nothing could be rebuilt; health says what is missing
    sources = (source for notebook in store.notebooks() for source in store.sources(notebook))
    return any(source.chunk_count and source.chunk_recipe != present for source in sources)


def settings_path(places: Places) -> str:
    """Return the file that the page writes to."""
    return str(places.settings_file or places.data / SETTINGS_IN_DATA)


def _change(service: Service, changes: Mapping[str, Any]) -> Generator | None:
    """Check, build, write, use: what can fail comes first. Return the generator that is no longer used."""
    library, places = service.library, service.places
    path = places.settings_file or places.data / SETTINGS_IN_DATA
    _check_keys(library, changes)
    try:
        content, changed = change_settings(path, changes, service.environment, service.preset)
        parts = _new_parts(service, adopted(library.settings, changed))
        write_settings(path, content)
    except SettingsError as error:
        raise SettingRefused(error.ja, error.en) from error
    service.places = Places(path, places.data)
    return _use(library, parts)


def _check_keys(library: Library, changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if key not in EFFECTS:
            near = difflib.get_close_matches(key, EFFECTS, n=1, cutoff=0.0)[0]
            raise SettingRefused(
                f"設定「{key}」はここでは変えられません。近い名前: {near}",
                f"the setting '{key}' cannot be changed here; nearest: {near}",
            )
        choices = choices_of(library, key)
        if choices and value is not None and value not in choices:
            words = ", ".join(choices)
            raise SettingRefused(
                f"設定「{key}」の値「{value}」は使えません。使えるもの: {words}",
                f"the setting '{key}' cannot be '{value}': choose from {words}",
            )


def _new_parts(service: Service, settings: Settings) -> NewParts:
    """Make what differs. Raises SettingsError."""
    library = service.library
    old = library.settings
    return NewParts(
        settings=settings,
        chunker=build.make_chunker(settings, library.embedder) if settings.chunk != old.chunk else None,
        retriever=build.make_retriever(settings, library.store, library.embedder, library.index)
        if settings.search != old.search
        else None,
        generator=build.make_generator(settings, library.models, library.data, service.environment)
        if _engine(settings.llm) != _engine(old.llm)
        else None,
    )


def _engine(llm: LlmSettings) -> dict[str, Any]:
    """Return what a generator is made of: a prompt or a length alone must not load the model anew."""
    return llm.model_dump(exclude={"system_prompt", "answer_tokens"})


def _use(library: Library, parts: NewParts) -> Generator | None:
    with library.lock:
        library.settings = parts.settings
        if parts.chunker is not None:
            library.chunker = parts.chunker
        if parts.retriever is not None:
            library.retriever = parts.retriever
        if parts.generator is None:
            return None
        retired, library.generator = library.generator, parts.generator
        return retired
