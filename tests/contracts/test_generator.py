"""What every generator promises (protocols.Generator)."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stub_llm import StubServer

from fumikura.generators import (
    EchoGenerator,
    LlamaCppGenerator,
    LlamaCppOptions,
    OllamaGenerator,
    OpenAIGenerator,
    ScriptedGenerator,
)
from fumikura.protocols import Generator
from fumikura.records import Message, Usage

MESSAGES = [Message("system", "資料だけで答える。"), Message("user", "開館は何時ですか？")]
FAKE_CHILD = str(Path(__file__).parents[1] / "generators" / "fake_child.py")


def llamacpp(stub: StubServer) -> Generator:
    options = LlamaCppOptions(context_tokens=2048, child_command=(sys.executable, FAKE_CHILD, "serve"))
    return LlamaCppGenerator("tiny", lambda: Path("tiny.gguf"), options)


MAKERS: dict[str, Callable[[StubServer], Generator]] = {
    "llamacpp": llamacpp,
    "ollama": lambda stub: OllamaGenerator(stub.url, "stub"),
    "openai": lambda stub: OpenAIGenerator(stub.url, "stub"),
    "scripted": lambda stub: ScriptedGenerator(["開館は九時です。[1]"]),
    "echo": lambda stub: EchoGenerator(),
}


@pytest.fixture(params=MAKERS)
def generator(request: pytest.FixtureRequest, stub: StubServer) -> Iterator[Generator]:
    made = MAKERS[request.param](stub)
    yield made
    made.close()


def test_pieces_of_text_then_one_usage(generator: Generator) -> None:
    *pieces, usage = generator.generate(MESSAGES, 100)
    assert pieces and all(isinstance(piece, str) and piece for piece in pieces)
    assert isinstance(usage, Usage)
    assert usage.finish == "complete" and usage.error is None


def test_the_same_question_can_be_asked_again(generator: Generator) -> None:
    first, second = list(generator.generate(MESSAGES, 100)), list(generator.generate(MESSAGES, 100))
    assert first[0] == second[0]


def test_counts_grow_with_the_messages_and_fit_the_context(generator: Generator) -> None:
    short = generator.count_tokens(MESSAGES)
    assert 0 < short < generator.count_tokens([*MESSAGES, *MESSAGES]) < generator.context_tokens()


def test_closed_stream_ends_and_the_generator_lives_on(generator: Generator) -> None:
    stream = generator.generate(MESSAGES, 100)
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert list(stream) == []
    assert isinstance(list(generator.generate(MESSAGES, 100))[-1], Usage)


def test_it_has_a_name(generator: Generator) -> None:
    assert generator.name
