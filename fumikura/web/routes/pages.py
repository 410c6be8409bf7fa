"""The page: static files, read and compressed once for each of their versions."""

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

router = APIRouter(include_in_schema=False)

READING = ["GET", "HEAD"]
STATIC = Path(__file__).parents[1] / "static"
PAGES = {"/": "index.html", "/login": "login.html"}
# Style sheets that are sent as one: a browser spends about 5 ms on each request, however small.
JOINED = {
    "css/page.css": ("base", "layout", "sources", "chat", "notes"),
    "css/later.css": ("dialogs", "viewer", "receipt", "core", "settings"),  # what opens on a click: js/later.js
    "css/login_page.css": ("base", "login"),
}
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
}
SMALLEST_GZIP = 1_000  # bytes
# What a page or a module names: href="…" src="…", from "./x.js", import "./x.js", url("…").
NAMED = re.compile(r"""(?:\b(?:href|src)=|\bfrom\s*|\bimport\s*|\burl\()\s*["']?([\w./-]+\.(?:css|js|svg|png|ico))\b""")


@dataclass(frozen=True)
class StaticFile:
    """A file as it is sent; `packed` is its gzip form, None where that saves nothing."""

    content: bytes
    packed: bytes | None
    kind: str
    etag: str


@router.api_route("/", methods=READING)
@router.api_route("/login", methods=READING)
@router.api_route("/favicon.{suffix}", methods=READING)
@router.api_route("/css/{path:path}", methods=READING)
@router.api_route("/js/{path:path}", methods=READING)
@router.api_route("/vendor/{path:path}", methods=READING)
async def read_page(request: Request) -> Response:
    """Return the page or one of its files: from memory, so the thread pool would only cost time."""
    path = request.url.path
    file = find_file(PAGES.get(path, path.removeprefix("/")))
    if file is None:
        raise HTTPException(404)
    headers = {"ETag": file.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if file.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if file.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=file.kind)
    return Response(file.content, headers=headers, media_type=file.kind)


def is_open(path: str) -> bool:
    """Tell whether this path needs no token: the login page, what it loads, and logging in and out."""
    return path in ("/login", "/api/login", "/api/logout") or path.removeprefix("/") in _login_files(
        _changed(STATIC / "login.html")
    )


def find_file(name: str, folder: Path = STATIC) -> StaticFile | None:
    """Return the static file of this relative path, None where there is none to be shown."""
    parts = name.split("/")
    if any(part in ("", "..") or part.startswith(".") for part in parts) or Path(name).suffix not in KINDS:
        return None
    paths = _paths(name, folder)
    return _read(paths, tuple(map(_changed, paths))) if all(path.is_file() for path in paths) else None


def _paths(name: str, folder: Path) -> tuple[Path, ...]:
    """Return the files that this name stands for: one, or those that are joined."""
    return tuple(folder / f"css/{sheet}.css" for sheet in JOINED.get(name, ())) or (folder / name,)


def _changed(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=512)
def _read(paths: tuple[Path, ...], changed: tuple[tuple[int, int], ...]) -> StaticFile:
    """Read, join and compress files once for each of their versions."""
    content = b"".join(path.read_bytes() for path in paths)
    packed = gzip.compress(content, 9, mtime=0) if len(content) >= SMALLEST_GZIP else None
    etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    return StaticFile(content, packed, KINDS[paths[0].suffix], etag)


@lru_cache(maxsize=8)
def _login_files(changed: tuple[int, int]) -> frozenset[str]:
    """Return what the login page needs: the files that it names, and those that they name."""
    found: set[str] = set()
    waiting = ["login.html"]
    while waiting:
        name = waiting.pop()
        file = None if name in found else find_file(name)
        if file is None:
            continue
        found.add(name)
        if name.endswith((".html", ".js", ".css")):
            waiting += [_relative(name, named) for named in NAMED.findall(file.content.decode())]
    return frozenset(found)


def _relative(name: str, named: str) -> str:
    """Return the path, seen from the static folder, that the file `name` means by `named`."""
    if named.startswith("/"):
        return named.removeprefix("/")
    whole = (STATIC / name).parent / named
    target = Path(*(part for part in _folded(whole)))
    return target.relative_to(STATIC).as_posix() if target.is_relative_to(STATIC) else ""


def _folded(path: Path) -> list[str]:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return parts
