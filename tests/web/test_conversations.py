"""Conversations over HTTP: kept, named, read again in either language, and how each answer came about."""

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sse import STREAM, read_events, until

from fumikura.errors import BackendUnavailable
from fumikura.records import Usage

BASE = "/api/notebooks/default/conversations"
QUESTION = "図書室は何時に開きますか？"
ANSWER = "開館は九時です。[1]"
DOWN = BackendUnavailable("Ollama につながりません。", "Ollama cannot be reached")


@pytest.fixture
def start(open_service, open_client, cases: Path):
    """A client whose notebook holds the library's hours, with the given answers of the model."""

    def make(*answers, sources: str = "C099/library.md") -> TestClient:
        service = open_service(*answers)
        service.library.add("default", [cases / sources])
        return open_client(service)

    return make


def ask(client: TestClient, question: str = QUESTION, **more) -> dict:
    """Ask over the event stream; the payload of its last event, with the ids of the turn."""
    reply = client.post("/api/notebooks/default/ask", json={"question": question, **more}, headers=STREAM)
    told = list(read_events(reply.text.splitlines()))
    return {**until(iter(told), "hits"), **told[-1][1]}


def turns(client: TestClient, conversation_id: str, language: str = "ja") -> list[dict]:
    return client.get(f"{BASE}/{conversation_id}", headers={"Accept-Language": language}).json()["turns"]


def test_a_question_begins_a_conversation_named_after_it(start) -> None:
    client = start(ANSWER)
    answer = ask(client)
    conversation = client.get(BASE).json()["conversations"][0]
    assert (conversation["title"], conversation["turn_count"]) == (QUESTION, 1)
    assert conversation["conversation_id"] == answer["conversation_id"]
    turn = turns(client, answer["conversation_id"])[0]
    assert (turn["question"], turn["state"], turn["error"]) == (QUESTION, "complete", None)
    assert turn["answer"]["text"] == ANSWER
    assert turn["answer"]["citations"][0]["quote"] == "開館は九時、閉館は十七時です。"


def test_the_plain_document_is_kept_when_a_conversation_is_named(start) -> None:
    client = start(ANSWER)
    named = client.post(BASE, json={"title": "時間のこと"})
    assert named.status_code == 201
    conversation_id = named.json()["conversation_id"]
    body = {"question": QUESTION, "conversation_id": conversation_id}
    answer = client.post("/api/notebooks/default/ask", json=body).json()
    assert turns(client, conversation_id)[0]["turn_id"] == answer["turn_id"]
    assert client.get(BASE).json()["conversations"][0]["title"] == "時間のこと"


def test_rename_and_delete(start) -> None:
    client = start(ANSWER)
    path = f"{BASE}/{ask(client)['conversation_id']}"
    assert client.patch(path, json={"title": "図書室"}).json()["title"] == "図書室"
    assert client.patch(path, json={"title": " "}).status_code == 422
    assert client.patch(path, json={"title": "長" * 201}).status_code == 422
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404
    assert client.delete(path).status_code == 404
    assert client.get(BASE).json() == {"conversations": []}


def test_the_one_last_asked_in_comes_first(start) -> None:
    client = start(ANSWER)
    first, second = (client.post(BASE, json={"title": title}).json()["conversation_id"] for title in "あい")
    assert [one["conversation_id"] for one in client.get(BASE).json()["conversations"]] == [second, first]


def test_deleting_a_turn_takes_it_out_of_what_comes_next(start) -> None:
    client = start(ANSWER)
    first = ask(client)
    ids = {"conversation_id": first["conversation_id"]}
    ask(client, "図書室は何時に閉まりますか？", **ids)
    assert client.delete(f"{BASE}/{first['conversation_id']}/turns/{first['turn_id']}").status_code == 204
    ask(client, "図書室の休みはいつですか？", **ids)
    prompt = client.app.state.service.library.generator.prompts[-1]
    assert [message.content for message in prompt if message.role == "user"][1:-1] == ["図書室は何時に閉まりますか？"]


def test_history_holds_questions_as_asked_and_answers_without_marks(start) -> None:
    client = start("開館は九時です。[1]", "閉館は十七時です。[1]")
    ids = {"conversation_id": ask(client)["conversation_id"]}
    ask(client, "図書室は何時に閉まりますか？", **ids)
    history = client.app.state.service.library.generator.prompts[-1][3:-1]  # behind rules and core
    assert [(message.role, message.content) for message in history] == [
        ("user", QUESTION),
        ("assistant", "開館は九時です。"),
    ]


