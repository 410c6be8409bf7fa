"""Questions as one document: the seed's endpoint and the notebook's, what is refused, what must not get out."""

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from fumikura.errors import BackendUnavailable
from fumikura.generators import ScriptedGenerator
from fumikura.records import Usage

QUESTION = "図書室は何時に開きますか？"
ANSWER = "開館は九時です。[1]"
DOWN = BackendUnavailable("Ollama につながりません。", "Ollama cannot be reached")


@pytest.fixture
def library_client(open_service, open_client, cases: Path):
    """A client whose notebook holds the library's hours, with the given answers of the model."""

    def start(*answers, **environment: str) -> TestClient:
        service = open_service(*answers, **environment)
        service.library.add("default", [cases / "C099" / "library.md"])
        return open_client(service)

    return start


def prompts_of(client: TestClient) -> list:
    generator = client.app.state.service.library.generator
    assert isinstance(generator, ScriptedGenerator)
    return generator.prompts


def test_the_seeds_question_gets_answer_sources_and_everything_else(library_client) -> None:
    client = library_client(ANSWER)
    body = client.post("/api/ask", json={"question": QUESTION}).json()
    assert body["answer"] == body["text"] == ANSWER
    assert body["sources"] == ["library.md"]
    assert (body["status"], body["finish"], body["notices"]) == ("answered", "complete", [])
    assert body["citations"][0]["quote"] == "開館は九時、閉館は十七時です。"
    assert body["receipt"]["model"] == "scripted"
    assert "contexts" not in body
    assert client.get("/api/notebooks/default/conversations").json() == {"conversations": []}


def test_debug_shows_the_passages_as_the_model_received_them(library_client) -> None:
    client = library_client(ANSWER)
    body = client.post("/api/ask", json={"question": QUESTION, "debug": True}).json()
    given = "\n".join(message.content for message in prompts_of(client)[0])
    assert [context in given for context in body["contexts"]] == [True]
    assert "開館は九時" in body["contexts"][0]


def test_a_refusal_is_an_answer_without_sources(library_client) -> None:
    body = library_client("資料にありません。[1]").post("/api/ask", json={"question": QUESTION}).json()
    assert body["status"] == "not_in_sources"
    assert body["answer"].startswith("資料にありません。")
    assert (body["sources"], body["citations"]) == ([], [])


def test_what_no_source_holds_is_refused_without_asking_the_model(open_service, open_client) -> None:
    service = open_service()
    service.library.add_samples("default")
    client = open_client(service)
    body = client.post("/api/ask", json={"question": "富士山の標高は何メートル？", "debug": True}).json()
    assert (body["status"], body["sources"], body["contexts"]) == ("not_in_sources", [], [])
    assert prompts_of(client) == []


def test_as_of_reaches_the_model_and_is_checked(library_client) -> None:
    client = library_client(ANSWER)
    assert client.post("/api/ask", json={"question": QUESTION, "as_of": "2026-03-05"}).status_code == 200
    assert "2026-03-05" in prompts_of(client)[0][-1].content
    refused = client.post("/api/ask", json={"question": QUESTION, "as_of": "あした"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "question")
    assert "あした" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({"question": "  "}, 422, "質問が空です"),
        ({"question": "あ" * 4001}, 422, "4,001"),
        ({"question": QUESTION, "mode": "whole"}, 422, "auto・rag・resident・hybrid"),
        ({"question": QUESTION, "source_ids": ["gone"]}, 404, "gone"),
        ({"question": QUESTION, "conversation_id": "gone"}, 404, "gone"),
        ({"question": QUESTION, "questoin": "?"}, 422, "questoin"),
        ({}, 422, "question"),
    ],
)
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_what_is_refused_says_why_and_leaves_nothing_behind(
    library_client, body: dict, status: int, named: str, accept: str
) -> None:
    client = library_client()
    refused = client.post("/api/notebooks/default/ask", json=body, headers={"Accept": accept})
    assert refused.status_code == status
    assert named in refused.json()["error"]["message"]
    assert client.get("/api/notebooks/default/conversations").json() == {"conversations": []}


