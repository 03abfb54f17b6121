"""The asyncio API against the reference server."""

from __future__ import annotations

import asyncio
import json

import pytest

from prometheus_client.parser import text_string_to_metric_families

import trunkline
from trunkline import sync

from host import Log, run, text, wait_until


def test_a_pool_lends_a_server_to_two_sessions(log: Log) -> None:
    """SPEC 2.1, 3.2, 3.6: one process, and nothing left after the pool."""

    async def main() -> None:
        async with trunkline.Pool() as pool:
            report = await pool.reconcile({"s": log.server()})
            assert set(report["servers"]) == {"s"}
            async with pool.session("a") as a, pool.session("b") as b:
                one, two = await asyncio.gather(a.acquire("s"), b.acquire("s"))
                assert (one.server, one.generation, one.state) == ("s", 1, "active")
                assert one.entry_index == two.entry_index
                assert text(await one.call_tool("pid")) == text(await two.call_tool("pid"))
                assert len(pool.status()["servers"]["s"]["entries"]) == 1
        assert log.starts() == 1 and not log.running()

    run(main())


def test_a_result_is_decoded_when_it_is_looked_at(log: Log) -> None:
    """SPEC 5.3: and its bytes are those of the server."""

    async def main() -> None:
        async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
            lease = await session.acquire("s", log.server())
            sent = '{"content":[],"n":9007199254740993123,"structuredContent":{"é":1},"_meta":{"k":0}}'
            result = await lease.call_tool("verbatim", {"result": sent})
            assert result.raw == sent.encode()
            assert result.decoded["n"] == 9007199254740993123
            assert result.structured_content == {"é": 1}
            assert (result.content, result.meta, result.is_error) == ([], {"k": 0}, False)
            failed = await lease.call_tool("fail", {"text": "no"})
            assert failed.is_error and text(failed) == "no"

    run(main())


def test_a_result_too_deep_to_decode_keeps_its_bytes(log: Log) -> None:
    """SPEC 5.3, 5.10: the call succeeds; who looks is told, and may read the bytes in another way."""

    async def main() -> None:
        async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
            lease = await session.acquire("s", log.server())
            deep = "[" * 200_000 + "]" * 200_000
            sent = f'{{"content":[],"structuredContent":{{"deep":{deep}}}}}'
            result = await lease.call_tool("verbatim", {"result": sent})
            for look in ("content", "structured_content", "decoded"):
                with pytest.raises(trunkline.ProtocolError) as caught:
                    getattr(result, look)
                assert caught.value.code == "protocol"
            assert result.raw == sent.encode()
            assert text(await lease.call_tool("echo", {"message": "on"})) == "on"

    run(main())


def test_every_kind_of_request_works(log: Log) -> None:
    """SPEC 5.1, 6.1, 14.3."""

    async def main() -> None:
        async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
            async with session.acquire("s", log.server()) as lease:
                await session.ready()
                names = [tool.own_name for tool in session.tools()]
                assert "echo" in names and names == sorted(names)
                echo = next(tool for tool in lease.tools() if tool.own_name == "echo")
                assert (echo.name, echo.server) == ("mcp__s__echo", "s")
                assert echo.definition["inputSchema"]["required"] == ["message"]
                assert text(await session.call_tool(echo.name, {"message": "hi"})) == "hi"

                prompt = session.prompts()[0]
                assert (await lease.get_prompt(prompt.own_name, {})).decoded["messages"]
                resource = session.resources()[0]
                assert (await lease.read_resource(resource.own_name)).decoded["contents"]
                await lease.subscribe_resource(resource.own_name)
                await lease.unsubscribe_resource(resource.own_name)
                assert isinstance(session.resource_templates(), list)
                assert (await lease.request("ping")).decoded == {}
            assert json.loads(json.dumps(pool.status()))["v"] == 1

    run(main())


def test_the_pool_writes_what_it_counts(log: Log) -> None:
    """SPEC 16.7."""
    with sync.Pool() as pool:
        pool.reconcile({"s": log.server()})
        lease = pool.session("a").acquire("s")
        lease.call_tool("echo", {"message": "hi"})
        status = pool.status(processes=True)
        (row,) = status["usage"]
        assert (row["session"], row["calls"], row["errors"]) == ("a", 1, [])
        assert status["servers"]["s"]["memory_bytes"] > 100_000
        assert pool.status()["servers"]["s"]["memory_bytes"] is None
        page = pool.metrics()
        assert 'mcp_client_operation_duration_seconds_count{server="s",mcp_method_name="tools/call"} 1\n' in page
        assert "memory" not in page and "memory" in pool.metrics(processes=True)
        families = {family.name: family for family in text_string_to_metric_families(pool.metrics(processes=True))}
        (up,) = families["trunkline_server_up"].samples
        assert (families["trunkline_server_up"].type, up.labels, up.value) == ("gauge", {"server": "s"}, 1.0)
        durations = families["mcp_client_operation_duration_seconds"]
        assert (durations.type, durations.samples[-1].name, durations.samples[-1].value) == (
            "histogram",
            "mcp_client_operation_duration_seconds_count",
            1.0,
        )
        with pytest.raises(trunkline.InvalidArgumentError):
            pool.status(all=True)


def test_cancelling_a_task_cancels_the_call_at_the_server(log: Log) -> None:
    """SPEC 5.5."""

    async def main() -> None:
        async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
            lease = await session.acquire("s", log.server())
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(lease.call_tool("sleep", {"ms": 60_000}), 0.05)
            task = asyncio.create_task(lease.call_tool("sleep", {"ms": 60_000}))
            while text(await lease.call_tool("under_way")) != "1":
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            while text(await lease.call_tool("cancelled")) != "2":
                await asyncio.sleep(0)
            assert text(await lease.call_tool("under_way")) == "0"

    run(main())