def test_history_is_three_turns_at_most(start) -> None:
    client = start(ANSWER)
    conversation_id = client.post(BASE, json={}).json()["conversation_id"]
    for number in range(5):
        ask(client, f"図書室は何時に開きますか？（{number}回目）", conversation_id=conversation_id)
    prompt = client.app.state.service.library.generator.prompts[-1]
    assert [message.role for message in prompt] == ["system", *["user", "assistant"] * 4, "user"]
    assert "1回目" in prompt[3].content


def test_a_failed_question_is_kept_with_its_reason(start) -> None:
    client = start(DOWN, ANSWER)
    told = ask(client)
    assert told["error"]["code"] == "backend_unavailable"
    for language, message in (("ja", DOWN.ja), ("en", DOWN.en)):
        turn = turns(client, told["conversation_id"], language)[0]
        assert (turn["state"], turn["answer"]) == ("failed", None)
        assert turn["error"]["message"] == message
    ask(client, conversation_id=told["conversation_id"])
    prompt = client.app.state.service.library.generator.prompts[-1]
    assert [message.content for message in prompt[3:-1]] == [QUESTION, "（途中で途切れた答え）"]


def test_kept_notices_are_read_in_either_language(start) -> None:
    client = start([ANSWER, Usage("length")])
    conversation_id = ask(client)["conversation_id"]
    ja, en = (turns(client, conversation_id, language)[0]["answer"]["notices"][0] for language in ("ja", "en"))
    assert "切れました" in ja and "cut" in en
    assert turns(client, conversation_id)[0]["state"] == "complete"


def test_the_receipt_shows_the_four_steps(start) -> None:
    client = start("開館は九時です。[1] 館長は月に三回替わります。")
    answer = ask(client)
    path = f"{BASE}/{answer['conversation_id']}/turns/{answer['turn_id']}/receipt"
    receipt = client.get(path).json()
    settings = client.app.state.service.settings
    assert receipt["question"] == receipt["completed"] == QUESTION
    assert receipt["split"] == {"method": "structure", "size": settings.chunk.size, "overlap": 0, "chunk_count": 1}
    assert receipt["embed"]["dimension"] == 384
    assert receipt["search"]["top_k"] == settings.search.top_k
    assert [(hit["source"], hit["used"]) for hit in receipt["search"]["hits"]] == [("library.md", True)]
    sent = client.app.state.service.library.generator.prompts[0]
    generate = receipt["generate"]
    assert generate["messages"] == [{"role": one.role, "content": one.content} for one in sent]
    assert generate["raw_text"].endswith("替わります。")
    assert generate["unsupported"] == answer["unsupported"] != []
    assert generate["receipt"]["answer_tokens"] == answer["receipt"]["answer_tokens"]


def test_a_receipt_of_what_was_never_searched_says_so(start) -> None:
    client = start()
    store = client.app.state.service.library.store
    conversation_id = store.add_conversation("default").conversation_id
    turn_id = store.add_turn("default", conversation_id, QUESTION).turn_id
    reply = client.get(f"{BASE}/{conversation_id}/turns/{turn_id}/receipt")
    assert reply.status_code == 404
    assert "検索まで進まなかった" in reply.json()["error"]["message"]
    assert client.get(f"{BASE}/{conversation_id}/turns/none/receipt").status_code == 404


def test_c107_follow_ups_are_searched_as_they_are_meant(start, cases: Path) -> None:
    said = [
        "開園は七時です。[1]",
        "閉園は十八時です。[1]",
        "駐車場は四十台です。[1]",
        "西公園の駐車場は十二台です。[1]",
    ]
    client = start(*said, sources="C107/dialogue_sources")
    questions = json.loads((cases / "C107" / "dialogue.json").read_text(encoding="utf-8"))
    ids = {}
    answers = []
    for question in questions:
        answers.append(ask(client, question, **ids))
        ids = {"conversation_id": answers[0]["conversation_id"]}
    assert answers[0]["completed"] == questions[0]
    assert "東公園" in answers[1]["completed"] and "閉園" in answers[1]["completed"]
    assert "西公園" in answers[3]["completed"]
    assert [answer["citations"][0]["source"].split("/")[-1] for answer in answers] == ["east.md"] * 3 + ["west.md"]
    kept = turns(client, answers[0]["conversation_id"])
    assert [(turn["question"], turn["completed"]) for turn in kept] == [
        (question, answer["completed"]) for question, answer in zip(questions, answers, strict=True)
    ]
