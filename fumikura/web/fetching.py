"""A web page as a source: fetched once, from public addresses only, within 20 seconds.

The host's name is looked up once, every address it has is checked, and the connection goes to a checked address: what
the name means a moment later does not matter. Each redirect is checked the same way.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from email.message import Message
from pathlib import PurePosixPath
from urllib.parse import unquote

import httpx2
from starlette.concurrency import run_in_threadpool

from fumikura.errors import SourceError, SourceTooLarge, UnreadableSource, UnsupportedSource
from fumikura.loaders import decode_page, page_title
from fumikura.records import SourceFile
from fumikura.web.uploads import clean_path

WITHIN_S = 20.0
REDIRECT_COUNT = 3
ADDRESS_COUNT = 3  # tried for one name
LONGEST_URL = 2_000
LONGEST_TITLE = 100
TITLE_WITHIN = 65_536  # bytes
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/plain": ".txt",
    "text/markdown": ".md",
}
_HEADERS = {"User-Agent": "Fumikura", "Accept": ", ".join(_SUFFIXES), "Accept-Encoding": "gzip, deflate"}
_UTF8_MARK = b"\xef\xbb\xbf"
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# What Python calls global, but wraps or stands for an inner address: site-local, v4-compatible, SIIT, local NAT64.
_SPECIAL = [
    ipaddress.ip_network(network)
    for network in ("fec0::/10", "::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "192.0.0.0/24")
]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]


async def look_up(host: str, port: int) -> list[str]:
    """Return the host's addresses as the system knows them. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


async def fetch_page(url: str, limit: int, *, private: bool = False, resolve: Resolve = look_up) -> SourceFile:
    """Return the page as a file named after its title, last path part or host; `private` allows inner addresses.

    Raises SourceError: the address or the reply is not taken, or nothing came.
    """
    try:
        async with asyncio.timeout(WITHIN_S):
            return await _follow(_parsed(url), url.strip(), limit, private, resolve)
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise UnreadableSource(
            ja=f"{url} が {WITHIN_S:g} 秒以内に届きませんでした。あとでもう一度試してください。",
            en=f"{url} did not arrive within {WITHIN_S:g} s: try again later",
        ) from error
    except (OSError, httpx2.HTTPError) as error:
        raise UnreadableSource(
            ja=f"{url} を読めませんでした。アドレスとネットワークを確かめてください。",
            en=f"{url} could not be read: check the address and the network",
        ) from error


