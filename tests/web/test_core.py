"""The resident core over HTTP: gauge, state, modes, pins, reuse."""

import pytest
from fastapi.testclient import TestClient

from fumikura.records import SourceFile, Usage

BASE = "/api/notebooks/default"
SHORT = "# 図書室\n\n開館は九時、閉館は十七時です。\n"
LONG = "露草の庭には石の道が続きます。" * 700  # about 10,000 characters
QUESTION = {"question": "図書室の開館は何時？"}
SAID = ["開館は九時です。[1]", Usage("complete", 1000, 990, 9)]


@pytest.fixture
def client(open_service, open_client) -> TestClient:
    service = open_service(SAID)
    for name, text in (("図書室.md", SHORT), ("庭.md", LONG)):
        service.library.add_bytes("default", SourceFile(name, name, text.encode()))
    return open_client(service)


def ids(client: TestClient) -> dict[str, str]:
    listed = client.get(f"{BASE}/sources").json()["sources"]
    return {source["name"]: source["source_id"] for source in listed}


def pin(client: TestClient, name: str, changes: dict | None = None):
    return client.patch(f"{BASE}/sources/{ids(client)[name]}", json={"pinned": True, **(changes or {})})


def test_the_gauge_says_what_is_read_in_full_and_what_would_still_fit(client) -> None:
    core = client.get(f"{BASE}/core").json()
    assert (core["mode"], core["used_tokens"], core["answers"]) == ("rag", 0, [])
    assert pin(client, "図書室.md").status_code == 200
    core = client.get(f"{BASE}/core").json()
    assert (core["mode"], core["coverage"]) == ("hybrid", "searched")
    assert [source["resident"] for source in core["sources"]] == [True, False]
    assert core["used_tokens"] + core["free_tokens"] == core["room_tokens"]
    assert core["rules_tokens"] + core["sources"][0]["token_count"] == core["used_tokens"]


def test_an_overfull_pin_is_refused_with_the_numbers_and_changes_nothing(client) -> None:
    refused = pin(client, "庭.md", {"name": "別の名前.md", "included": False})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "core_too_large")
    assert "5,842" in refused.json()["error"]["message"]
    listed = client.get(f"{BASE}/sources").json()["sources"]
    assert {source["name"]: (source["pinned"], source["included"]) for source in listed} == {
        "図書室.md": (False, True),
        "庭.md": (False, True),
    }


def test_a_notebooks_mode_is_chosen_and_what_is_refused_changes_nothing(client) -> None:
    client.post("/api/notebooks", json={"name": "旅"})
    taken = client.patch(BASE, json={"name": "旅", "mode": "rag"})
    assert (taken.status_code, client.get("/api/notebooks").json()["notebooks"][0]["mode"]) == (409, "auto")
    assert client.patch(BASE, json={"mode": "resident"}).status_code == 409, "every question would be refused"
    assert client.patch(BASE, json={"mode": "whole"}).status_code == 422
    assert client.patch(BASE, json={"mode": "rag"}).json()["mode"] == "rag"
    pin(client, "図書室.md")
    assert client.post(f"{BASE}/ask", json=QUESTION).json()["receipt"]["mode"] == "rag"
    assert client.post(f"{BASE}/ask", json={**QUESTION, "mode": "hybrid"}).json()["receipt"]["mode"] == "hybrid"


def test_the_last_answers_say_how_much_was_reused_and_what_broke_it(client) -> None:
    pin(client, "図書室.md")
    stream = {"Accept": "text/event-stream"}
    client.post(f"{BASE}/ask", json=QUESTION, headers=stream)
    client.patch(f"{BASE}/sources/{ids(client)['図書室.md']}", json={"name": "図書館.md"})
    client.post(f"{BASE}/ask", json=QUESTION, headers=stream)
    newest, oldest = client.get(f"{BASE}/core").json()["answers"]
    assert (newest["mode"], newest["prompt_tokens"], newest["cached_tokens"]) == ("hybrid", 1000, 990)
    assert (newest["share"], newest["broken_by"], oldest["broken_by"]) == (1.0, None, None)


def test_progress_tells_the_state_of_the_core(client) -> None:
    pin(client, "図書室.md")
    core = client.get(f"{BASE}/progress").json()["core"]
    assert core.keys() == {"stage", "done_tokens", "total_tokens", "notice"}
    assert core["stage"] in ("waiting", "computing", "ready")
