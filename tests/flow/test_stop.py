"""An answer is ended from another thread: before the first piece, between pieces, and before it begins."""

import threading
import time
from pathlib import Path

import pytest

from fumikura.answering import Stop
from fumikura.library import Library
from fumikura.records import Answer, Prompt, Usage

QUESTION = "図書室は何時に開きますか？"
AT_ONCE = 2.0  # seconds that this takes at most, on a busy machine


def slow_library(open_library, cases: Path, stub) -> Library:  # type: ignore[no-untyped-def]
    library: Library = open_library(
        FUMIKURA__LLM__BACKEND="ollama",
        FUMIKURA__LLM__MODEL="stub",
        FUMIKURA__LLM__CONTEXT_TOKENS="4096",
        FUMIKURA__OLLAMA__URL=stub.url,
    )
    library.add("default", [cases / "C099" / "library.md"])
    return library


def stopped_after(library: Library, pieces: int, delay_s: float) -> tuple[Answer, float]:
    """Stop from a thread, `delay_s` after the prompt or the given piece; return the answer and the seconds it took."""
    stop = Stop()
    seen = 0
    stopped_at = []

    def stop_later() -> None:
        time.sleep(delay_s)
        stopped_at.append(time.perf_counter())
        stop.stop()

    thread = threading.Thread(target=stop_later)
    for event in library.notebook("default").stream(QUESTION, stop=stop):
        last = event
        seen += isinstance(event, str)
        if (isinstance(event, Prompt) and pieces == 0) or (isinstance(event, str) and seen == pieces):
            thread.start()
    thread.join()
    assert isinstance(last, Answer)
    assert stop.stopped
    return last, time.perf_counter() - stopped_at[0]


def test_before_the_first_piece(open_library, cases: Path, stub) -> None:  # type: ignore[no-untyped-def]
    stub.play({"pieces": ["開館は九時です。"], "first_byte_delay": 30})
    answer, seconds = stopped_after(slow_library(open_library, cases, stub), 0, 0.3)
    assert seconds < AT_ONCE
    assert (answer.finish, answer.text, answer.citations) == ("stopped", "", ())
    assert any("止めました" in notice.ja for notice in answer.notices)


def test_between_pieces_what_was_written_is_checked(open_library, cases: Path, stub) -> None:  # type: ignore[no-untyped-def]
    stub.play({"pieces": ["開館は九時です。[1]\n", *["閉館は"] * 500], "piece_delay": 0.02})
    answer, seconds = stopped_after(slow_library(open_library, cases, stub), 1, 0.1)
    assert seconds < AT_ONCE
    assert answer.finish == "stopped" and answer.text.startswith("開館は九時です。[1]")
    assert answer.citations[0].quote == "開館は九時、閉館は十七時です。"


def test_half_a_sentence_is_no_refusal(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library: Library = open_library([*["空は青く"], Usage("stopped")])
    library.add("default", [cases / "C099" / "library.md"])
    answer = library.notebook("default").ask(QUESTION)
    assert (answer.finish, answer.text) == ("stopped", "")


@pytest.mark.parametrize("at", ["before", "prompt"])
def test_the_model_is_not_asked_after_a_stop(open_library, cases: Path, at: str) -> None:  # type: ignore[no-untyped-def]
    library: Library = open_library("開館は九時です。[1]")
    library.add("default", [cases / "C099" / "library.md"])
    stop = Stop()
    if at == "before":
        stop.stop()
    for event in library.notebook("default").stream(QUESTION, stop=stop):
        last = event
        if isinstance(event, Prompt):
            stop.stop()
    assert isinstance(last, Answer)
    assert (last.finish, last.text) == ("stopped", "")
    assert library.generator.prompts == []  # type: ignore[attr-defined]


def test_a_plain_generator_ends_after_its_next_piece(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library: Library = open_library(["開館は九時です。[1]", "閉館は", "十七時です。[1]"])
    library.add("default", [cases / "C099" / "library.md"])
    stop = Stop()
    pieces = []
    for event in library.notebook("default").stream(QUESTION, stop=stop):
        last = event
        if isinstance(event, str):
            pieces.append(event)
            stop.stop()
    assert isinstance(last, Answer)
    assert (pieces, last.finish, last.text) == (["開館は九時です。[1]"], "stopped", "開館は九時です。[1]")
