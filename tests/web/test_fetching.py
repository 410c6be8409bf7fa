"""Web pages as sources: from public addresses only, checked again at each turn; the pages come over a real server."""

import asyncio
import gzip
import http.server
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from fumikura.errors import SourceError, SourceTooLarge, UnreadableSource, UnsupportedSource
from fumikura.records import SourceFile
from fumikura.web import fetching
from fumikura.web.fetching import fetch_page, is_public

LIMIT = 10_000
Reply = tuple[int, dict[str, str], bytes]
Site = dict[str, Reply | Callable[[], Reply]]


class WebSite(http.server.ThreadingHTTPServer):
    """A site of this machine with scripted pages; `seen` are the requests as (path, Host)."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Page)
        self.pages: Site = {}
        self.seen: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Page(http.server.BaseHTTPRequestHandler):
    server: WebSite

    def do_GET(self) -> None:
        self.server.seen.append((self.path, self.headers["Host"]))
        found = self.server.pages.get(self.path, (404, {}, b""))
        status, headers, body = found() if callable(found) else found
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[WebSite]:
    with WebSite() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def page(text: str, kind: str = "text/html; charset=utf-8", **headers: str) -> Reply:
    return 200, {"Content-Type": kind} | headers, text.encode()


def fetched(url: str, *, private: bool = True, **options) -> SourceFile:
    return asyncio.run(fetch_page(url, LIMIT, private=private, **options))


def test_a_page_is_kept_under_its_title_and_address(site):
    site.pages["/a?b=1"] = page("<title>公園 / 案内</title><p>開園は九時。")
    file = fetched(f" {site.url}/a?b=1#top ")
    assert (file.name, file.origin) == ("公園 ／ 案内.html", f"{site.url}/a?b=1#top")
    assert "開園は九時" in file.content.decode()


@pytest.mark.parametrize(
    ("path", "kind", "name"),
    [
        ("/notes/%E6%97%A5%E8%A8%98.md", "text/markdown", "日記.md"),
        ("/list.txt", "text/plain", "list.txt"),
        ("/list", "text/plain", "list.txt"),
        ("/", "text/html", "127.0.0.1.html"),
        ("/x.htm", "application/xhtml+xml", "x.html"),
        ("/v1.2", "text/plain", "v1.2.txt"),
    ],
)
def test_without_a_title_the_address_names_it(site, path, kind, name):
    site.pages[path] = page("本文", kind)
    assert fetched(site.url + path).name == name


def test_the_charset_that_only_the_reply_names_is_kept(site):
    text = "倉庫のかぎ"
    site.pages["/"] = (200, {"Content-Type": "text/plain; charset=Shift_JIS"}, text.encode("cp932"))
    assert fetched(site.url).content.decode("utf-8-sig") == text


def test_redirects_are_followed_three_times(site):
    for place in range(1, 5):
        site.pages[f"/{place}"] = (302, {"Location": f"/{place - 1}"}, b"")
    site.pages["/0"] = page("着いた")
    assert fetched(f"{site.url}/3").origin == f"{site.url}/3"
    with pytest.raises(SourceError, match="more than 3 times"):
        fetched(f"{site.url}/4")


def test_the_connection_goes_to_the_address_that_was_checked_under_the_right_name(site):
    site.pages["/"] = page("本文")
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    fetched(f"http://xn--r8jz45g.example:{site.server_port}/", resolve=resolve)
    assert asked == ["xn--r8jz45g.example"]
    assert site.seen == [("/", f"xn--r8jz45g.example:{site.server_port}")]


def test_the_next_address_is_tried_where_the_first_does_not_answer(site):
    site.pages["/"] = page("本文")

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.255.255.254", "127.0.0.1"]

    with socket.socket() as taken:
        taken.bind(("127.255.255.254", 0))
        assert fetched(site.url, resolve=resolve).content.decode() == "本文"


def test_c118_addresses_that_lead_inside_are_refused_before_any_connection(cases):
    messages = set()
    for url in json.loads((cases / "C118/urls.json").read_text()):
        with pytest.raises(SourceError) as refused:
            fetched(url, private=False)
        messages.add(refused.value.ja.replace(url, ""))
        assert "http" in refused.value.en or "limits.private_urls" in refused.value.en
    assert messages


@pytest.mark.parametrize(
    "url",
    [
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[fe80::1]/",
        "http://[fc00::1]/",
        "http://100.64.0.1/",
        "http://224.0.0.1/",
        "http://localhost./",
        "http://user:pass@example.com/",
        "https:///etc/passwd",
        "http://",
        "javascript:alert(1)",
        "data:text/html,x",
        "//127.0.0.1/",
        "http://[",
        f"http://{'a' * 70}.example/",
        "http://example.com/" + "a" * 3_000,
        "",
    ],
)
def test_odd_forms_of_inner_addresses_are_refused(url):
    with pytest.raises(SourceError):
        fetched(url, private=False)


def test_the_words_do_not_tell_whether_something_listens(site):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = free.getsockname()[1]
    words = set()
    for port in (site.server_port, closed):
        with pytest.raises(SourceError) as refused:
            fetched(f"http://127.0.0.1:{port}/", private=False)
        words.add(refused.value.en)
    assert len(words) == 1 and site.seen == []


def test_one_inner_address_among_several_is_enough_to_refuse(site):
    async def resolve(host: str, port: int) -> list[str]:
        return ["93.184.215.14", "127.0.0.1"]

    with pytest.raises(SourceError, match=r"limits\.private_urls"):
        fetched(site.url, private=False, resolve=resolve)
    assert site.seen == []


def test_a_redirect_inside_is_refused(site, monkeypatch):
    """The first page counts as public, the one that it leads to does not."""
    site.pages["/"] = (302, {"Location": "http://127.0.0.2/secret"}, b"")
    monkeypatch.setattr(fetching, "is_public", lambda address: address == "127.0.0.1")
    with pytest.raises(SourceError, match=r"127\.0\.0\.2"):
        fetched(site.url, private=False)
    site.pages["/"] = (302, {"Location": "file:///etc/passwd"}, b"")
    with pytest.raises(SourceError, match="file"):
        fetched(site.url, private=False)


def test_public_addresses():
    assert is_public("93.184.215.14") and is_public("2606:2800:220:1::1") and is_public("64:ff9b::5db8:d70e")
    assert not is_public("2001:0:7f00:1::") and not is_public("ff02::1") and not is_public("fe80::1%eth0")
    inner = ("fec0::1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b:1::7f00:1", "64:ff9b::a9fe:a9fe", "192.0.0.8")
    assert not any(map(is_public, inner))


@pytest.mark.parametrize("kind", ["application/pdf", "image/png", "application/json", ""])
def test_other_kinds_are_refused_by_name(site, kind):
    site.pages["/"] = (200, {"Content-Type": kind} if kind else {}, b"x")
    with pytest.raises(UnsupportedSource, match=kind or "which is not read"):
        fetched(site.url)


def test_too_much_is_refused_also_when_it_is_packed(site):
    body = b"a" * (LIMIT + 1)
    site.pages["/"] = (200, {"Content-Type": "text/plain"}, body)
    site.pages["/gz"] = (200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, gzip.compress(body))
    for path in ("/", "/gz"):
        with pytest.raises(SourceTooLarge):
            fetched(site.url + path)


@pytest.mark.parametrize("status", [403, 404, 500, 204])
def test_a_page_that_the_server_refuses(site, status):
    site.pages["/"] = (status, {"Content-Type": "text/html"}, b"")
    with pytest.raises(SourceError, match=f"HTTP {status}"):
        fetched(site.url)


def test_a_server_that_never_ends_or_is_not_there(site, monkeypatch):
    monkeypatch.setattr(fetching, "WITHIN_S", 0.3)
    site.pages["/"] = lambda: (time.sleep(2), page(""))[1]
    begun = time.monotonic()
    with pytest.raises(UnreadableSource, match=r"within 0\.3 s"):
        fetched(site.url)
    assert time.monotonic() - begun < 1.5
    with pytest.raises(UnreadableSource, match="could not be read"):
        fetched("http://127.0.0.1:9/")
    with pytest.raises(UnreadableSource):
        fetched("http://no-such-host.invalid/")
