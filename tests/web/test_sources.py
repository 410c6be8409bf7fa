"""Sources over HTTP: added, listed, read, downloaded, changed, removed; with the real store, worker and embedder."""

import http.server
import json
import threading
import time
from urllib.parse import unquote

import httpx2
import pytest
from fastapi.testclient import TestClient

from fumikura.records import SourceFile

BASE = "/api/notebooks/default"
PARK = "# ひかり公園\n\n開園は九時です。閉園は十七時です。\n\n## 料金\n\n大人は三百円、子どもは無料です。\n"


def send(client: TestClient, *files: tuple[str, bytes | str], **headers: str):
    """Post files as a client that cleans no names: the multipart body is made here."""
    parts = []
    for name, content in files:
        head = f'--xx\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
        parts.append(head.encode() + (content.encode() if isinstance(content, str) else content) + b"\r\n")
    kind = {"Content-Type": "multipart/form-data; boundary=xx"}
    return client.post(f"{BASE}/sources", content=b"".join(parts) + b"--xx--\r\n", headers=kind | headers)


def settle(client: TestClient) -> dict:
    """Wait until all files are read; return what /progress says then."""
    until = time.monotonic() + 30
    while True:
        progress = client.get(f"{BASE}/progress").json()
        if all(job["state"] not in ("queued", "running") for job in progress["jobs"]):
            return progress
        assert time.monotonic() < until
        time.sleep(0.02)


def listed(client: TestClient) -> list[dict]:
    return client.get(f"{BASE}/sources").json()["sources"]


def add(client: TestClient, name: str = "公園.md", text: str | bytes = PARK) -> dict:
    assert send(client, (name, text)).status_code == 202
    settle(client)
    return next(source for source in listed(client) if source["name"] == name)


def test_files_become_sources_and_every_stage_is_told(client):
    reply = send(client, ("公園.md", PARK), ("空.md", ""), ("写真.png", b"\x89PNG\r\n\x1a\n" + bytes(300)))
    assert reply.status_code == 202
    park, empty, image = reply.json()["jobs"]
    assert (park["kind"], park["name"], park["state"], park["step"]) == ("add", "公園.md", "queued", "wait")
    assert empty["state"] == "failed" and "空.md" in empty["error"]["message"] and empty["error"]["hint"]
    progress = settle(client)
    by_name = {job["name"]: job for job in progress["jobs"]}
    assert by_name["公園.md"]["state"] == "done" and by_name["公園.md"]["source_id"]
    assert by_name["写真.png"]["state"] == "failed" and "写真.png" in by_name["写真.png"]["error"]["message"]
    assert progress["notices"] == []
    (source,) = listed(client)
    assert (source["name"], source["title"], source["kind"]) == ("公園.md", "ひかり公園", "markdown")
    assert (source["size_bytes"], source["encoding"], source["included"]) == (len(PARK.encode()), "utf-8", True)
    until = time.monotonic() + 20
    while listed(client)[0]["status"] != "ready":
        assert time.monotonic() < until
    assert listed(client)[0]["vector_count"] == source["chunk_count"] > 0


def test_the_listing_number_changes_with_the_list_only(client):
    add(client)
    while client.get(f"{BASE}/progress").json()["embedding"]:
        time.sleep(0.02)
    first = client.get(f"{BASE}/sources").json()
    assert client.get(f"{BASE}/progress").json()["listing"] == first["listing"]
    client.patch(f"{BASE}/sources/{first['sources'][0]['source_id']}", json={"pinned": True})
    assert client.get(f"{BASE}/progress").json()["listing"] != first["listing"]


def test_the_same_name_replaces_and_the_same_text_changes_nothing(client):
    first = add(client)
    same = add(client)
    changed = add(client, text="# ひかり公園\n\n開園は八時です。")
    assert first["source_id"] == same["source_id"] == changed["source_id"]
    assert first["updated_at"] == same["updated_at"]
    text = client.get(f"{BASE}/sources/{first['source_id']}/text").json()
    assert "八時" in text["text"] and "九時" not in text["text"]


def test_messages_are_in_the_language_of_the_request(client):
    reply = send(client, ("empty.md", ""), **{"Accept-Language": "en"})
    assert "empty.md is empty" in reply.json()["jobs"][0]["error"]["message"]
    wrong = client.get(f"{BASE}/sources/nothing", headers={"Accept-Language": "en"})
    assert wrong.status_code == 404 and "no source 'nothing'" in wrong.json()["error"]["message"]