def test_cancelling_an_acquire_leaves_nothing(log: Log) -> None:
    """SPEC 3.4: before, while and after the server connects."""

    async def main() -> None:
        async with trunkline.Pool(drain_delay=0) as pool, pool.session("a", servers=[]) as session:
            for turns in range(6):
                acquiring = asyncio.create_task(session.acquire("s", log.server()))
                for _ in range(turns):
                    await asyncio.sleep(0.002)
                acquiring.cancel()
                (got,) = await asyncio.gather(acquiring, return_exceptions=True)
                if isinstance(got, trunkline.Lease):
                    got.release()
            lease = await session.acquire("s", log.server())
            lease.release()
            await asyncio.to_thread(log.settle)

    run(main())


def test_closing_a_session_cancels_its_calls(log: Log) -> None:
    """SPEC 3.12: that is no cancellation of the task."""

    async def main() -> None:
        async with trunkline.Pool() as pool:
            session = pool.session("a", servers=[])
            lease = await session.acquire("s", log.server())
            task = asyncio.create_task(lease.call_tool("sleep", {"ms": 60_000}))
            while text(await lease.call_tool("under_way")) != "1":
                await asyncio.sleep(0)
            session.close()
            with pytest.raises(trunkline.TrunklineError) as caught:
                await task
            assert caught.value.code in ("cancelled", "closed")

    run(main())


def test_a_lost_connection_interrupts_with_the_arguments(log: Log) -> None:
    """SPEC 5.6."""

    async def main() -> None:
        async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
            lease = await session.acquire("s", log.server())
            with pytest.raises(trunkline.CallInterruptedError) as caught:
                await lease.call_tool("crash", {"code": 3})
            error = caught.value
            assert (error.server, error.outcome, error.arguments) == ("s", "unknown", {"code": 3})
            assert not error.retryable

    run(main())


def test_bad_arguments_and_tools_are_typed_errors(log: Log) -> None:
    """SPEC 5.12, 11.6: and the lease works on."""

    async def main() -> None:
        async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
            lease = await session.acquire("s", log.server())
            with pytest.raises(trunkline.ToolNotFoundError):
                await lease.call_tool("nothing")
            with pytest.raises(trunkline.InvalidArgumentError):
                await lease.call_tool("echo", ["no", "object"])
            with pytest.raises(trunkline.InvalidArgumentError):
                await lease.call_tool("echo", {"message": "\ud800"})
            with pytest.raises(trunkline.InvalidArgumentError, match="timeot"):
                await lease.call_tool("echo", {"message": "hi"}, timeot=1)
            with pytest.raises(trunkline.ServerError) as caught:
                await lease.call_tool("error", {"code": -32001, "message": "no", "data": [1]})
            assert caught.value.detail["data"] == [1]
            with pytest.raises(trunkline.TimeoutError):
                await lease.call_tool("sleep", {"ms": 60_000}, timeout=0.05)
            assert text(await lease.call_tool("echo", {"message": "on"})) == "on"

    run(main())


def test_a_command_that_is_missing_is_a_connect_error() -> None:
    """SPEC 4.6."""

    async def main() -> None:
        async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
            with pytest.raises(trunkline.ConnectError) as caught:
                await session.acquire("s", {"command": "/nowhere/at/all"})
            assert (caught.value.server, caught.value.code) == ("s", "spawn_failed")
            with pytest.raises(trunkline.ConfigError):
                await session.acquire("t", {"command": 5})
            with pytest.raises(trunkline.ConfigError):
                await session.acquire("t", "{")

    run(main())


def test_a_pool_acquires_for_a_session_by_its_id(log: Log) -> None:
    """SPEC 3.2."""

    async def main() -> None:
        async with trunkline.Pool() as pool:
            async with pool.acquire("s", log.server(), session="a") as lease:
                assert text(await lease.call_tool("echo", {"message": "hi"})) == "hi"

    run(main())


def test_what_is_closed_says_so(log: Log) -> None:
    """SPEC 3.10, 5.12."""

    async def main() -> None:
        pool = trunkline.Pool()
        session = pool.session("a", servers=[])
        lease = await session.acquire("s", log.server())
        lease.release()
        lease.release()
        with pytest.raises(trunkline.TrunklineError):
            await lease.call_tool("echo", {"message": "hi"})
        await asyncio.gather(pool.aclose(), pool.aclose())
        await pool.aclose()
        with pytest.raises(trunkline.ClosedError):
            pool.session("b")
        with pytest.raises(trunkline.ClosedError):
            await pool.reconcile({})
        assert pool.status()["v"] == 1

    run(main())


def test_a_forgotten_lease_is_released_and_a_forgotten_pool_closed(log: Log) -> None:
    """SPEC 9.7."""

    async def main() -> None:
        pool = trunkline.Pool(drain_delay=0)
        lease = await pool.session("a", servers=[]).acquire("s", log.server())
        assert text(await lease.call_tool("echo", {"message": "held"})) == "held"
        del lease
        await asyncio.to_thread(log.settle)
        lease = await pool.session("b", servers=[]).acquire("s", log.server())
        del pool
        assert text(await lease.call_tool("echo", {"message": "kept"})) == "kept"

    run(main())
    wait_until(lambda: not log.running(), "the forgotten pool kept its server")
