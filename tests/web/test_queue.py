"""The line before the generator: order, places, the limit, and those who leave it."""

import asyncio

import pytest

from fumikura.web.errors import TooManyRequests
from fumikura.web.generator_queue import GeneratorQueue


class Visit:
    """Someone in line: the places it heard, and when it was let in."""

    def __init__(self, queue: GeneratorQueue, served: list[str], name: str) -> None:
        self.places: list[int] = []
        self.done = asyncio.Event()
        self.task = asyncio.create_task(self._wait(queue, served, name))

    async def _wait(self, queue: GeneratorQueue, served: list[str], name: str) -> None:
        async with queue.turn(self.places.append):
            served.append(name)
            await self.done.wait()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def line(queue: GeneratorQueue, names: str) -> tuple[list[str], dict[str, Visit]]:
    served: list[str] = []
    return served, {name: Visit(queue, served, name) for name in names}


def test_served_in_order_and_every_place_is_told() -> None:
    async def run() -> None:
        queue = GeneratorQueue()
        served, visits = line(queue, "abc")
        await settle()
        assert (served, queue.waiting_count) == (["a"], 2)
        visits["a"].done.set()
        await settle()
        visits["b"].done.set()
        await settle()
        assert served == ["a", "b", "c"]
        assert [visits[name].places for name in "abc"] == [[], [1], [2, 1]]
        visits["c"].done.set()
        await visits["c"].task
        async with queue.turn():
            assert queue.waiting_count == 0

    asyncio.run(run())


def test_who_leaves_the_line_is_skipped_and_the_rest_moves_up() -> None:
    async def run() -> None:
        queue = GeneratorQueue()
        served, visits = line(queue, "abc")
        await settle()
        visits["b"].task.cancel()
        await settle()
        assert visits["c"].places == [2, 1]
        visits["a"].done.set()
        await settle()
        assert served == ["a", "c"]
        visits["c"].done.set()
        await visits["c"].task

    asyncio.run(run())


@pytest.mark.parametrize("order", ["leave first", "turn first"])
def test_leaving_in_the_moment_of_the_turn_blocks_nobody(order: str) -> None:
    async def run() -> None:
        queue = GeneratorQueue()
        served, visits = line(queue, "abc")
        await settle()
        steps = [visits["b"].task.cancel, visits["a"].done.set]
        for step in steps if order == "leave first" else reversed(steps):
            step()
        if order == "turn first":
            visits["a"].task.cancel()
        await settle()
        assert "c" in served
        visits["b"].done.set()
        visits["c"].done.set()
        await visits["c"].task
        assert queue.waiting_count == 0

    asyncio.run(run())


def test_cancelled_after_its_turn_was_given_hands_it_on() -> None:
    async def run() -> None:
        queue = GeneratorQueue()
        served, visits = line(queue, "abc")
        await settle()
        visits["a"].done.set()
        while visits["a"] and not visits["a"].task.done():
            await asyncio.sleep(0)
            if visits["a"].task.done():
                visits["b"].task.cancel()  # given the generator, not yet running
        await settle()
        assert served == ["a", "c"]
        visits["c"].done.set()
        await visits["c"].task

    asyncio.run(run())


def test_a_line_that_is_too_long_is_refused_with_its_number() -> None:
    async def run() -> None:
        queue = GeneratorQueue(longest=2)
        _, visits = line(queue, "abc")
        await settle()
        with pytest.raises(TooManyRequests, match="2 questions are waiting") as refused:
            async with queue.turn():
                pytest.fail("let in")
        assert refused.value.status == 429
        for visit in visits.values():
            visit.done.set()
            await visit.task

    asyncio.run(run())


def test_exclusive_waits_for_the_running_answer_only() -> None:
    async def run() -> None:
        queue = GeneratorQueue(longest=2)
        served, visits = line(queue, "abc")
        await settle()

        async def change() -> None:
            async with queue.exclusive():
                served.append("change")
                await settle()
                assert served == ["a", "change"]

        changing = asyncio.create_task(change())
        await settle()
        assert served == ["a"]
        visits["a"].done.set()
        await changing
        await settle()
        assert served == ["a", "change", "b"]
        for visit in visits.values():
            visit.done.set()
        await visits["c"].task

    asyncio.run(run())