def is_public(address: str) -> bool:
    """Whether the address is one of the open internet, also where it wraps another one (v4 in v6)."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if any(parsed in network for network in _SPECIAL if network.version == parsed.version):
        return False
    return all(part.is_global and not part.is_multicast for part in (parsed, *_wrapped(parsed)))


def _wrapped(address: Address) -> list[Address]:
    if isinstance(address, ipaddress.IPv4Address):
        return []
    teredo = address.teredo or ()
    translated = [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)] if address in _NAT64 else []
    return [part for part in (address.ipv4_mapped, address.sixtofour, *teredo, *translated) if part is not None]


async def _follow(url: httpx2.URL, asked: str, limit: int, private: bool, resolve: Resolve) -> SourceFile:
    async with httpx2.AsyncClient(timeout=WITHIN_S, trust_env=False, headers=_HEADERS) as client:
        for _ in range(REDIRECT_COUNT + 1):
            reply = await _send(client, url, private, resolve)
            try:
                if not reply.has_redirect_location:
                    return await _file(reply, url, asked, limit)
                url = _parsed(str(url.join(reply.headers["location"])))
            finally:
                await reply.aclose()
    raise SourceError(
        ja=f"{asked} は {REDIRECT_COUNT} 回を超えて転送されました。行き先のアドレスを追加してください。",
        en=f"{asked} was redirected more than {REDIRECT_COUNT} times: add the address where it ends",
    )


def _parsed(url: str) -> httpx2.URL:
    text = url.strip()
    try:
        parsed = httpx2.URL(text)
    except (httpx2.InvalidURL, UnicodeError) as error:
        raise _not_taken(text) from error
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.userinfo or len(text) > LONGEST_URL:
        raise _not_taken(text)
    return parsed.copy_with(fragment=None)


async def _send(client: httpx2.AsyncClient, url: httpx2.URL, private: bool, resolve: Resolve) -> httpx2.Response:
    """Ask the first of the checked addresses that is there."""
    addresses = await _checked(url, private, resolve)
    for address in addresses[:-1]:
        try:
            return await client.send(_pinned(client, url, address), stream=True)
        except httpx2.ConnectError:
            continue  # say, an IPv6 address from a machine that has only IPv4
    return await client.send(_pinned(client, url, addresses[-1]), stream=True)


async def _checked(url: httpx2.URL, private: bool, resolve: Resolve) -> list[str]:
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        addresses = await resolve(url.raw_host.decode("ascii"), port)
    except UnicodeError as error:  # a label of more than 63 characters
        raise _not_taken(str(url)) from error
    if not addresses or not (private or all(map(is_public, addresses))):
        raise _inside(url)
    return addresses[:ADDRESS_COUNT]


def _pinned(client: httpx2.AsyncClient, url: httpx2.URL, address: str) -> httpx2.Request:
    """Return the request to this address, with the name where the server and its certificate want it."""
    return client.build_request(
        "GET",
        url.copy_with(host=address),
        headers={"Host": url.netloc.decode("ascii")},
        extensions={"sni_hostname": url.raw_host.decode("ascii")},
    )


async def _file(reply: httpx2.Response, url: httpx2.URL, asked: str, limit: int) -> SourceFile:
    if reply.status_code != 200:
        raise SourceError(
            ja=f"{asked} は読めません（HTTP {reply.status_code}）。アドレスを確かめてください。",
            en=f"{asked} cannot be read (HTTP {reply.status_code}): check the address",
        )
    declared = Message()
    declared["content-type"] = reply.headers.get("content-type", "")
    kind = declared.get_content_type() if declared["content-type"] else "?"
    suffix = _SUFFIXES.get(kind)
    if suffix is None:
        raise UnsupportedSource(
            ja=f"{asked} は {kind} なので読めません。読めるもの: ウェブページ、テキスト、Markdown。",
            en=f"{asked} is {kind}, which is not read. Readable: web pages, text, Markdown",
        )
    content = await _limited(reply, asked, limit)
    charset = str(declared.get_param("charset") or "")
    # In a thread: decoding 50 MB takes seconds, in which every other reply would wait.
    return await run_in_threadpool(_named, content, charset, url, asked, suffix)


def _named(content: bytes, charset: str, url: httpx2.URL, asked: str, suffix: str) -> SourceFile:
    is_told = charset and charset.lower() not in ("utf-8", "utf8")
    page = decode_page(content if is_told else _beginning(content), charset).text
    if is_told:
        content = _UTF8_MARK + page.encode()  # what only the reply said: the bytes alone would be read by guess
    title = page_title(page[:TITLE_WITHIN]) if suffix == ".html" else ""
    return SourceFile(asked, _name(title, url, suffix), content)


def _beginning(content: bytes) -> bytes:
    """Return enough for the title, ended behind a tag: a character cut in two would look like another encoding."""
    return content if len(content) <= TITLE_WITHIN else content[: content.rfind(b">", 0, TITLE_WITHIN) + 1]


async def _limited(reply: httpx2.Response, asked: str, limit: int) -> bytes:
    content = bytearray()
    async for piece in reply.aiter_bytes():
        content += piece
        if len(content) > limit:
            raise SourceTooLarge(
                ja=f"{asked} は上限 {limit:,} バイト（limits.source_bytes）を超えています。",
                en=f"{asked} is over the limit of {limit:,} bytes (limits.source_bytes)",
            )
    return bytes(content)


def _name(title: str, url: httpx2.URL, suffix: str) -> str:
    last = PurePosixPath(unquote(url.path)).name
    stem = PurePosixPath(last).stem if PurePosixPath(last).suffix.lower() in (suffix, ".htm") else last
    shown = (title or stem or url.host)[:LONGEST_TITLE]
    return clean_path(shown.replace("/", "／").replace("\\", "＼") + suffix)


def _not_taken(url: str) -> SourceError:
    return SourceError(
        ja=f"「{url[:100]}」は追加できません。http:// か https:// で始まるウェブページのアドレスを入れてください。",
        en=f"'{url[:100]}' cannot be added: give the address of a web page that begins with http:// or https://",
    )


def _inside(url: httpx2.URL) -> SourceError:
    """Return the same words for every such address: they do not tell what listens there."""
    return SourceError(
        ja=f"{url.host} はこの機械か内部のネットワークを指すので開きません（許すには limits.private_urls）。",
        en=f"{url.host} leads to this machine or an internal network, so it is not opened (limits.private_urls allows)",
    )