def test_a_file_over_the_limit_fails_by_name_and_the_others_are_taken(open_client, open_service):
    client = open_client(open_service(FUMIKURA__LIMITS__SOURCE_BYTES="100"))
    large, small = send(client, ("大.md", "大" * 100), ("小.md", "小さい")).json()["jobs"]
    assert large["state"] == "failed" and "大.md" in large["error"]["message"] and "100" in large["error"]["message"]
    assert small["state"] == "queued"


def test_a_request_without_a_file(client):
    assert client.post(f"{BASE}/sources", data={"files": "text"}).status_code == 422
    assert client.post(f"{BASE}/sources", json={}).status_code == 422


def test_c023_nasty_names_write_nothing_outside(client, service, cases, tmp_path):
    body = (cases / "C023/body.txt").read_bytes()
    names = json.loads((cases / "C023/names.json").read_text())["names"]
    raw = [name.replace("\n", "%0A").replace("\\", "\\\\") for name in names if "\0" not in name]
    for name in raw:
        assert send(client, (name, body)).status_code == 202
    settle(client)
    assert {path.name for path in tmp_path.iterdir()} == {"data"}
    sources = listed(client)
    assert len(sources) >= 8 and all(".." not in source["name"].split("/") for source in sources)
    for name in ("..%2foutside.txt", "%2e%2e%2fdata", "%2fetc%2fpasswd", "a%2f..%2f.."):
        for path in ("", "/text", "/original"):
            assert client.get(f"{BASE}/sources/{name}{path}").status_code in (404, 405)
        assert client.delete(f"{BASE}/sources/{name}").status_code in (404, 405)
    for source in sources:
        kept = client.get(f"{BASE}/sources/{source['source_id']}/original")
        assert kept.status_code == 200 and kept.content == body


def test_c024_a_name_over_255_bytes_is_shown_whole(client, cases):
    name = json.loads((cases / "C024/names.json").read_text())["name"]
    source = add(client, name, (cases / "C024/body.md").read_bytes())
    assert source["name"] == name
    kept = client.get(f"{BASE}/sources/{source['source_id']}/original")
    assert kept.content == (cases / "C024/body.md").read_bytes()


def test_c025_japanese_names_download_under_their_own_name(client, cases):
    for name in json.loads((cases / "C025/names.json").read_text()):
        shown = name.replace("\r\n", "")
        sent = name.replace('"', "%22").replace("\r\n", "%0D%0A")
        send(client, (sent, "本文です。"))
        settle(client)
        source = next(one for one in listed(client) if one["name"] == shown)
        kept = client.get(f"{BASE}/sources/{source['source_id']}/original")
        assert kept.status_code == 200 and "x-injected" not in kept.headers
        kind, _, encoded = kept.headers["content-disposition"].partition("; filename*=UTF-8''")
        assert kind == "attachment" and bytes(encoded, "ascii").decode().count("%")
        assert unquote(encoded) == shown


def test_c062_markup_is_never_served_as_a_page(client, cases):
    for name in json.loads((cases / "C062/names.json").read_text()):
        assert send(client, (name.replace('"', "%22"), (cases / "C062/xss.md").read_bytes())).status_code == 202
    settle(client)
    send(client, ("page.html", "<script>document.title='XSS'</script><p>会場は講堂。"))
    settle(client)
    assert len(listed(client)) == 3
    for source in listed(client):
        kept = client.get(f"{BASE}/sources/{source['source_id']}/original")
        assert kept.headers["content-type"] == "application/octet-stream"
        assert kept.headers["x-content-type-options"] == "nosniff"
        text = client.get(f"{BASE}/sources/{source['source_id']}/text")
        assert text.headers["content-type"] == "application/json" and "講堂" in text.json()["text"]


def test_a_source_shows_its_outline_and_its_text_in_parts(client):
    source = add(client)
    detail = client.get(f"{BASE}/sources/{source['source_id']}").json()
    assert [(line["heading"], line["level"]) for line in detail["outline"]] == [("ひかり公園", 1), ("料金", 2)]
    assert detail["length"] == len(PARK) and detail["has_original"] is True
    start = detail["outline"][1]["start"]
    part = client.get(f"{BASE}/sources/{source['source_id']}/text?start={start}&end={start + 5}").json()
    assert (part["text"], part["start"], part["end"], part["length"]) == ("## 料金", start, start + 5, len(PARK))
    beyond = client.get(f"{BASE}/sources/{source['source_id']}/text?start=9999&end=5").json()
    assert (beyond["text"], beyond["start"], beyond["end"]) == ("", len(PARK), len(PARK))
    assert client.get(f"{BASE}/sources/{source['source_id']}/text?start=-1").status_code == 422


