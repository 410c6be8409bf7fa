"""Fifty people ask at once over real HTTP: none is lost, none gets another's answer, and the server stays reachable."""

import asyncio
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx2
from sse import STREAM, read_events, until

from fumikura.generators import ScriptedGenerator
from fumikura.records import Message, Usage

COUNT = 50
QUESTION = "{}号室の定員は何名ですか？"
ANSWER = "{}号室の定員は{}名です。"


class Receptionist(ScriptedGenerator):
    """Answers the question that is asked; notes when two answers are written at once."""

    def __init__(self) -> None:
        super().__init__([""])
        self.busy = self.overlapped = False

    def generate(self, messages: Sequence[Message], max_tokens: int) -> Iterator[str | Usage]:
        self.overlapped = self.overlapped or self.busy
        self.busy = True
        number = re.findall(r"(\d+)号室の定員は何名", messages[-1].content)[-1]
        for piece in re.findall(".{1,4}", ANSWER.format(number, int(number) + 100)):
            time.sleep(0.002)
            yield piece
        self.busy = False
        yield Usage("complete", self.count_tokens(messages))


async def ask(client: httpx2.AsyncClient, number: int) -> tuple[dict, dict]:
    body = {"question": QUESTION.format(number)}
    reply = await client.post("/api/notebooks/default/ask", json=body, headers=STREAM)
    told = list(read_events(reply.text.splitlines()))
    return until(iter(told), "hits"), until(iter(told), "answer")


async def watch(client: httpx2.AsyncClient, slowest: dict[str, float]) -> None:
    while True:
        for path in ("/api/health", "/api/notebooks/default/conversations"):
            begun = time.perf_counter()
            assert (await client.get(path)).status_code == 200
            slowest[path] = max(slowest.get(path, 0), time.perf_counter() - begun)
        await asyncio.sleep(0.05)


async def ask_all(address: str) -> tuple[list[tuple[dict, dict]], dict[str, float]]:
    slowest: dict[str, float] = {}
    async with httpx2.AsyncClient(base_url=address, timeout=60, trust_env=False) as client:
        watching = asyncio.create_task(watch(client, slowest))
        told = await asyncio.gather(*(ask(client, number) for number in range(COUNT)))
        watching.cancel()
    return told, slowest


def test_fifty_at_once(open_service, serve, tmp_path: Path) -> None:
    service = open_service()
    service.library.generator = generator = Receptionist()
    rooms = "\n\n".join(f"# {number}号室\n\n{number}号室の定員は{number + 100}名です。" for number in range(COUNT))
    (tmp_path / "部屋.md").write_text(rooms, encoding="utf-8")
    service.library.add("default", [tmp_path / "部屋.md"])
    told, slowest = asyncio.run(ask_all(serve(service)))
    for number, (hits, answer) in enumerate(told):
        assert answer["text"].startswith(ANSWER.format(number, number + 100))
        assert [citation["heading"] for citation in answer["citations"]] == [f"{number}号室"]
        assert answer["turn_id"] == hits["turn_id"]
        assert hits["completed"] == QUESTION.format(number)
    assert len({answer["conversation_id"] for _, answer in told}) == COUNT
    assert not generator.overlapped
    assert max(slowest.values()) < 1.0, slowest
