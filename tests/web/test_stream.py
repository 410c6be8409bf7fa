"""Answers as events over real HTTP, before a stand-in for Ollama that can be slow, break off or never answer."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from sse import STREAM, asked, until

from fumikura.web.app import create_app
from fumikura.web.events import EventStream
from fumikura.web.generator_queue import GeneratorQueue
from fumikura.web.server import WebServer, listen

QUESTION = "図書室は何時に開きますか？"
ANSWER = "開館は九時です。[1]"


@pytest.fixture
def address(open_service, serve, stub, cases: Path) -> str:
    """The address of a server whose notebook holds the library's hours and whose model is the stand-in."""
    return serve(service_of(open_service, stub, cases))


def service_of(open_service, stub, cases: Path, **environment: str):
    settings = {"FUMIKURA__LLM__BACKEND": "ollama", "FUMIKURA__OLLAMA__URL": stub.url, **environment}
    service = open_service(preset="embedded", **settings)
    service.library.add("default", [cases / "C099" / "library.md"])
    stub.play({"pieces": [ANSWER]})
    service.library.notebook("default").ask(QUESTION)  # the first words of an unknown server are held back
    stub.requests.clear()
    return service


def wait_for(condition: Callable[[], bool], seconds: float = 5.0) -> float:
    """Return the seconds until the condition holds; fail when it does not in time."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < seconds
        time.sleep(0.01)
    return time.monotonic() - begun


def questions(stub) -> list[dict]:
    """What the model was asked by a person; the warm-up asks "？" and throws the answer away."""
    return [body for body in stub.bodies("/api/chat") if body["messages"][-1]["content"] != "？"]


def turns_of(address: str) -> list[dict]:
    base = f"{address}/api/notebooks/default/conversations"
    with httpx2.Client(trust_env=False, headers={"Accept-Language": "ja"}) as client:
        conversations = client.get(base).json()["conversations"]
        return [
            turn
            for conversation in conversations
            for turn in client.get(f"{base}/{conversation['conversation_id']}").json()["turns"]
        ]


def ended_turn(address: str) -> dict:
    wait_for(lambda: turns_of(address)[0]["state"] != "running")
    return turns_of(address)[0]


def test_the_events_of_an_answer_in_their_order(address: str, stub) -> None:
    stub.play({"pieces": ["開館は", "九時です。", "[1]"]})
    with asked(address, QUESTION) as events:
        told = list(events)
    names = [name if name != "stage" else payload["stage"] for name, payload in told]
    written = names.index("writing")
    assert names[:written] == ["searching", "hits", "reading"]
    assert set(names[written:-1]) <= {"writing", "token", "checking"}
    assert names[-1] == "answer"
    hits, answer = (next(payload for name, payload in told if name == wanted) for wanted in ("hits", "answer"))
    assert hits["completed"] == QUESTION
    assert hits["hits"][0]["source"] == "library.md"
    assert hits["hits"][0]["heading"] == "図書室"
    assert "".join(payload["text"] for name, payload in told if name == "token") == ANSWER
    assert (answer["text"], answer["status"], answer["finish"]) == (ANSWER, "answered", "complete")
    turn = turns_of(address)[0]
    assert (turn["turn_id"], turn["state"]) == (answer["turn_id"], "complete")
    assert turn["answer"]["citations"] == answer["citations"]


def test_passages_come_before_the_model_has_said_anything(address: str, stub, cases: Path) -> None:
    stub.play(cases / "C096" / "never_answers.json")
    begun = time.monotonic()
    with asked(address, QUESTION) as events:
        assert until(events, "hits")["hits"][0]["source"] == "library.md"
        assert time.monotonic() - begun < 2
        assert until(events, "stage") == {"stage": "reading"}


def test_c093_an_error_in_the_middle_keeps_the_text_marked_as_broken_off(address: str, stub, cases: Path) -> None:
    for script in ("script.json", "connection_dropped.json"):
        stub.play(cases / "C093" / script)
        with asked(address, QUESTION) as events:
            answer = until(events, "answer")
        assert answer["finish"] == "broken_off"
        assert any("途切れ" in notice for notice in answer["notices"])
        turn = turns_of(address)[0]
        assert turn["state"] == "broken_off"
        assert turn["text"].startswith("開館は九時で")


def test_c093_a_broken_off_answer_reaches_the_next_prompt_only_marked(address: str, stub, cases: Path) -> None:
    stub.play(cases / "C093" / "script.json")
    with asked(address, QUESTION) as events:
        conversation_id = until(events, "answer")["conversation_id"]
    stub.play({"pieces": [ANSWER]})
    with asked(address, "図書室は何時に閉まりますか？", conversation_id=conversation_id) as events:
        until(events, "answer")
    messages = questions(stub)[-1]["messages"]
    assert [message["role"] for message in messages] == ["system", *["user", "assistant"] * 2, "user"]
    assert messages[3]["content"] == QUESTION
    assert messages[4]["content"].endswith("（途中で途切れた答え）")


def test_c096_a_slow_first_token_is_waited_for_and_the_connection_kept(
    open_service, serve, stub, cases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EventStream, "keep_alive_s", 0.2)
    script = json.loads((cases / "C096" / "slow_first_token.json").read_text(encoding="utf-8"))
    address = serve(service_of(open_service, stub, cases))
    stub.play({**script, "first_byte_delay": 1.0})
    with asked(address, QUESTION) as events:
        told = list(events)
    repeated = [payload for name, payload in told if payload == {"stage": "reading"}]
    assert len(repeated) >= 4
    assert told[-1][1]["text"] == ANSWER
    assert len(questions(stub)) == 1


def test_c096_a_server_that_never_answers_ends_in_a_plain_message(open_service, serve, stub, cases: Path) -> None:
    address = serve(service_of(open_service, stub, cases, FUMIKURA__LLM__FIRST_TOKEN_S="0.5"))
    stub.play(cases / "C096" / "never_answers.json")
    with asked(address, QUESTION) as events:
        error = until(events, "error")["error"]
    assert error["code"] == "backend_timeout"
    assert "0.5秒" in error["message"]
    turn = turns_of(address)[0]
    assert (turn["state"], turn["answer"]) == ("failed", None)
    assert turn["error"]["message"] == error["message"]
    stub.play({"pieces": [ANSWER]})
    with asked(address, QUESTION) as events:
        assert until(events, "answer")["text"] == ANSWER


@pytest.mark.parametrize("moment", ["during the stream", "before the first token"])
def test_c097_who_leaves_ends_the_generation_and_the_next_question_starts(
    address: str, stub, cases: Path, moment: str
) -> None:
    stub.play(cases / "C097" / "long_stream.json" if moment == "during the stream" else {"first_byte_delay": 20})
    with asked(address, QUESTION) as events:
        if moment == "during the stream":
            for _ in range(3):
                until(events, "token")
        else:
            until(events, "hits")
            wait_for(lambda: len(questions(stub)) == 1)
    stub.play({"pieces": [ANSWER]})
    begun = time.monotonic()
    with asked(address, QUESTION) as events:
        assert until(events, "answer")["text"] == ANSWER
    assert time.monotonic() - begun < 10, "the rest of the stream, or the first token, would take 20 s or more"
    if moment == "during the stream":
        assert wait_for(lambda: stub.state.open_streams == 0, 2) < 2
        assert stub.state.aborted_streams == 1
    first = next(turn for turn in turns_of(address) if turn["state"] != "complete")
    assert first["state"] == "stopped"
    assert first["text"] == ("あああ" if moment == "during the stream" else "") or first["text"].startswith("あああ")


def test_c097_who_leaves_the_line_frees_the_place(address: str, stub, cases: Path) -> None:
    stub.play(cases / "C097" / "long_stream.json")
    with asked(address, QUESTION) as first:
        until(first, "token")
        with asked(address, QUESTION) as second:
            assert next(place for name, place in second if place.get("stage") == "waiting")["position"] == 1
            with asked(address, QUESTION) as third:
                assert next(place for name, place in third if place.get("stage") == "waiting")["position"] == 2
        health = f"{address}/api/health"
        wait_for(lambda: httpx2.get(health, trust_env=False).json()["generator"]["waiting_count"] == 0)
    wait_for(lambda: {turn["state"] for turn in turns_of(address)} == {"stopped"})
    assert len(questions(stub)) == 1


def test_places_move_up_and_everyone_is_answered(address: str, stub) -> None:
    stub.play({"pieces": ["開館は", "九時です。[1]"], "piece_delay": 0.3})
    places: list[list[int]] = [[], [], []]
    texts: list[str] = []

    def ask(number: int) -> None:
        with asked(address, QUESTION) as events:
            for name, payload in events:
                if payload.get("stage") == "waiting":
                    places[number].append(payload["position"])
                if name == "answer":
                    texts.append(payload["text"])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(places) == [[], [1], [2, 1]]
    assert texts == [ANSWER] * 3


def test_a_line_that_is_too_long_is_a_429(open_service, serve, stub, cases: Path) -> None:
    service = service_of(open_service, stub, cases)
    service.queue = GeneratorQueue(longest=1)
    address = serve(service)
    stub.play(cases / "C097" / "long_stream.json")
    with asked(address, QUESTION) as first, asked(address, QUESTION) as second:
        until(first, "token")
        until(second, "hits")
        wait_for(lambda: service.queue.waiting_count == 1)
        for headers in (STREAM, {"Accept": "application/json"}):
            url = f"{address}/api/notebooks/default/ask"
            refused = httpx2.post(url, json={"question": QUESTION}, headers=headers, trust_env=False)
            assert refused.status_code == 429
            assert int(refused.headers["Retry-After"]) > 0
            assert "1" in refused.json()["error"]["message"]


def test_closing_a_plain_request_ends_the_generation_too(address: str, stub, cases: Path) -> None:
    stub.play(cases / "C097" / "long_stream.json")
    with pytest.raises(httpx2.ReadTimeout):
        httpx2.post(f"{address}/api/ask", json={"question": QUESTION}, timeout=1.5, trust_env=False)
    assert wait_for(lambda: stub.state.aborted_streams == 1, 2) < 2


def test_a_server_that_ends_gives_streams_their_end_and_keeps_the_turn(open_service, serve, stub, cases: Path) -> None:
    service = service_of(open_service, stub, cases)
    socket = listen("127.0.0.1", 0)
    server = WebServer(create_app(service), service)
    serving = threading.Thread(target=server.run, args=([socket],))
    serving.start()
    wait_for(lambda: server.started)
    stub.play(cases / "C097" / "long_stream.json")
    address = f"http://127.0.0.1:{socket.getsockname()[1]}"
    with asked(address, QUESTION) as events:
        until(events, "token")
        running = turns_of(address)[0]
        assert (running["state"], running["text"][:1], running["answer"]) == ("running", "あ", None)
        server.should_exit = True
        assert list(events)[-1][0] in ("answer", "error")
    serving.join(10)
    again = serve(service_of(open_service, stub, cases))
    assert turns_of(again)[0]["state"] == "stopped"


def test_deleting_the_conversation_ends_its_running_answer(address: str, stub, cases: Path) -> None:
    stub.play(cases / "C097" / "long_stream.json")
    with asked(address, QUESTION) as events:
        conversation_id = until(events, "hits")["conversation_id"]
        until(events, "token")
        url = f"{address}/api/notebooks/default/conversations/{conversation_id}"
        assert httpx2.delete(url, trust_env=False).status_code == 204
        assert wait_for(lambda: stub.state.open_streams == 0, 5) < 5
    assert turns_of(address) == []