def test_a_long_text_comes_in_parts_and_its_continuations_have_no_heading(client):
    source = add(client, "長い.md", "# 長い話\n\n" + "港の倉庫に木箱がある。\n\n" * 20_000)
    whole = client.get(f"{BASE}/sources/{source['source_id']}/text").json()
    assert whole["end"] == 200_000 < whole["length"]
    detail = client.get(f"{BASE}/sources/{source['source_id']}").json()
    assert [line["heading"] for line in detail["outline"]] == ["長い話"]


def test_a_source_is_renamed_ticked_out_and_pinned(client):
    source = add(client)
    path = f"{BASE}/sources/{source['source_id']}"
    changed = client.patch(path, json={"name": "公園の案内", "included": False, "pinned": True}).json()
    assert (changed["name"], changed["included"], changed["pinned"]) == ("公園の案内", False, True)
    assert add(client, "別.md", "別の話。")["name"] == "別.md"
    taken = client.patch(path, json={"name": "別.md"})
    assert taken.status_code == 409 and "別.md" in taken.json()["error"]["message"]
    assert client.patch(path, json={"name": " "}).status_code == 422
    assert client.patch(path, json={"color": "red"}).status_code == 422
    assert client.patch(f"{BASE}/sources", json={"included": True}).json()["listing"] > 0
    assert all(one["included"] for one in listed(client))
    client.patch(f"{BASE}/sources", json={"included": False})
    assert not any(one["included"] for one in listed(client))


def test_a_removed_source_comes_back_by_undo(client, service):
    source = add(client)
    path = f"{BASE}/sources/{source['source_id']}"
    removed = client.delete(path, params={"undo": True}).json()
    assert removed == {"source_id": source["source_id"], "name": "公園.md", "undo_s": 20, "notices": []}
    assert listed(client) == [] and client.get(path).status_code == 404
    assert client.post(f"{path}/restore").json()["name"] == "公園.md"
    assert [one["name"] for one in listed(client)] == ["公園.md"]


def test_a_removal_for_good_says_where_quotes_stay(client, service):
    source = add(client)
    citation = {"n": 1, "source_id": source["source_id"], "quote": "開園は九時です。", "start": 11, "end": 19}
    service.library.store.add_note("default", "公園", "九時 [1]", [citation])
    path = f"{BASE}/sources/{source['source_id']}"
    removed = client.delete(path).json()
    assert removed["undo_s"] == 0
    assert "メモ 1 件" in removed["notices"][0]
    assert client.post(f"{path}/restore").status_code == 404
    assert client.delete(path).status_code == 404


def test_c086_c122_c123_an_old_quote_is_found_where_it_stands_now(client):
    source = add(client)
    start = PARK.index("閉園は")
    asked = {"source_id": source["source_id"], "start": start, "end": start + 9, "quote": "閉園は十七時です。"}

    def passage() -> dict:
        found = client.post(f"{BASE}/passage", json=asked).json()
        return {key: found[key] for key in ("state", "start", "end")} | {"name": found["source"]["name"]}

    assert passage() == {"state": "same", "start": start, "end": start + 9, "name": "公園.md"}
    add(client, text="前書き。\n\n" + PARK + "閉園は十七時です。")
    assert passage() == {"state": "moved", "start": start + 6, "end": start + 15, "name": "公園.md"}
    add(client, text="短い。")
    assert passage() == {"state": "changed", "start": 3, "end": 3, "name": "公園.md"}
    client.delete(f"{BASE}/sources/{source['source_id']}")
    gone = client.post(f"{BASE}/passage", json=asked)
    assert gone.status_code == 404 and gone.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("case", ["C016", "C008", "C009"])
def test_c123_offsets_count_the_characters_of_the_text_shown(client, cases, case):
    for path in sorted((cases / case).iterdir()):
        if path.suffix in (".md", ".txt"):
            send(client, (path.name, path.read_bytes()))
    settle(client)
    for source in listed(client):
        text = client.get(f"{BASE}/sources/{source['source_id']}/text").json()["text"]
        middle = len(text) // 2
        asked = {"source_id": source["source_id"], "start": middle, "end": middle + 4, "quote": text[middle:][:4]}
        assert client.post(f"{BASE}/passage", json=asked).json()["state"] == "same"


