"""Computed states on disk: kept for the next start, gone with the text that they hold."""

import sys
from pathlib import Path

import pytest

from fumikura.errors import BackendRefused
from fumikura.generators import LlamaCppGenerator, LlamaCppOptions, prefix_sha256
from fumikura.library import Library
from fumikura.records import Message, SourceFile

FAKE_CHILD = str(Path(__file__).parents[1] / "generators" / "fake_child.py")


def child(tmp_path: Path, mode: str = "serve") -> LlamaCppGenerator:
    """The embedded generator with a stand-in for the process that holds the model."""
    model = tmp_path / "tiny.gguf"
    if not model.exists():  # written anew it would be another model
        model.write_bytes(b"model")
    command = (sys.executable, FAKE_CHILD, mode)
    options = LlamaCppOptions(child_command=command, context_tokens=8192, prefix_folder=tmp_path / "prefixes")
    return LlamaCppGenerator("tiny", lambda: model, options)


def keep(library: Library, notebook: str = "default") -> str:
    """Keep the core of the notebook as it is now; return its hash."""
    residence = library.residence(notebook)
    core = residence.planned()
    assert residence.keep(core)
    return prefix_sha256(core.prefix)


def files(tmp_path: Path) -> int:
    return len(list((tmp_path / "prefixes").glob("*.state")))


@pytest.mark.parametrize("change", ["changed", "deleted"])
def test_a_state_goes_with_its_text_and_other_notebooks_states_stay(open_library, tmp_path: Path, change: str) -> None:  # type: ignore[no-untyped-def]
    library: Library = open_library(child(tmp_path))
    for notebook in ("default", "other"):
        library.add_bytes(notebook, SourceFile("庭.md", "庭.md", f"# 庭\n\n{notebook} の露草。\n".encode()))
    kept, others = keep(library), keep(library, "other")
    assert files(tmp_path) == 2 and library.store.current_prefixes() == {kept, others}
    if change == "changed":
        library.add_bytes("default", SourceFile("庭.md", "庭.md", "# 庭\n\n桔梗。\n".encode()))
        library.refresh("default")
    else:
        assert library.remove("default", ["庭.md"]).notices == ()
    assert library.store.current_prefixes() == {others}
    assert files(tmp_path) == 1
    assert library.generator.restore_prefix(library.residence("other").planned().prefix)


def test_a_kept_core_comes_back_after_a_restart(open_library, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    library: Library = open_library(child(tmp_path))
    library.add_bytes("default", SourceFile("庭.md", "庭.md", "# 庭\n\n露草が咲きます。\n".encode()))
    kept = keep(library)
    library.close()
    again: Library = open_library(child(tmp_path))
    core = again.residence("default").planned()
    assert prefix_sha256(core.prefix) == kept
    assert again.generator.has_prefix(core.prefix) and again.generator.restore_prefix(core.prefix)


def test_a_server_with_its_own_cache_keeps_nothing(library: Library) -> None:
    residence = library.residence("default")
    assert not residence.keep(residence.planned())
    assert library.store.current_prefixes() == set()


def test_a_state_that_cannot_be_removed_is_said_by_the_removal(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_folder = "the folder is read only"

    def refuse(keep: object = ()) -> int:
        raise BackendRefused("フォルダーに書けません。", from_folder)

    monkeypatch.setattr(library.generator, "forget_prefixes", refuse)
    assert from_folder in [notice.en for notice in library.remove("default", ["倉庫.md"]).notices]


def test_c088_sixty_long_turns_leave_rules_and_core_in_place(library: Library) -> None:
    history = []
    for number in range(60):
        history += [Message("user", f"質問{number}"), Message("assistant", "長い答えです。" * 100)]
    library.notebook("default").ask("図書室の開館は？")
    answer = library.notebook("default").ask("図書室の開館は？", history=history)
    first, last = library.generator.prompts  # type: ignore[attr-defined]
    assert first[0] == last[0] and last[-1].content.endswith("図書室の開館は？")
    assert (answer.status, answer.coverage) == ("answered", "read_in_full")
    assert answer.receipt.prompt_tokens <= 8192 - 400
