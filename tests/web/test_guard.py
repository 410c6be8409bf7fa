"""Who may ask, and how much may be sent (C119)."""

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from starlette.datastructures import Headers
from starlette.websockets import WebSocketDisconnect

from fumikura.web.errors import Forbidden
from fumikura.web.guard import check_host, check_origin
from fumikura.web.service import Service

ROUTES = [
    ("GET", "/api/sources"),
    ("POST", "/api/notebooks/default/sources"),
    ("POST", "/api/ask"),
    ("DELETE", "/api/notebooks/default"),
    ("POST", "/api/login"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_c119_other_pages_get_nothing(
    client: TestClient, service: Service, cases: Path, method: str, path: str
) -> None:
    service.library.store.add_notebook("default")
    for case in json.loads((cases / "C119" / "requests.json").read_text(encoding="utf-8")):
        if case["method"] == "POST" and method == "GET":
            continue  # what is only read is kept from other pages by the browser: no CORS header, see below
        sent = "GET" if case["method"] == "GET" else method
        used = case["method"] if case["method"] == "OPTIONS" else sent
        body = case.get("body", "").encode() or None
        reply = client.request(used, path, headers=case["headers"], content=body)
        assert reply.status_code == 403, case["what"]
        assert reply.json()["error"]["code"] == "forbidden"
        assert "access-control-allow-origin" not in reply.headers
    assert service.library.store.notebooks() == ["default"]


def test_a_foreign_page_cannot_read_an_answer(client: TestClient) -> None:
    reply = client.get("/api/notebooks", headers={"Origin": "http://evil.example"})
    assert "access-control-allow-origin" not in reply.headers
    assert reply.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9000"},
        {"origin": "http://localhost:8000"},
        {"origin": "http://127.0.0.1:8000.evil.example"},
        {"origin": "http://evil.example@127.0.0.1:8000"},
        {"origin": ""},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8000"},
    ],
)
def test_changes_from_elsewhere_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post("/api/notebooks", json={"name": "よそ"}, headers=headers).status_code == 403
    assert "よそ" not in client.get("/api/notebooks").text


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://127.0.0.1:8000"},
        {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    ],
)
def test_changes_from_the_page_and_from_programs_are_taken(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post("/api/notebooks", json={"name": "うち"}, headers=headers).status_code == 201


def test_a_proxy_that_ends_tls_is_no_other_page() -> None:
    check_origin(Headers({"origin": "https://notes.example", "host": "notes.example"}))
    check_origin(Headers({"origin": "https://notes.example", "host": "notes.example:443"}))
    with pytest.raises(Forbidden):
        check_origin(Headers({"origin": "https://notes.example:8443", "host": "notes.example"}))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8000", "LOCALHOST:1", "[::1]", "[::1]:8000"])
def test_this_machine_is_served(host: str) -> None:
    check_host(host, any_host=False)


@pytest.mark.parametrize(
    "host", ["", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", "[::2]:80"]
)
def test_other_names_need_a_token(host: str) -> None:
    with pytest.raises(Forbidden, match="FUMIKURA_SERVER_TOKEN"):
        check_host(host, any_host=False)
    check_host(host, any_host=True)


def test_a_body_over_the_limit_is_refused_by_its_length_and_by_count(open_client, open_service) -> None:
    limits = {"FUMIKURA__LIMITS__SOURCE_BYTES": "1000", "FUMIKURA__LIMITS__UPLOAD_BYTES": "5000"}
    client = open_client(open_service(**limits))
    said = client.post("/api/notebooks", content=b"x" * 1_100_000)
    assert said.status_code == 413
    assert "1,001,000" in said.json()["error"]["message"]

    def dribble():
        for _ in range(11):
            yield b" " * 100_000

    counted = client.post("/api/notebooks", content=dribble(), headers={"Content-Type": "application/json"})
    assert counted.status_code == 413
    upload = client.post("/api/notebooks/default/sources", files={"files": ("memo.md", b"x" * 6000)})
    assert upload.status_code == 413


@pytest.mark.parametrize("path", ["/", "/login", "/api/health", "/api/nothing", "/nothing", "/js/nothing.js"])
def test_documents_and_answers_carry_the_security_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = dict(rule.strip().split(" ", 1) for rule in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == policy["img-src"] == policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    if path.startswith("/api/"):
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/js/app.js", "/css/page.css", "/vendor/preact/preact.js"])
def test_parts_of_the_page_say_what_is_not_for_documents_only(client: TestClient, path: str) -> None:
    reply = client.get(path)
    assert reply.status_code == 200
    for headers in (reply.headers, client.get(path, headers={"If-None-Match": reply.headers["etag"]}).headers):
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "content-security-policy" not in headers


def test_there_are_no_web_sockets(client: TestClient) -> None:
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/api/health"):
        pass