def test_a_pasted_text_and_an_empty_one(client):
    reply = client.post(f"{BASE}/sources/text", json={"text": "# 棚\n\n鍵は青い箱。"})
    assert reply.status_code == 202
    settle(client)
    assert [source["name"] for source in listed(client)] == ["棚.md"]
    assert client.post(f"{BASE}/sources/text", json={"text": " "}).status_code == 422
    assert client.post(f"{BASE}/sources/text", json={"text": "a", "name": ".."}).status_code == 422


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = "<title>島の宿</title><h1>島の宿</h1><p>朝食は七時。</p>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_a_web_page_becomes_a_source_where_inner_addresses_are_allowed(open_client, open_service):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        client = open_client(open_service(FUMIKURA__LIMITS__PRIVATE_URLS="true"))
        url = f"http://127.0.0.1:{site.server_port}/yado"
        assert client.post(f"{BASE}/sources/url", json={"url": url}).status_code == 202
        settle(client)
        site.shutdown()
    (source,) = listed(client)
    assert (source["name"], source["kind"], source["title"]) == ("島の宿.html", "html", "島の宿")
    assert client.get(f"{BASE}/sources/{source['source_id']}/text").json()["text"] == "# 島の宿\n\n朝食は七時。\n"


def test_an_inner_address_is_refused_with_a_reason(client):
    refused = client.post(f"{BASE}/sources/url", json={"url": "http://127.0.0.1:1/"})
    assert refused.status_code == 422 and "127.0.0.1" in refused.json()["error"]["message"]


def test_another_notebooks_source_is_not_found(client, service):
    source = add(client)
    client.post("/api/notebooks", json={"name": "別"})
    for path in ("", "/text", "/original"):
        assert client.get(f"/api/notebooks/別/sources/{source['source_id']}{path}").status_code == 404
    assert client.delete(f"/api/notebooks/別/sources/{source['source_id']}").status_code == 404


@pytest.mark.parametrize("undo", [True, False])
def test_a_removal_tells_which_quotes_stay(client, service, undo):
    source_id = add(client)["source_id"]
    service.library.store.add_note("default", "公園", "九時", [{"n": 1, "source_id": source_id, "quote": "九時"}])
    reply = client.delete(f"{BASE}/sources/{source_id}", params={"undo": undo}).json()
    assert len(reply["notices"]) == 1 and "メモ 1 件" in reply["notices"][0]


def test_a_source_whose_file_was_not_kept(client, service):
    source = add(client)
    with service.library.store._database.write() as connection:  # as after an update from a version without originals
        connection.execute("DELETE FROM originals")
    assert client.get(f"{BASE}/sources/{source['source_id']}").json()["has_original"] is False
    missing = client.get(f"{BASE}/sources/{source['source_id']}/original")
    assert missing.status_code == 404 and "元のファイル" in missing.json()["error"]["message"]


def test_two_thousand_sources_are_listed_at_once(service, open_client):
    name = "覚え.md"
    service.library.add_bytes("default", SourceFile(f"upload:{name}", name, "# 覚え\n".encode()))
    with service.library.store._database.write() as connection:
        columns = [row["name"] for row in connection.execute("PRAGMA table_info(sources)") if row["name"] != "id"]
        own = {"public_id": "hex(randomblob(8))", "origin": "origin || value", "name": "value || name"}
        connection.execute(
            f"INSERT INTO sources ({', '.join(columns)}) SELECT {', '.join(own.get(c, c) for c in columns)}"
            " FROM (SELECT sources.*, numbers.value FROM sources, json_each(?) AS numbers)",
            (json.dumps(list(range(1_999))),),
        )
    client = open_client(service)
    client.get(f"{BASE}/sources")
    begun = time.perf_counter()
    assert len(listed(client)) == 2_000
    took = time.perf_counter() - begun
    begun = time.perf_counter()
    client.get(f"{BASE}/progress")
    assert time.perf_counter() - begun < 0.3
    assert took < 1.0, took  # 0.1 s on a machine of its own


def test_c085_the_server_answers_while_it_reads_a_long_text(serve, service):
    text = "".join(
        f"## 棚{number}\n\n棚{number}の帳簿は{number % 97}冊あり、鍵は青い箱にある。\n\n" for number in range(5_000)
    )
    waits: list[float] = []
    with httpx2.Client(base_url=serve(service), timeout=30) as client:
        files = {"files": ("長い.md", text.encode())}
        (job,) = client.post(f"{BASE}/sources", files=files).json()["jobs"]
        steps = set()
        while job["state"] in ("queued", "running"):
            begun = time.perf_counter()
            assert client.get("/api/health").status_code == 200
            progress = client.get(f"{BASE}/progress").json()
            client.get(f"{BASE}/sources")
            waits.append(time.perf_counter() - begun)
            (job,) = progress["jobs"]
            steps.add(job["step"])
            time.sleep(0.1)
    assert job["state"] == "done" and steps >= {"read", "split"}
    assert max(waits) < 2.0, waits  # three requests; 0.12 s at most with four other programs running
