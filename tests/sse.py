"""Server-sent events as a client reads them: one (name, payload) after the other, from a response or over real HTTP."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

Told = tuple[str, dict[str, Any]]
STREAM = {"Accept": "text/event-stream", "Accept-Language": "ja"}


def read_events(lines: Iterable[str]) -> Iterator[Told]:
    """Yield the events of a stream's lines."""
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


@contextmanager
def asked(address: str, question: str, path: str = "default", **more: Any) -> Iterator[Iterator[Told]]:
    """Ask over real HTTP and give the events as they come; leaving the block closes the connection."""
    url = f"{address}/api/notebooks/{path}/ask"
    with httpx2.Client(timeout=30, trust_env=False) as client:
        with client.stream("POST", url, json={"question": question, **more}, headers=STREAM) as response:
            assert response.status_code == 200, response.read()
            assert response.headers["content-type"].startswith("text/event-stream")
            yield read_events(response.iter_lines())


def until(events: Iterator[Told], name: str) -> dict[str, Any]:
    """Return the payload of the next event of this name."""
    for found, payload in events:
        if found == name:
            return payload
    raise AssertionError(f"the stream ended without {name}")
