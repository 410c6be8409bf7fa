"""Server-sent events: how one is written, and a response that notices at once when its reader leaves."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send


@dataclass(frozen=True, slots=True)
class Event:
    """One named event; its payload is JSON."""

    name: str
    payload: Mapping[str, Any]

    def encode(self) -> bytes:
        """Return the event as it goes over the wire; JSON has no line ends of its own."""
        # Lone surrogates (from a model's broken bytes) have no UTF-8 form.
        text = json.dumps(self.payload, ensure_ascii=False).encode("utf-8", "replace")
        return b"event: " + self.name.encode() + b"\ndata: " + text + b"\n\n"


class Told(Protocol):
    """Something that is told in events and may be left before its end."""

    events: asyncio.Queue[Event | None]  # None: there are no more

    def leave(self) -> None:
        """Stop it: nobody listens any more."""
        ...


class EventStream(StreamingResponse):
    """Sends the events as they come, and the last `stage` again when none came for `keep_alive_s` seconds.

    Starlette ends the response as soon as the server reports a closed connection, also between two events; whatever
    ends it, the question is then left.
    """

    media_type = "text/event-stream"
    keep_alive_s = 10.0

    def __init__(self, told: Told) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(_encoded(told.events, self.keep_alive_s), headers=headers)
        self._told = told

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the end or until the reader is gone."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._told.leave()


async def _encoded(events: "asyncio.Queue[Event | None]", keep_alive_s: float) -> AsyncIterator[bytes]:
    stage = b": \n\n"
    while True:
        try:
            async with asyncio.timeout(keep_alive_s):
                event = await events.get()
        except TimeoutError:
            yield stage
            continue
        if event is None:
            return
        encoded = event.encode()
        if event.name == "stage":
            stage = encoded
        yield encoded
