"""Closes: once one has returned nothing of it reaches the host, and none waits for ever (SPEC 16.2; I-16, I-18)."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

import trunkline
import trunkline.sync
from trunkline._desks import LoopDesk, ThreadDesk
from trunkline._handlers import ServerRequest

from host import HANG, Log, opened, run

ASKED = """{"kind": "elicitation", "server": "s", "entry_index": 0, "generation": 1, "session": "a",
            "method": "elicitation/create", "params": {}}"""


class Late:
    """A desk whose news were taken while its loop was busy."""

    def __init__(self, native: Any, news: list[tuple[str, int, str]]) -> None:
        self.native = native
        self.news = news
        self.refused: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.native, name)

    def take(self) -> list[tuple[str, int, str]]:
        taken, self.news = self.news, []
        return taken

    def refuse(self, number: int, code: int, message: str) -> None:
        self.refused.append(number)


def test_what_a_server_logged_is_not_told_behind_the_close(log: Log) -> None:
    """I-16, SPEC 16.2: the loop was busy when it came, and has it before it when the session is closed."""

    async def main() -> None:
        heard: list[str] = []
        async with opened(log) as (pool, _session, _lease):
            handlers = {"logging": lambda event: heard.append(event["data"])}
            session = pool.session("b", servers=[], handlers=handlers)
            lease = await session.acquire("s", log.server())
            call = asyncio.ensure_future(lease.call_tool("log", {"text": "late"}))
            await asyncio.sleep(0)
            desk: Any = session._desk
            native, deadline = desk.native, time.monotonic() + HANG
            # The loop is not let go on before the news are there; it is woken for them.
            while not (news := native.take()):
                assert time.monotonic() < deadline, "nothing was logged"
                time.sleep(0.005)
            desk.native = Late(native, news)
            session.close()
            await asyncio.wait({call}, timeout=HANG / 3)
            for _ in range(20):
                await asyncio.sleep(0)
            assert [what for what, _, _ in news] == ["logged"] and not desk.native.news, "the loop looked"
            assert heard == []

    run(main())


@pytest.mark.parametrize("taken", ["before", "behind"])
def test_a_request_does_not_come_to_its_handler_behind_the_close(taken: str) -> None:
    """I-16, SPEC 15.1, 16.2: nor where its task had yet to begin."""

    async def main() -> None:
        requests: list[ServerRequest] = []
        desk: Any = LoopDesk({"elicitation": requests.append})
        desk.native = Late(desk.native, [("asked", 1, ASKED)])
        if taken == "before":
            desk._look()
            assert desk._tasks and not requests
        desk.close()
        if taken == "behind":
            desk._look()
            assert desk.native.refused == [1]
        while desk._tasks:
            await asyncio.sleep(0)
        assert requests == []

    run(main())


def test_a_request_whose_thread_had_yet_to_begin_comes_to_no_handler() -> None:
    """I-16, SPEC 15.1, 16.2."""
    requests: list[ServerRequest] = []
    desk: Any = ThreadDesk({"elicitation": requests.append})
    request = desk._open.setdefault(1, ServerRequest(ASKED))
    desk.close()
    desk._answer(1, request)
    assert request.withdrawn and requests == []


def test_what_waits_for_a_slow_logging_handler_is_not_told_by_the_next_pass() -> None:
    """I-16, SPEC 16.2: the task that would tell it may go on before the one that ends it."""

    async def main() -> None:
        told: list[str] = []
        go_on = asyncio.Event()

        async def logging(event: trunkline.Event) -> None:
            told.append(event["data"])
            await go_on.wait()

        desk: Any = LoopDesk({"logging": logging})
        for text in ("first", "second"):
            desk._logged(trunkline.Event(f'{{"data": "{text}"}}'))
        await asyncio.sleep(0)
        go_on.set()
        desk.close()
        while desk._tasks:
            await asyncio.sleep(0)
        assert told == ["first"]

    run(main())
