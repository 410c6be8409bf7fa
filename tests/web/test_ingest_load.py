"""C085: while one long line of text is added, the server answers, a note is kept and tokens keep flowing."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence

import httpx2
from sse import STREAM

from fumikura.generators import ScriptedGenerator
from fumikura.records import Message, SourceFile, Usage

NOTEBOOK = "/api/notebooks/default"
CHARS = 700_000  # 2 MB: a tenth of what the case names; bench-sized texts take 20 s
ONE_S = 1.0
NOTE = SourceFile("note.md", "note.md", "花の話は一つだけです。".encode())


class Writing(ScriptedGenerator):
    """Writes a word every tenth of a second until it is told to end."""

    ended = False

    def generate(self, messages: Sequence[Message], max_tokens: int) -> Iterator[str | Usage]:
        while not self.ended:
            time.sleep(0.1)
            yield "語、"
        yield Usage("complete", self.count_tokens(messages))


def long_line() -> bytes:
    chosen = random.Random(1)
    words = [first + second for first in "春夏秋冬朝昼夜山川海空町村里庭" for second in "風雨雪花鳥月星道橋船"]
    return "".join(chosen.choice(words) + chosen.choice("はがをにと") for _ in range(CHARS // 3)).encode()


async def call_often(call: Callable[[], Awaitable[httpx2.Response]], waits: list[float]) -> None:
    while True:
        begun = time.perf_counter()
        assert (await call()).status_code < 300
        waits.append(time.perf_counter() - begun)
        await asyncio.sleep(0.1)


async def read_answer(client: httpx2.AsyncClient, token_times: list[float]) -> None:
    body = {"question": "花の話はありますか？"}
    async with client.stream("POST", f"{NOTEBOOK}/ask", json=body, headers=STREAM) as reply:
        async for line in reply.aiter_lines():
            if line == "event: token":
                token_times.append(time.perf_counter())


async def job_until_over(client: httpx2.AsyncClient) -> list[dict]:
    """Return what was shown of the one job, until it was done."""
    shown: list[dict] = []
    while True:
        shown += (await client.get(f"{NOTEBOOK}/progress")).json()["jobs"]
        if shown[-1]["state"] == "done":
            return shown
        await asyncio.sleep(0.05)


async def add_while_called(address: str, generator: Writing) -> tuple[dict[str, list[float]], list[float], list[dict]]:
    waits: dict[str, list[float]] = {"health": [], "list": []}
    token_times: list[float] = []
    async with httpx2.AsyncClient(base_url=address, timeout=60, trust_env=False) as client:
        answer = asyncio.create_task(read_answer(client, token_times))
        calls = [
            asyncio.create_task(call_often(lambda: client.get("/api/health"), waits["health"])),
            asyncio.create_task(call_often(lambda: client.get(f"{NOTEBOOK}/sources"), waits["list"])),
        ]
        added = await client.post(f"{NOTEBOOK}/sources", files=[("files", ("long.txt", long_line(), "text/plain"))])
        assert added.status_code == 202
        shown = await job_until_over(client)
        for one in calls:
            assert not one.done() or one.exception() is None
            one.cancel()
        generator.ended = True
        await answer
    return waits, token_times, shown


def test_the_server_answers_while_a_long_line_is_added(open_service, serve) -> None:
    service = open_service()
    service.library.generator = generator = Writing([""])
    service.library.add_bytes("default", NOTE)
    waits, token_times, shown = asyncio.run(add_while_called(serve(service), generator))
    assert max(waits["health"]) < ONE_S
    assert max(waits["list"]) < ONE_S
    assert max(after - before for before, after in zip(token_times, token_times[1:], strict=False)) < ONE_S
    split = [job for job in shown if job["step"] == "split" and job["total_count"]]
    assert any(0 < job["done_count"] < job["total_count"] for job in split)
