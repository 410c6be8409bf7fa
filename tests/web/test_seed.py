"""The seed's endpoints about sources, called as its users do."""

import threading
import time

import httpx2

from fumikura.errors import BackendRefused

PARK = "# ひかり公園\n\n開園は九時です。\n"


def test_files_sent_are_sources_when_the_answer_comes(client):
    files = [("files", ("公園.md", PARK.encode())), ("files", ("空.md", b""))]
    park, empty = client.post("/api/ingest", files=files).json()["reports"]
    assert (park["source"], park["status"], park["chunk_count"], park["error"]) == ("公園.md", "added", 1, "")
    assert park["source_id"] and park["seconds"] > 0
    assert empty["status"] == "failed" and "空.md" in empty["error"]
    (source,) = client.get("/api/sources").json()["sources"]
    assert (source["name"], source["status"], source["source_id"]) == ("公園.md", "ready", park["source_id"])


def test_without_files_the_docs_folder_is_taken(client, service):
    empty = client.post("/api/ingest")
    assert empty.status_code == 404 and "paths.docs" in empty.json()["error"]["message"]
    docs = service.library.data / "docs"
    (docs / "2025").mkdir(parents=True)
    (docs / "公園.md").write_text(PARK)
    (docs / "2025" / "公園.md").write_text("去年の公園。")
    first = client.post("/api/ingest").json()["reports"]
    assert sorted(report["status"] for report in first) == ["added", "added"]
    assert len({report["source"] for report in first}) == 2
    again = client.post("/api/ingest").json()["reports"]
    assert [report["status"] for report in again] == ["unchanged", "unchanged"]


def test_a_file_of_the_docs_folder_over_the_limit_fails_by_name(open_client, open_service):
    service = open_service(FUMIKURA__LIMITS__SOURCE_BYTES="10")
    docs = service.library.data / "docs"
    docs.mkdir(parents=True)
    (docs / "大.md").write_text("大" * 10)
    (docs / "小.md").write_text("小")
    reports = open_client(service).post("/api/ingest").json()["reports"]
    assert {report["source"].rsplit("/")[-1]: report["status"] for report in reports} == {
        "大.md": "failed",
        "小.md": "added",
    }


def test_another_notebook_by_name_or_id(client):
    made = client.post("/api/notebooks", json={"name": "庭"}).json()
    files = [("files", ("公園.md", PARK.encode()))]
    assert client.post(f"/api/ingest?notebook={made['id']}", files=files).status_code == 200
    assert len(client.get("/api/sources?notebook=庭").json()["sources"]) == 1
    assert client.get("/api/sources").json()["sources"] == []
    assert client.get("/api/sources?notebook=無い").status_code == 404
    assert client.post("/api/ingest?notebook=無い", files=files).status_code == 404


def test_a_source_without_vectors_says_so(client, embedder, monkeypatch):
    def refuse(texts):
        raise BackendRefused("そのモデルはありません。", "no such model")

    monkeypatch.setattr(embedder, "embed_documents", refuse)
    files = [("files", ("公園.md", PARK.encode()))]
    (report,) = client.post("/api/ingest", files=files, headers={"Accept-Language": "en"}).json()["reports"]
    assert (report["status"], report["error"]) == ("keyword_ready", "no such model")


def test_who_waits_for_ingest_holds_up_nobody(service, serve, embedder, monkeypatch):
    gate = threading.Event()
    real = embedder.embed_documents

    def embed_documents(texts):
        assert gate.wait(30)
        return real(texts)

    monkeypatch.setattr(embedder, "embed_documents", embed_documents)
    address = serve(service)
    statuses = []

    def ingest(number):
        files = {"files": (f"m{number}.md", f"{number}番の鍵は青い箱。".encode())}
        statuses.append(httpx2.post(f"{address}/api/ingest", files=files, timeout=60).json()["reports"][0]["status"])

    threads = [threading.Thread(target=ingest, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    time.sleep(2)
    begun = time.monotonic()
    assert httpx2.get(f"{address}/api/sources", timeout=10).status_code == 200
    took = time.monotonic() - begun
    gate.set()
    for thread in threads:
        thread.join(60)
    assert took < 3
    assert statuses == ["added"] * 50
