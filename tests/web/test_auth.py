"""The token: where it is read, who may pass, how wrong ones are slowed down (C125)."""

import asyncio
import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from fumikura.errors import SettingsError
from fumikura.web.auth import COOKIE, SESSION_S, Access, read_token
from fumikura.web.errors import TokenWanted, TooManyRequests
from fumikura.web.service import Service

TOKEN = "a-token-for-tests-only-0123"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


class Clock:
    """A clock that a test moves, and a sleep that moves it."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def access(clock: Clock) -> Access:
    return Access(TOKEN, clock, clock.sleep)


def test_the_environment_comes_before_the_file(tmp_path: Path) -> None:
    assert read_token({}, tmp_path) is None
    file = tmp_path / "server.token"
    file.write_text("from-the-file-0123456789\n")
    file.chmod(0o600)
    assert read_token({}, tmp_path) == "from-the-file-0123456789"
    assert read_token({"FUMIKURA_SERVER_TOKEN": TOKEN}, tmp_path) == TOKEN


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "server.token"
    file.write_text(TOKEN)
    file.chmod(mode)
    with pytest.raises(SettingsError, match="chmod 600") as refused:
        read_token({}, tmp_path)
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize(
    "token", ["short", "fifteen-letters", "あいうえおかきくけこさしすせそたち", "with\ttab-in-the-middle"]
)
def test_weak_tokens_are_refused(tmp_path: Path, token: str) -> None:
    with pytest.raises(SettingsError, match="16") as refused:
        read_token({"FUMIKURA_SERVER_TOKEN": token}, tmp_path)
    assert token not in str(refused.value)


def test_an_empty_file_is_no_token(tmp_path: Path) -> None:
    file = tmp_path / "server.token"
    file.write_bytes(b"")
    file.chmod(0o600)
    with pytest.raises(SettingsError):
        read_token({}, tmp_path)
    file.write_bytes(b"\xff\xfe\xff" * 20)
    with pytest.raises(SettingsError, match="cannot be read"):
        read_token({}, tmp_path)


def test_every_route_asks_for_the_token(open_client, service: Service) -> None:
    """C125: every route that exists, not a list kept by hand."""
    client = open_client(service, TOKEN)
    described = client.get("/api/openapi.json", headers=BEARER).json()["paths"]
    asked = 0
    for path, methods in described.items():
        for method in methods:
            if path in ("/api/login", "/api/logout"):
                continue
            reply = client.request(method.upper(), re.sub(r"\{[^}]+\}", "1", path))
            assert reply.status_code == 401, (method, path)
            assert reply.json()["error"]["code"] == "token_wanted"
            asked += 1
    assert asked > 8
    for path in (
        "/index.html",
        "/js/app.js",
        "/api/openapi.json",
        "/css/sources.css",
        "/nothing",
    ):
        assert client.get(path).status_code == 401, path


def test_who_opens_the_page_is_led_to_the_login(open_client, service: Service) -> None:
    client = open_client(service, TOKEN)
    reply = client.get("/", follow_redirects=False)
    assert (reply.status_code, reply.headers["location"]) == (303, "/login")
    assert client.get("/", headers={"Authorization": "Bearer wrong-wrong-wrong-wrong"}).status_code == 401


def test_the_login_page_and_what_it_loads_are_open(open_client, service: Service) -> None:
    client = open_client(service, TOKEN)
    page = client.get("/login")
    assert page.status_code == 200
    needed = re.findall(r'(?:href|src)="/?([^":]+\.(?:css|js|svg))"', page.text)
    assert needed
    for name in needed:
        assert client.get(f"/{name}").status_code == 200, name


def test_the_bearer_passes(open_client, service: Service) -> None:
    client = open_client(service, TOKEN)
    assert client.get("/api/notebooks", headers=BEARER).status_code == 200
    assert client.get("/api/notebooks", headers={"Authorization": f"bearer  {TOKEN} "}).status_code == 200
    assert client.get("/api/notebooks", headers={"Authorization": f"Basic {TOKEN}"}).status_code == 401
    assert client.get("/api/health", headers={**BEARER, "Host": "notes.example"}).status_code == 200


def test_a_login_becomes_a_safe_cookie_until_the_logout(open_client, service: Service) -> None:
    client = open_client(service, TOKEN)
    reply = client.post("/api/login", json={"token": TOKEN})
    assert reply.status_code == 204
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/" in cookie
    assert TOKEN not in cookie
    assert client.get("/api/notebooks").status_code == 200
    assert (
        client.post("/api/notebooks", json={"name": "x"}, headers={"Origin": "http://evil.example"}).status_code == 403
    )
    assert client.post("/api/logout").status_code == 204
    assert client.get("/api/notebooks").status_code == 401


def test_a_cookie_ends_with_its_time_and_with_the_token(access: Access, clock: Clock) -> None:
    cookie = access.new_session()
    assert access.is_session(cookie)
    assert not Access("another-token-0123456789", clock).is_session(cookie)
    expiry, _, signature = cookie.partition(".")
    for forged in (
        "",
        ".",
        "x.y",
        f"{int(expiry) + 1}.{signature}",
        expiry,
        f"{expiry}.",
        "９" * 10 + f".{signature}",
        f"{'9' * 5000}.{signature}",
        f"{expiry}.é",
    ):
        assert not access.is_session(forged), forged
    clock.now += SESSION_S + 1
    assert not access.is_session(cookie)


def test_wrong_tokens_wait_longer_and_longer_and_right_ones_do_not(access: Access, clock: Clock) -> None:
    async def tries() -> None:
        for _ in range(6):
            with pytest.raises(TokenWanted):
                await access.check_token("wrong-token-0123456789")
            await access.check_token(TOKEN)

    asyncio.run(tries())
    assert clock.slept == [0.25, 0.5, 1.0, 2.0, 4.0, 4.0]


def test_after_ten_wrong_tokens_a_minute_is_wanted(access: Access, clock: Clock) -> None:
    async def wrong() -> None:
        await access.check_token("wrong-token-0123456789")

    async def tries() -> None:
        for _ in range(10):
            with pytest.raises(TokenWanted):
                await wrong()
        with pytest.raises(TooManyRequests) as refused:
            await wrong()
        assert 1 <= refused.value.retry_after_s <= 60
        await access.check_token(TOKEN)
        clock.now += 61
        with pytest.raises(TokenWanted):
            await wrong()

    asyncio.run(tries())
    assert clock.slept[-1] == 0.25


def test_without_a_token_nobody_is_asked(client: TestClient) -> None:
    reply = client.post("/api/login", json={"token": "anything"})
    assert reply.status_code == 204
    assert COOKIE not in reply.cookies
