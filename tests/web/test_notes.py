"""Notes over HTTP: written, searched, kept of an answer with its citations, exported, made a source."""

from datetime import date
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

BASE = "/api/notebooks/default/notes"
ANSWER = "開館は九時です。[1]"


def add(client: TestClient, **note: object) -> dict:
    reply = client.post(BASE, json=note)
    assert reply.status_code == 201, reply.text
    return reply.json()


def titles(client: TestClient, query: str = "") -> list[str]:
    return [note["title"] for note in client.get(BASE, params={"q": query} if query else {}).json()["notes"]]


def kept_answer(client: TestClient) -> dict:
    answer = client.post("/api/ask", json={"question": "図書室は何時に開きますか？"}).json()
    return add(client, text=answer["text"], citations=answer["citations"], question="図書室は何時に開きますか？")


@pytest.fixture
def library_client(open_service, open_client, cases: Path) -> TestClient:
    service = open_service(ANSWER)
    service.library.add("default", [cases / "C099" / "library.md"])
    return open_client(service)


def source_of(client: TestClient, note_id: str) -> dict:
    """Make the note a source and return that source once it is there."""
    reply = client.post(f"{BASE}/{note_id}/source")
    assert reply.status_code == 202
    service = client.app.state.service
    job = service.library.store.job(reply.json()["jobs"][0]["job_id"])
    assert service.worker.reports_of([job])[0].status != "failed"
    source_id = client.get(f"{BASE}/{note_id}").json()["source_id"]
    assert source_id
    return client.get(f"/api/notebooks/default/sources/{source_id}").json()


def test_write_read_change_delete_and_put_back(client: TestClient) -> None:
    note = add(client, title="買い物", text="里芋と葱を買う。")
    path = f"{BASE}/{note['note_id']}"
    assert client.get(path).json() == note
    changed = client.patch(path, json={"text": "里芋だけ買う。"}).json()
    assert (changed["title"], changed["text"]) == ("買い物", "里芋だけ買う。")
    removed = client.delete(path).json()
    assert removed["text"] == "里芋だけ買う。"
    assert client.get(path).status_code == client.delete(path).status_code == 404
    again = add(client, **{key: removed[key] for key in ("title", "text", "citations", "question")})
    assert client.get(BASE).json()["notes"][0]["text"] == again["text"] == "里芋だけ買う。"


def test_an_answer_kept_as_a_note_keeps_its_citations(library_client: TestClient) -> None:
    note = client_note = kept_answer(library_client)
    assert note["title"] == "図書室は何時に開きますか？"
    assert client_note["citations"][0]["quote"] == "開館は九時、閉館は十七時です。"
    assert library_client.get(BASE).json()["notes"][0]["citations"] == note["citations"]


@pytest.mark.parametrize(
    ("note", "title"),
    [
        ({"text": "# 買い物\n\n里芋"}, "買い物"),
        ({"text": "\n  里芋を煮る\n"}, "里芋を煮る"),
        ({"text": ""}, ""),
        ({"title": " 献立 ", "text": "里芋"}, "献立"),
    ],
)
def test_a_note_without_a_title_is_named_after_its_first_words(client: TestClient, note: dict, title: str) -> None:
    assert add(client, **note)["title"] == title


def test_a_note_saved_on_another_page_is_not_overwritten(client: TestClient) -> None:
    note = add(client, title="会議", text="木曜")
    path, read = f"{BASE}/{note['note_id']}", note["updated_at"]
    saved = client.patch(path, json={"text": "金曜", "updated_at": read}).json()
    refused = client.patch(path, json={"text": "土曜", "updated_at": read})
    assert refused.status_code == 409 and "会議" in refused.json()["error"]["message"]
    assert client.get(path).json() == saved and saved["text"] == "金曜"
    assert client.patch(path, json={"text": "土曜", "updated_at": saved["updated_at"]}).json()["text"] == "土曜"


def test_search_finds_any_spelling_and_lists_the_newest_first(client: TestClient) -> None:
    add(client, title="会議", text="サーバーの打ち合わせは五年前から。")
    add(client, title="献立", text="里芋の煮物")
    assert titles(client) == ["献立", "会議"]
    assert titles(client, "ｻｰﾊﾞ") == ["会議"]
    assert titles(client, "里芋　献立") == ["献立"]
    assert titles(client, "富士山") == []


@pytest.mark.parametrize(
    "note",
    [
        {},
        {"text": "あ" * 1_000_001},
        {"title": "長" * 201, "text": ""},
        {"text": "", "citations": [{"n": 1}]},
        {"txt": ""},
    ],
)
def test_what_cannot_be_kept_is_refused(client: TestClient, note: dict) -> None:
    assert client.post(BASE, json=note).status_code == 422
    assert titles(client) == []


def test_export_is_one_markdown_file_with_every_citation(library_client: TestClient) -> None:
    add(library_client, title="買い物", text="里芋")
    kept_answer(library_client)
    reply = library_client.get(f"{BASE}/export")
    assert reply.headers["content-type"].startswith("text/markdown")
    wanted = f'attachment; filename="fumikura-notes-{date.today().isoformat()}.md"'
    assert reply.headers["content-disposition"] == wanted
    assert reply.text == (
        "# 買い物\n\n里芋\n\n"
        "# 図書室は何時に開きますか？\n\n> 図書室は何時に開きますか？\n\n開館は九時です。[1]\n\n"
        "出典:\n\n- [1] library.md · 図書室: 「開館は九時、閉館は十七時です。」\n"
    )


def test_c062_c113_what_a_source_says_stays_text_in_the_export(client: TestClient) -> None:
    place = {"source_id": "a", "source": "<img src=x onerror=alert(1)>.md", "heading": "一\n二", "page": 3}
    quote = "![印](http://127.0.0.1:9/log)\n次の行"
    add(client, title="印", text="本文[1]", citations=[{"n": 1, **place, "start": 0, "end": 9, "quote": quote}])
    text = client.get(f"{BASE}/export", headers={"Accept-Language": "en"}).text
    assert "Sources:" in text
    cited = next(line for line in text.splitlines() if line.startswith("- [1]"))
    assert cited == "- [1] \\<img src=x onerror=alert(1)>.md · 一 二 · p. 3: 「!\\[印](http://127.0.0.1:9/log) 次の行」"


def test_a_note_becomes_a_source_and_updates_it(library_client: TestClient) -> None:
    note = kept_answer(library_client)
    assert note["source_id"] is None
    library_client.patch(f"{BASE}/{note['note_id']}", json={"title": "開館/時間"})
    first = source_of(library_client, note["note_id"])
    assert first["name"] == "開館_時間.md"
    text = library_client.get(f"/api/notebooks/default/sources/{first['source_id']}/text").json()["text"]
    assert text.strip() == "# 開館/時間\n\n開館は九時です。"
    library_client.patch(f"{BASE}/{note['note_id']}", json={"text": "開館は八時です。`配列[1]`"})
    second = source_of(library_client, note["note_id"])
    assert second["source_id"] == first["source_id"]
    text = library_client.get(f"/api/notebooks/default/sources/{first['source_id']}/text").json()["text"]
    assert "開館は八時です。`配列[1]`" in text
    assert len(library_client.get("/api/notebooks/default/sources").json()["sources"]) == 2


def test_a_blank_note_can_be_exported_and_its_notebook_is_its_own(client: TestClient) -> None:
    note = add(client, text="")
    assert client.get(f"{BASE}/export").text == "# メモ\n"
    other = client.post("/api/notebooks", json={"name": "別"}).json()["id"]
    assert client.get(f"/api/notebooks/{other}/notes/{note['note_id']}").status_code == 404
