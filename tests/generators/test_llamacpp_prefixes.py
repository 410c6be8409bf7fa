"""Prefixes of the embedded generator, with a stand-in for the process that holds the model."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fumikura.errors import BackendRefused
from fumikura.generators import LlamaCppGenerator, LlamaCppOptions, prefix_sha256
from fumikura.records import Message, Usage

FAKE_CHILD = str(Path(__file__).with_name("fake_child.py"))
PREFIX = [Message("system", "資料" * 40)]
LONG = [Message("system", "長い資料" * 400)]
QUESTION = [*PREFIX, Message("user", "開館は？")]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., LlamaCppGenerator]]:
    made: list[LlamaCppGenerator] = []
    model = tmp_path / "tiny.gguf"
    model.write_bytes(b"model")

    def generator(mode: str = "serve", **options: object) -> LlamaCppGenerator:
        command = (sys.executable, FAKE_CHILD, mode)
        given = {"context_tokens": 4096, "prefix_folder": tmp_path / "prefixes", **options}
        made.append(LlamaCppGenerator("tiny", lambda: model, LlamaCppOptions(child_command=command, **given)))
        return made[-1]

    yield generator
    for each in made:
        each.close()


def left(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "prefixes").iterdir())


def test_warm_reports_progress_and_what_was_reused(make) -> None:
    generator = make()
    seen: list[tuple[int, int]] = []
    ready = generator.warm(PREFIX, threading.Event(), lambda done, total: seen.append((done, total)))
    shared = len("[system][user]") + len(PREFIX[0].content)
    assert ready == Usage("complete", shared, 0, 1)
    assert seen[-1][1] == shared
    assert generator.warm(PREFIX, threading.Event()).cached_tokens == shared


def test_unfinished_user_message_is_a_prefix(make) -> None:
    ready = make().warm([Message("user", "資料一覧:")], threading.Event())
    assert ready.prompt_tokens == len("[user]資料一覧:")


@pytest.mark.parametrize("by_question", [False, True], ids=["stop", "a question"])
def test_warm_up_ends_at_once(make, by_question: bool) -> None:
    generator = make()
    generator.context_tokens()
    stop = threading.Event()

    def ask() -> None:
        list(generator.generate(QUESTION, 5))

    threading.Timer(0.3, ask if by_question else stop.set).start()
    begun = time.monotonic()
    assert generator.warm(LONG, stop).finish == "stopped"
    assert time.monotonic() - begun < 2, "all of it would take 4 s"
    assert generator.warm(PREFIX, threading.Event()).finish == "complete"


def test_kept_prefix_comes_back_in_another_process(make) -> None:
    first, second = make(), make()
    assert first.save_prefix(PREFIX)
    first.close()
    assert second.restore_prefix(PREFIX)
    ready = second.warm(PREFIX, threading.Event())
    assert ready.cached_tokens == ready.prompt_tokens


def test_nothing_kept_loads_no_model(make) -> None:
    generator = make()
    assert not generator.restore_prefix(PREFIX)
    assert generator.pid is None


def test_answer_puts_its_prefix_back_only_where_another_took_the_slot(make, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = make()
    assert generator.save_prefix(PREFIX)
    restored: list[object] = []
    restore = generator.prefixes.restore
    monkeypatch.setattr(generator.prefixes, "restore", lambda *given: (restored.append(given[2]), restore(*given))[1])
    list(generator.generate_from(PREFIX, QUESTION, 5))
    assert restored == [], "still in the slot"
    list(generator.generate([Message("user", "別の話")], 5))
    list(generator.generate_from(PREFIX, QUESTION, 5))
    assert restored == [PREFIX]
    list(generator.generate_from(PREFIX, [Message("user", "資料の一部")], 5))
    list(generator.generate_from(PREFIX, [Message("user", "資料の一部")], 5))
    assert restored == [PREFIX] * 3, "a selection of passages is left in the slot"


def test_full_disk_is_named_and_leaves_nothing(make, tmp_path: Path) -> None:
    generator = make("full")
    with pytest.raises(BackendRefused, match="check free disk space") as caught:
        generator.save_prefix(PREFIX)
    assert "ディスクの空き" in caught.value.ja
    assert left(tmp_path) == []
    assert len(list(generator.generate(QUESTION, 5))) > 1


def test_state_that_kills_the_child_is_removed_and_the_question_answered(make, tmp_path: Path) -> None:
    first = make()
    assert first.save_prefix(PREFIX)
    first.close()
    generator = make("abort")
    assert not generator.restore_prefix(PREFIX)
    assert left(tmp_path) == []
    *pieces, _ = generator.generate_from(PREFIX, QUESTION, 5)
    assert "".join(pieces) == "開館は九時です。[1]"


def test_question_is_answered_though_the_kept_state_kills_the_child(make, tmp_path: Path) -> None:
    first = make()
    assert first.save_prefix(PREFIX)
    first.close()
    *pieces, _ = make("abort").generate_from(PREFIX, QUESTION, 5)
    assert "".join(pieces) == "開館は九時です。[1]"
    assert left(tmp_path) == []


def test_without_a_folder_nothing_is_kept(make) -> None:
    generator = make(prefix_folder=None)
    assert not generator.keeps_prefixes
    assert not generator.save_prefix(PREFIX)
    assert not generator.restore_prefix(PREFIX)
    assert generator.forget_prefixes() == 0


def test_forgetting_removes_what_is_no_longer_wanted(make) -> None:
    generator = make()
    other = [Message("system", "別の資料")]
    assert generator.save_prefix(PREFIX) and generator.save_prefix(other)
    assert generator.forget_prefixes(keep=[prefix_sha256(other)]) == 1
    assert generator.restore_prefix(other) and not generator.restore_prefix(PREFIX)


def test_leaving_while_another_question_has_the_turn(make) -> None:
    generator = make()
    generator.context_tokens()
    with generator.prefixes.turn(lambda: False):
        stream = generator.generate(QUESTION, 5)
        threading.Timer(0.3, stream.close).start()
        assert list(stream) == [Usage(finish="stopped")]
