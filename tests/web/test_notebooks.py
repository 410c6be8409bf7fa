"""Notebooks: made, listed, renamed, deleted; by number or by name."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from fumikura.web.service import Service

ENGLISH = {"Accept-Language": "en"}


def test_a_fresh_library_has_the_default_notebook(client: TestClient) -> None:
    (only,) = client.get("/api/notebooks").json()["notebooks"]
    assert (only["name"], only["source_count"], only["chunk_count"]) == ("default", 0, 0)


def test_the_life_of_a_notebook(client: TestClient) -> None:
    made = client.post("/api/notebooks", json={"name": "  旅の\u3000記録\n "})
    assert made.status_code == 201
    assert made.json()["name"] == "旅の 記録"
    number = made.json()["id"]
    renamed = client.patch(f"/api/notebooks/{number}", json={"name": "旅行"})
    assert (renamed.status_code, renamed.json()["id"], renamed.json()["name"]) == (200, number, "旅行")
    assert client.patch(f"/api/notebooks/{quote('旅行')}", json={"name": "旅行"}).status_code == 200
    gone = client.delete(f"/api/notebooks/{number}")
    assert (gone.status_code, gone.json()) == (200, {"notices": []})
    assert client.delete(f"/api/notebooks/{number}").status_code == 404


def test_a_taken_name_is_refused(client: TestClient) -> None:
    client.post("/api/notebooks", json={"name": "家"})
    again = client.post("/api/notebooks", json={"name": "家"}, headers=ENGLISH)
    assert again.status_code == 409
    assert "家" in again.json()["error"]["message"]
    other = client.post("/api/notebooks", json={"name": "か\u3099"}).json()
    assert other["name"] == "が"
    assert client.post("/api/notebooks", json={"name": "が"}).status_code == 409
    assert client.patch(f"/api/notebooks/{other['id']}", json={"name": "家"}).status_code == 409


@pytest.mark.parametrize("name", ["", "   ", "\u200b", "長" * 201, 7, None, "\ud800"])
def test_unusable_names_are_refused(client: TestClient, name: object) -> None:
    body = json.dumps({"name": name})
    reply = client.post("/api/notebooks", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 422
    assert "「name」" in reply.json()["error"]["message"]


def test_a_notebook_may_be_called_like_a_number(client: TestClient) -> None:
    made = client.post("/api/notebooks", json={"name": "2026"}).json()
    assert client.patch("/api/notebooks/2026", json={"name": "2026年"}).json()["id"] == made["id"]
    for odd in ("0", "99999999999999999999", "9223372036854775808", "-1", "x" * 700):
        reply = client.patch(f"/api/notebooks/{odd}", json={"name": "y"})
        assert reply.status_code in (404, 422), odd


def test_names_with_signs_of_an_address(client: TestClient) -> None:
    for name in ("a?b#c", "50%", "..", "<b>"):
        number = client.post("/api/notebooks", json={"name": name}).json()["id"]
        assert client.patch(f"/api/notebooks/{number}", json={"name": name}).json()["name"] == name


def test_deleting_takes_the_sources_along(client: TestClient, service: Service, tmp_path: Path) -> None:
    note = tmp_path / "memo.md"
    note.write_text("# 覚え書き\n\n鍵は棚の上です。", encoding="utf-8")
    service.library.add("家", [note])
    (found,) = [one for one in client.get("/api/notebooks").json()["notebooks"] if one["name"] == "家"]
    assert found["source_count"] == 1
    assert found["chunk_count"] > 0
    assert client.delete(f"/api/notebooks/{found['id']}").json() == {"notices": []}
    assert "家" not in service.library.store.notebooks()


def test_a_shortened_address_of_a_source_does_not_reach_the_notebook(client: TestClient) -> None:
    made = client.post("/api/notebooks", json={"name": "庭"}).json()
    reply = client.delete(f"/api/notebooks/{made['id']}/")  # what …/sources/.. and …/sources/x/../.. end up as
    assert reply.status_code == 404
    assert made in client.get("/api/notebooks").json()["notebooks"]
