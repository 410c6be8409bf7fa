"""The application as a whole: one shape for every refusal, both languages, the page's files, the description."""

import gzip
import logging

import pytest
from fastapi.testclient import TestClient

from fumikura.errors import FumikuraError, NotFound, StoreLocked
from fumikura.records import Notice
from fumikura.web.app import create_app
from fumikura.web.errors import INPUT, INTERNAL, METHOD, NO_SUCH_PATH, TooManyRequests, error_body, notice_body
from fumikura.web.hints import HINTS
from fumikura.web.language import preferred_language
from fumikura.web.service import Service

ADDRESS = "http://127.0.0.1:8000"
ENGLISH = {"Accept-Language": "en"}


def classes(root: type[FumikuraError]) -> list[type[FumikuraError]]:
    return [root, *(found for child in root.__subclasses__() for found in classes(child))]


def test_every_error_has_a_status_and_a_hint_of_its_own() -> None:
    found = classes(FumikuraError)
    assert len(found) > 25
    assert {kind.code for kind in found} | {INTERNAL, INPUT, METHOD, NO_SUCH_PATH} == set(HINTS)
    assert all(400 <= kind.status < 600 for kind in found)
    for hint in HINTS.values():
        assert hint.ja and hint.en and hint.en.isascii()


def test_an_error_is_told_in_the_language_of_the_request() -> None:
    error = NotFound("資料「庭.md」はありません。", "There is no source 'garden.md'")
    assert error_body(error, "ja")["error"]["message"] == "資料「庭.md」はありません。"
    assert error_body(error, "en")["error"] == {
        "code": "not_found",
        "message": "There is no source 'garden.md'",
        "hint": HINTS["not_found"].en,
    }
    assert notice_body(Notice("だめ", "no"), "en")["error"]["message"] == "no"


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "ja"),
        ("en", "en"),
        ("en-US,en;q=0.9,ja;q=0.8", "en"),
        ("ja-JP,ja;q=0.9,en;q=0.8", "ja"),
        ("fr-FR,en;q=0.3", "en"),
        ("fr,de;q=0.5", "ja"),
        ("en;q=0", "ja"),
        ("en;q=oops,ja;q=0.1", "ja"),
        ("en;q=0.1,ja;q=0.2", "ja"),
        ("*;q=0.5,,;", "ja"),
    ],
)
def test_the_language_is_the_one_preferred(header: str, language: str) -> None:
    assert preferred_language(header) == language


def test_unknown_paths_and_methods(client: TestClient) -> None:
    missing = client.get("/api/nothing", headers=ENGLISH)
    assert missing.status_code == 404
    assert missing.json()["error"]["message"] == "There is no /api/nothing"
    assert client.post("/api/nothing").json()["error"]["code"] == "no_such_path"
    wrong = client.put("/api/notebooks", headers=ENGLISH)
    assert wrong.status_code == 405
    assert "does not take PUT" in wrong.json()["error"]["message"]
    assert "POST" in wrong.headers["allow"] or "GET" in wrong.headers["allow"]
    page = client.get("/somewhere")
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert "このページはありません" in page.text


def test_invalid_input_names_the_field_and_repeats_no_value(client: TestClient) -> None:
    refused = client.post("/api/notebooks", json={"name": "ひみつ" * 100}, headers=ENGLISH)
    assert refused.status_code == 422
    assert "'name'" in refused.json()["error"]["message"]
    assert "ひみつ" not in refused.text
    unknown = client.post("/api/notebooks", json={"nam": "x"})
    assert unknown.status_code == 422
    assert (
        client.post("/api/notebooks", content=b"{not json", headers={"Content-Type": "application/json"}).status_code
        == 422
    )


def test_an_unforeseen_error_is_told_without_a_word_of_the_sources(
    open_client, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    app = create_app(service)

    @app.get("/api/broken/{name}")
    def broken(name: str) -> None:
        raise ValueError("日記の一節")

    with TestClient(app, base_url=ADDRESS) as client, caplog.at_level(logging.DEBUG):
        reply = client.get("/api/broken/秘密?q=合言葉", headers=ENGLISH)
    assert reply.status_code == 500
    assert reply.json()["error"]["code"] == "internal"
    assert reply.headers["x-content-type-options"] == "nosniff"
    ours = "\n".join(
        record.getMessage() for record in caplog.records if record.name.startswith(("fumikura", "uvicorn"))
    )
    assert "ValueError at" in ours
    assert "test_app.py" in ours
    assert not any(word in ours for word in ("日記", "秘密", "合言葉"))


def test_errors_raised_by_a_route_keep_their_status(service: Service) -> None:
    app = create_app(service)

    @app.get("/api/locked")
    def locked() -> None:
        raise StoreLocked("使用中です。", "in use")

    @app.get("/api/busy")
    def busy() -> None:
        raise TooManyRequests("混んでいます。", "busy", 7)

    with TestClient(app, base_url=ADDRESS) as client:
        assert client.get("/api/locked").status_code == 503
        refused = client.get("/api/busy")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "7")


def test_static_files_are_compressed_and_asked_for_once(client: TestClient) -> None:
    whole = client.get("/", headers={"Accept-Encoding": "identity"})
    assert whole.status_code == 200
    assert whole.headers["content-type"] == "text/html; charset=utf-8"
    assert whole.headers["cache-control"] == "no-cache"
    packed = client.get("/vendor/markdown-it/markdown-it.js")
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["content-type"].startswith("text/javascript")
    assert int(packed.headers["content-length"]) < len(packed.content) / 2
    assert len(gzip.compress(packed.content)) < len(packed.content) / 2
    again = client.get("/vendor/markdown-it/markdown-it.js", headers={"If-None-Match": packed.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.head("/").status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/js/../../app.py", "/js/%2e%2e/%2e%2e/app.py", "/js/..%2f..%2fapp.py", "/css/.hidden.css", "/js/", "/js//app.js"],
)
def test_only_static_files_are_given_away(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_the_description_covers_every_route(client: TestClient) -> None:
    described = client.get("/api/openapi.json").json()
    assert described["paths"]["/api/notebooks/{notebook}"]["delete"]["description"]
    for path, methods in described["paths"].items():
        for method, entry in methods.items():
            assert entry.get("tags"), (method, path)
            assert entry.get("description"), (method, path)
    assert client.get("/docs").status_code == 404
    assert client.get("/api/docs").status_code == 404


def test_json_is_compressed(client: TestClient) -> None:
    assert client.get("/api/openapi.json").headers["content-encoding"] == "gzip"
