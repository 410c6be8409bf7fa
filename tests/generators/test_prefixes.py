"""Prefixes of servers with a cache of their own, and what counts as a prefix."""

import threading
import time

import pytest
from stub_llm import StubServer

from fumikura.generators import OllamaGenerator, prefix_sha256
from fumikura.generators.prefix import begins_with
from fumikura.protocols import Generator
from fumikura.records import Message

SYSTEM = Message("system", "資料")
PASSAGES = Message("user", "資料一覧:")


def test_warming_a_server_asks_for_one_token_and_keeps_nothing(make) -> None:
    generator: Generator = make()
    assert generator.warm([SYSTEM], threading.Event()).finish == "complete"
    assert not generator.keeps_prefixes
    assert not generator.save_prefix([SYSTEM])
    assert not generator.restore_prefix([SYSTEM])
    assert generator.forget_prefixes() == 0
    assert len(list(generator.generate_from([SYSTEM], [SYSTEM, PASSAGES], 5))) > 1


def test_warming_ollama_sends_what_a_question_sends(stub: StubServer) -> None:
    generator = OllamaGenerator(stub.url, "stub", context_tokens=2048)
    generator.warm([SYSTEM], threading.Event())
    list(generator.generate([SYSTEM, PASSAGES], 5))
    warm, question = stub.bodies("/api/chat")
    assert warm["options"].pop("num_predict") == 1
    question["options"].pop("num_predict")
    assert warm["options"] == question["options"], "another num_ctx would load the model again"
    assert warm["keep_alive"] == question["keep_alive"]
    assert warm["messages"][0] == question["messages"][0]


def test_stopping_a_warm_up_leaves_at_once(make, stub: StubServer) -> None:
    stub.play({"pieces": ["一"], "first_byte_delay": 4})
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    begun = time.monotonic()
    assert make().warm([SYSTEM], stop).finish == "stopped"
    assert time.monotonic() - begun < 2


def test_stopped_before_it_began_asks_nothing(make, stub: StubServer) -> None:
    stop = threading.Event()
    stop.set()
    assert make().warm([SYSTEM], stop).finish == "stopped"
    assert not stub.bodies("/api/chat") and not stub.bodies("/v1/chat/completions")


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ([SYSTEM], True),
        ([SYSTEM, PASSAGES], True),
        ([SYSTEM, Message("user", "資料一覧: 一")], False),
        ([Message("system", "資")], False),
        ([], False),
    ],
)
def test_only_the_last_user_message_may_go_on(prefix: list[Message], expected: bool) -> None:
    assert begins_with([SYSTEM, Message("user", "資料一覧:\n質問")], prefix) is expected


def test_hash_changes_with_role_and_text() -> None:
    prefixes = ([SYSTEM], [Message("user", "資料")], [Message("system", "資料 ")])
    assert len({prefix_sha256(prefix) for prefix in prefixes}) == 3