def test_an_unknown_notebook_is_named(library_client) -> None:
    refused = library_client().post("/api/ask", json={"question": QUESTION, "notebook": "庭"})
    assert refused.status_code == 404
    assert "庭" in refused.json()["error"]["message"]


def test_an_empty_notebook_says_that_it_has_no_source(client: TestClient) -> None:
    body = client.post("/api/ask", json={"question": QUESTION}).json()
    assert body["status"] == "not_in_sources"
    assert "まだ読める資料がありません" in body["answer"]


def test_the_question_goes_to_the_chosen_sources_only(open_service, open_client, cases: Path) -> None:
    service = open_service("東公園の開園は七時です。[1]")
    service.library.add("default", [cases / "C107" / "dialogue_sources"])
    client = open_client(service)
    west = next(one for one in service.library.store.sources("default") if "west" in one.name)
    body = {"question": "東公園の開園は何時？", "source_ids": [west.source_id], "debug": True}
    answer = client.post("/api/notebooks/default/ask", json=body).json()
    assert answer["sources"] == []
    assert not any("東公園" in context for context in answer["contexts"])


def test_a_model_that_cannot_be_reached_is_a_503_in_both_languages(library_client) -> None:
    client = library_client(DOWN)
    for language, message in (("ja", DOWN.ja), ("en", DOWN.en)):
        reply = client.post("/api/ask", json={"question": QUESTION}, headers={"Accept-Language": language})
        assert (reply.status_code, reply.json()["error"]["code"]) == (503, "backend_unavailable")
        assert reply.json()["error"]["message"] == message


def test_notices_come_in_the_language_of_the_request(library_client) -> None:
    client = library_client([ANSWER, Usage("length")])
    ja, en = (
        client.post("/api/ask", json={"question": QUESTION}, headers={"Accept-Language": language}).json()
        for language in ("ja", "en")
    )
    assert ja["finish"] == en["finish"] == "length"
    assert "上限" in ja["notices"][0] and "上限" not in en["notices"][0]


def test_an_error_that_nobody_foresaw_is_a_500_and_the_next_question_works(library_client, caplog) -> None:
    client = library_client(ANSWER)
    generator = client.app.state.service.library.generator
    working, generator.generate = generator.generate, lambda *_: 1 / 0
    reply = client.post("/api/ask", json={"question": QUESTION})
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal")
    assert QUESTION not in caplog.text
    generator.generate = working
    assert client.post("/api/ask", json={"question": QUESTION}).json()["answer"] == ANSWER


def test_c111_a_chinese_answer_is_not_passed_off_as_japanese(library_client, cases: Path) -> None:
    said = json.loads((cases / "C111" / "chinese_answer.json").read_text(encoding="utf-8"))["pieces"]
    body = library_client("".join(said)).post("/api/ask", json={"question": "図書室の開館は何時？"}).json()
    assert any("中国語" in notice for notice in body["notices"])


def test_c112_orders_inside_a_source_reach_the_model_as_a_quotation_only(
    open_service, open_client, cases: Path
) -> None:
    service = open_service("貸し出しは月曜のみです。[1] ご当選おめでとうございます。")
    service.library.add("default", [cases / "C112" / "injection.md"])
    client = open_client(service)
    body = client.post("/api/ask", json={"question": "備品の貸し出しは何曜？"}).json()
    assert (body["answer"], body["sources"]) == ("貸し出しは月曜のみです。[1]", ["injection.md"])
    rules, asked, read, _ = (message.content for message in prompts_of(client)[0])
    assert "当選しました" not in rules + read
    assert asked.count('"""') >= 2
    assert '"""' in asked.partition("当選しました")[0] and '"""' in asked.partition("当選しました")[2]


def test_c113_no_image_survives_in_an_answer(open_service, open_client, cases: Path) -> None:
    said = json.loads((cases / "C113" / "script.json").read_text(encoding="utf-8"))["pieces"]
    service = open_service("".join(said))
    service.library.add("default", [cases / "C113" / "exfil.md"])
    client = open_client(service)
    body = client.post("/api/ask", json={"question": "連絡係は誰？"}).json()
    assert "連絡係は三浦さんです。[1]" in body["answer"]
    for markup in ("![", "<img", "log?q=", "/b?q="):
        assert markup not in body["answer"]
