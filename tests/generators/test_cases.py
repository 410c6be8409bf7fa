"""Known failures of language model servers (tests/cases), over Ollama's and OpenAI's protocols."""

import threading
import time
from pathlib import Path

import pytest
from stub_llm import StubServer

from fumikura.errors import BackendTimeout, BackendUnavailable, InputTooLong
from fumikura.generators import OllamaGenerator, Timeouts
from fumikura.records import Message, Usage


def answer(generator, messages: list[Message]) -> tuple[str, Usage]:
    *pieces, usage = generator.generate(messages, 100)
    assert isinstance(usage, Usage)
    assert all(pieces), "an empty piece shows nothing"
    return "".join(pieces), usage


def waits_until(condition, seconds: float = 3.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not condition():
        time.sleep(0.02)
    return bool(condition())


@pytest.mark.parametrize(
    ("case", "file"),
    [
        ("C090", "full_pair.json"),
        ("C090", "closing_tag_only.json"),
        ("C091", "script.json"),
        ("C091", "other_tag_names.json"),
        ("C092", "unclosed_with_answer.json"),
    ],
)
def test_thinking_is_never_shown(make, question, stub: StubServer, cases: Path, case: str, file: str) -> None:
    stub.play(cases / case / file)
    text, usage = answer(make(), question)
    assert text == "開館は九時です。[1]"
    assert usage.finish == "complete"


def test_c092_limit_reached_while_thinking(make, question, stub: StubServer, cases: Path) -> None:
    stub.play(cases / "C092" / "only_thinking_then_cut.json")
    assert answer(make(), question)[0] == ""
    assert answer(make(), question)[1].finish == "length"


def test_c087_context_size_is_sent_and_reported_count_passed_on(stub: StubServer, cases: Path) -> None:
    stub.play(cases / "C087" / "script.json")
    fact = (cases / "C087" / "fact_at_top.md").read_text(encoding="utf-8")
    messages = [Message("user", fact[:6000] + "\n合言葉は？")]
    generator = OllamaGenerator(stub.url, "stub", context_tokens=8192)
    _, usage = answer(generator, messages)
    assert usage.prompt_tokens == 2050
    assert generator.count_tokens(messages) > 2 * 2050 * 0.8
    (sent,) = stub.bodies("/api/chat")
    assert sent["options"]["num_ctx"] == generator.context_tokens() == 4096  # the model's own limit
    assert sent["options"]["num_predict"] == 100
    assert sent["think"] is False


@pytest.mark.parametrize("file", ["vllm_400.json", "llamacpp_200_with_error.json"])
def test_c089_too_long_prompt_is_named(make, question, stub: StubServer, cases: Path, file: str) -> None:
    stub.play(cases / "C089" / file)
    with pytest.raises(InputTooLong) as raised:
        answer(make(), question)
    assert "資料を減らして" in raised.value.ja
    assert "{" not in raised.value.ja


def test_c093_error_in_mid_stream_keeps_the_text(make, question, stub: StubServer, cases: Path) -> None:
    stub.play(cases / "C093" / "script.json")
    text, usage = answer(make(), question)
    assert text == "開館は九時で、閉館は"
    assert usage.finish == "broken_off"
    assert usage.error
    japanese, english = usage.error.ja, usage.error.en
    assert "エラーを返しました" in japanese and "answered with an error" in english
    assert "an error was encountered" in japanese and "an error was encountered" in english


def test_c093_dropped_connection_keeps_the_text(make, question, stub: StubServer, cases: Path) -> None:
    stub.play(cases / "C093" / "connection_dropped.json")
    text, usage = answer(make(), question)
    assert text == "開館は九時で、"
    assert usage.finish == "broken_off"
    assert "切れました" in usage.error.ja


def test_drop_before_the_first_piece_is_an_error(make, question, stub: StubServer) -> None:
    stub.play({"pieces": ["あ"], "drop_after": 0})
    with pytest.raises(BackendUnavailable, match=r"dropped|ended early"):
        answer(make(), question)


def test_c094_cut_by_the_length_limit(make, question, stub: StubServer, cases: Path) -> None:
    stub.play(cases / "C094" / "script.json")
    assert answer(make(), question)[1].finish == "length"


def test_c096_server_that_never_answers(make, question, stub: StubServer, cases: Path) -> None:
    stub.play(cases / "C096" / "never_answers.json")
    started = time.monotonic()
    with pytest.raises(BackendTimeout, match=r"no first token within 0\.3 s"):
        answer(make(timeouts=Timeouts(connect_s=1, first_token_s=0.3, idle_s=30)), question)
    assert time.monotonic() - started < 2
    asked = [r for r in stub.requests if r["path"] in ("/api/chat", "/v1/chat/completions")]
    assert len(asked) == 1, "no retry of its own"


def test_c096_slow_first_token_is_not_held_to_the_idle_limit(make, question, stub: StubServer, cases: Path) -> None:
    stub.play({"pieces": ["開館は九時です。[1]"], "first_byte_delay": 0.6})
    generator = make(timeouts=Timeouts(connect_s=1, first_token_s=5, idle_s=0.2))
    if hasattr(generator, "_context_tokens"):
        generator.context_tokens()
    assert answer(generator, question)[0] == "開館は九時です。[1]"


def test_stall_between_tokens_ends_with_the_text_so_far(make, question, stub: StubServer) -> None:
    stub.play({"pieces": ["開館は", "九時"], "piece_delay": 3.0})
    text, usage = answer(make(timeouts=Timeouts(connect_s=1, first_token_s=5, idle_s=0.3)), question)
    assert text == "開館は"
    assert usage.finish == "broken_off"
    assert "続きの語" in usage.error.ja


def test_c097_leaving_closes_the_upstream_connection(make, question, stub: StubServer, cases: Path) -> None:
    stub.play(cases / "C097" / "long_stream.json")
    generator = make()
    answer_to_plain_question(generator, stub, question)
    stub.play({"pieces": ["あ"] * 600, "piece_delay": 0.05})
    stream = generator.generate(question, 100)
    assert next(stream) == "あ"
    assert stub.state.open_streams == 1
    stream.close()
    assert waits_until(lambda: stub.state.open_streams == 0)
    assert stub.state.aborted_streams == 1
    assert list(stream) == []


def answer_to_plain_question(generator, stub: StubServer, question: list[Message]) -> None:
    """Let the generator learn that this server sends no thinking, so that it streams at once."""
    stub.play({"pieces": ["はい。"]})
    assert answer(generator, question)[0] == "はい。"


@pytest.mark.parametrize("delay", ["first_byte_delay", "piece_delay"])
def test_c097_stop_from_another_thread(make, question, stub: StubServer, delay: str) -> None:
    generator = make(timeouts=Timeouts(connect_s=1, first_token_s=30, idle_s=30))
    answer_to_plain_question(generator, stub, question)
    stub.play({"pieces": ["あ", "い"], delay: 20})
    stream = generator.generate(question, 100)
    threading.Timer(0.3, stream.close).start()
    started = time.monotonic()
    received = list(stream)
    assert time.monotonic() - started < 2
    assert received[-1] == Usage(finish="stopped")
    assert received[:-1] == ([] if delay == "first_byte_delay" else ["あ"])


@pytest.mark.parametrize("file", ["empty_answer.json", "blank_answer.json"])
def test_c098_empty_answer_has_no_pieces(make, question, stub: StubServer, cases: Path, file: str) -> None:
    stub.play(cases / "C098" / file)
    text, usage = answer(make(), question)
    assert text == ""
    assert usage.finish == "complete"
