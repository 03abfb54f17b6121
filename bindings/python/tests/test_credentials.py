"""What a host gives a server to be let in with, well and badly (SPEC 15.3, 16.2)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

import trunkline
import trunkline.sync
from trunkline import Refusal, ServerRequest

from host import HANG, RemoteServer, run, text, wait_until

#: A server that takes one token.
FLAGS = ("--http", "0", "--http-auth", '{"accepts": {"good-token": ""}}')


def raises(error: BaseException) -> Callable[[], Any]:
    def answer() -> Any:
        raise error

    return answer


def timed(expires_in: object) -> Callable[[], Any]:
    return lambda: {"token": "good-token", "expires_in": expires_in}


#: What the handler does, what the error says of it, and which part of the answer was wrong.
BAD: list[tuple[Callable[[], Any], str, str | None]] = [
    (lambda: None, "refused", None),
    (lambda: {}, "refused", None),
    (lambda: {"token": None}, "refused", None),
    (raises(Refusal(-1, "not now")), "refused", None),
    (raises(ValueError("a secret of the host")), "failed", None),
    (lambda: 7, "failed", "answer"),
    (lambda: True, "failed", "answer"),
    (lambda: ["good-token"], "failed", "answer"),
    (lambda: "", "failed", "token"),
    (lambda: "a b", "failed", "token"),
    (lambda: {"token": 7}, "failed", "token"),
    (lambda: {"token": "a\r\nx: b"}, "failed", "token"),
    *[(timed(wrong), "failed", "expires_in") for wrong in (-1, 1e9, "60", True, [], float("nan"), float("inf"))],
]


def check(error: trunkline.AuthRequiredError, handler: str, path: str | None) -> None:
    assert (error.server, error.detail["missing"], error.detail["handler"]) == ("s", "token", handler)
    cause = error.__cause__
    if path is None:
        assert cause is None
    else:
        assert isinstance(cause, trunkline.InvalidArgumentError)
        assert cause.detail["path"] == path
    shown = json.dumps([str(error), error.detail, str(cause)])
    assert "good-token" not in shown and "secret" not in shown


@pytest.mark.parametrize(
    "answer",
    [
        "good-token",
        {"token": "good-token"},
        {"token": "good-token", "expires_in": 3600.5},
        {"token": "good-token", "expires_in": None},
        MappingProxyType({"token": "good-token", "expires_in": 3600}),
    ],
)
def test_a_handler_gives_a_token(answer: Any) -> None:
    """SPEC 15.3"""
    reasons: list[str] = []

    async def credentials(request: ServerRequest) -> Any:
        reasons.append(request.params["reason"])
        await asyncio.sleep(0)
        return answer

    async def main(url: str) -> None:
        async with trunkline.Pool(handlers={"credentials": credentials}) as pool:
            await pool.reconcile({"s": {"type": "http", "url": url}})
            async with pool.session("a", servers=[]) as session, session.acquire("s") as lease:
                assert text(await lease.call_tool("echo", {"message": "hi"})) == "hi"

    with RemoteServer(*FLAGS) as remote:
        run(main(remote.address))
    assert reasons == ["missing"]


def test_what_is_no_token_leaves_the_server_without_and_the_error_says_why() -> None:
    """SPEC 15.3, 16.2"""
    asked: list[str] = []

    async def credentials(request: ServerRequest) -> Any:
        asked.append(request.params["reason"])
        return BAD[len(asked) - 1][0]()

    async def main(url: str) -> None:
        async with trunkline.Pool(handlers={"credentials": credentials}) as pool:
            await pool.reconcile({"s": {"type": "http", "url": url}})
            async with pool.session("a", servers=[]) as session:
                for _, handler, path in BAD:
                    with pytest.raises(trunkline.AuthRequiredError) as refused:
                        await session.acquire("s")
                    check(refused.value, handler, path)

    with RemoteServer(*FLAGS) as remote:
        run(main(remote.address))
    assert asked == ["missing"] * len(BAD)


def test_the_same_of_a_handler_on_a_thread() -> None:
    """SPEC 15.3, 16.2"""
    asked: list[str] = []

    def credentials(request: ServerRequest) -> Any:
        asked.append(request.params["reason"])
        return BAD[len(asked) - 1][0]()

    with RemoteServer(*FLAGS) as remote, trunkline.sync.Pool(handlers={"credentials": credentials}) as pool:
        pool.reconcile({"s": {"type": "http", "url": remote.address}})
        with pool.session("a", servers=[]) as session:
            for _, handler, path in BAD:
                with pytest.raises(trunkline.AuthRequiredError) as refused:
                    session.acquire("s")
                check(refused.value, handler, path)
    assert asked == ["missing"] * len(BAD)


def test_a_handler_that_never_answers_is_not_waited_for() -> None:
    """SPEC 15.3, I-07: and it is told so."""

    async def main(url: str) -> None:
        ended = asyncio.Event()

        async def credentials(request: ServerRequest) -> Any:
            try:
                await asyncio.sleep(HANG)
            finally:
                assert request.withdrawn
                ended.set()

        async with trunkline.Pool(handlers={"credentials": credentials}, handler_timeout=0.05) as pool:
            await pool.reconcile({"s": {"type": "http", "url": url}})
            async with pool.session("a", servers=[]) as session:
                with pytest.raises(trunkline.AuthRequiredError) as refused:
                    await session.acquire("s")
                check(refused.value, "timeout", None)
                await asyncio.wait_for(ended.wait(), HANG)

    with RemoteServer(*FLAGS) as remote:
        run(main(remote.address))


def test_a_thread_that_never_answers_is_not_waited_for() -> None:
    """SPEC 15.3, I-07: and it is told so."""
    requests: list[ServerRequest] = []
    over: list[bool] = []

    def credentials(request: ServerRequest) -> Any:
        requests.append(request)
        while not request.withdrawn:
            time.sleep(0.005)
        over.append(True)

    options: Any = {"handlers": {"credentials": credentials}, "handler_timeout": 0.05}
    with RemoteServer(*FLAGS) as remote, trunkline.sync.Pool(**options) as pool:
        pool.reconcile({"s": {"type": "http", "url": remote.address}})
        with pool.session("a", servers=[]) as session:
            with pytest.raises(trunkline.AuthRequiredError) as refused:
                session.acquire("s")
            check(refused.value, "timeout", None)
            wait_until(lambda: over, "the handler is told")
    assert len(requests) == 1
