"""Jobs over HTTP: shown, tried again, cancelled, dismissed."""

import time

import pytest
from fastapi.testclient import TestClient

from fumikura.errors import BackendUnavailable

BASE = "/api/notebooks/default"


@pytest.fixture
def idle(service, open_client, monkeypatch) -> TestClient:
    """A client of a server whose worker takes nothing up."""
    monkeypatch.setattr(service.worker, "start", lambda: None)
    return open_client(service)


def add(client: TestClient, name: str = "memo.md", text: str = "鍵は青い箱。") -> dict:
    return client.post(f"{BASE}/sources", files=[("files", (name, text.encode()))]).json()["jobs"][0]


def until(client: TestClient, **wanted: object) -> dict:
    end = time.monotonic() + 20
    while True:
        jobs = client.get(f"{BASE}/progress").json()["jobs"]
        found = [job for job in jobs if all(job[key] == value for key, value in wanted.items())]
        if found:
            return found[0]
        assert time.monotonic() < end, jobs
        time.sleep(0.02)


def test_a_queued_job_is_cancelled_tried_again_and_dismissed(idle):
    job = add(idle)
    path = f"{BASE}/jobs/{job['job_id']}"
    assert idle.post(f"{path}/cancel").json()["state"] == "cancelled"
    assert idle.post(f"{path}/retry").json()["state"] == "queued"
    assert idle.post(f"{path}/retry").status_code == 409
    idle.post(f"{path}/cancel")
    assert idle.delete(path).status_code == 204
    assert idle.get(f"{BASE}/progress").json()["jobs"] == []
    assert idle.delete(path).status_code == 404


def test_a_failed_file_stays_until_it_is_dismissed(client):
    job = add(client, "空.md", "")
    assert until(client, state="failed")["name"] == "空.md"
    retried = client.post(f"{BASE}/jobs/{job['job_id']}/retry").json()
    assert retried["state"] in ("queued", "running", "failed")
    failed = until(client, state="failed")
    assert "もう一度追加" in failed["error"]["message"]
    assert client.delete(f"{BASE}/jobs/{job['job_id']}").status_code == 204


def test_a_job_of_another_notebook_is_not_found(idle):
    job = add(idle)
    idle.post("/api/notebooks", json={"name": "別"})
    for call, path in ((idle.post, "/retry"), (idle.post, "/cancel"), (idle.delete, "")):
        assert call(f"/api/notebooks/別/jobs/{job['job_id']}{path}").status_code == 404
    assert idle.post(f"{BASE}/jobs/{10**30}/cancel").status_code in (404, 422)


def test_progress_says_why_embedding_stands_still_and_embed_goes_on(client, service, embedder, monkeypatch):
    down = BackendUnavailable("埋め込みのサーバーに接続できません。", "cannot connect to the embedding server")
    failing = [True]
    real = embedder.embed_documents

    def embed_documents(texts):
        if failing:
            raise down
        return real(texts)

    monkeypatch.setattr(embedder, "embed_documents", embed_documents)
    add(client)
    until(client, state="done")
    end = time.monotonic() + 20
    while not (progress := client.get(f"{BASE}/progress").json())["notices"]:
        assert time.monotonic() < end
    assert progress["notices"] == [down.ja]
    assert [(one["vector_count"], one["chunk_count"]) for one in progress["embedding"]] == [(0, 1)]
    english = client.get(f"{BASE}/progress", headers={"Accept-Language": "en"}).json()
    assert english["notices"] == [down.en]
    failing.clear()
    assert client.post(f"{BASE}/embed").status_code == 202
    assert until(client, kind="embed", state="done")["error"] is None
    progress = client.get(f"{BASE}/progress").json()
    assert (progress["notices"], progress["embedding"]) == ([], [])
