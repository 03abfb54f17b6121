"""Requests as OpenTelemetry sees them, with its own SDK (SPEC 16.7)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import baggage, context, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import trunkline
from trunkline import otel, sync

from host import Log, run

BOUNDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)


class Telemetry:
    """Providers that keep what they are told."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        self._reader = InMemoryMetricReader()
        self.meters = MeterProvider([self._reader])

    def spans(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    def points(self) -> list[Any]:
        """The durations."""
        told = self._reader.get_metrics_data()
        assert told is not None
        (metric,) = [one for r in told.resource_metrics for s in r.scope_metrics for one in s.metrics]
        assert (metric.name, metric.unit) == ("mcp.client.operation.duration", "s")
        return list(metric.data.data_points)


def parent(telemetry: Telemetry, number: int) -> str:
    """A span, as the server hears of it."""
    ids = telemetry.spans()[number].get_span_context()
    return f"00-{ids.trace_id:032x}-{ids.span_id:016x}-{ids.trace_flags:02x}"


@pytest.fixture
def telemetry() -> Iterator[Telemetry]:
    telemetry = Telemetry()
    yield telemetry
    otel.uninstrument()
    telemetry.tracers.shutdown()
    telemetry.meters.shutdown()


async def sent(lease: trunkline.Lease | sync.Lease, **options: Any) -> Any:
    """The ``_meta`` that a server gets with a call."""
    called: Any = lease.call_tool("meta", {}, **options)
    text = (called if isinstance(lease, sync.Lease) else await called).content[0]["text"]
    return None if text == "none" else json.loads(text)


def test_a_call_is_a_span_whose_trace_goes_to_the_server(log: Log, telemetry: Telemetry) -> None:
    async def main() -> None:
        async with trunkline.Pool() as pool:
            await pool.reconcile({"s": log.server()})
            lease = await pool.session("a").acquire("s")
            assert await sent(lease) is None
            otel.instrument(tracer_provider=telemetry.tracers, meter_provider=telemetry.meters)
            with telemetry.tracers.get_tracer("host").start_as_current_span("turn") as turn:
                token = context.attach(baggage.set_baggage("user", "alice"))
                meta = await sent(lease, meta={"k": 1})
                context.detach(token)
            (span,) = (span for span in telemetry.spans() if span.name == "tools/call meta")
            # The baggage is the host's own affair.
            assert meta == {"traceparent": parent(telemetry, 0), "k": 1}
            assert span.parent == turn.get_span_context() and span.kind is trace.SpanKind.CLIENT
            assert dict(span.attributes or {}) == {
                "mcp.method.name": "tools/call",
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "meta",
            }
            given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            assert await sent(lease, meta={"traceparent": given}) == {"traceparent": given}
            otel.uninstrument()
            assert await sent(lease) is None

    run(main())


def answer_params(connection: trunkline.HostConnection, frame: str) -> None:
    """A server of the host's own, whose answer to what it does not know is what it was sent."""
    message = json.loads(frame)
    if "id" not in message:
        return
    facts = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "own", "version": "1"}}
    known = {"initialize": facts, "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}}
    result = known.get(message["method"]) or message["params"]
    connection.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))


def test_a_trace_joins_the_meta_that_stands_in_params(telemetry: Telemetry) -> None:
    otel.instrument(tracer_provider=telemetry.tracers, meter_provider=telemetry.meters)
    given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    with sync.Pool() as pool:
        session = pool.session("a")
        session.provide("own", answer_params)
        lease = session.acquire("own")
        mine = {"k": 1, "_meta": {"m": 1}}
        assert lease.request("x/y", mine).decoded == {"k": 1, "_meta": {"traceparent": parent(telemetry, 0), "m": 1}}
        assert lease.request("x/y", params=mine).decoded["_meta"] == {"traceparent": parent(telemetry, 1), "m": 1}
        assert lease.complete(mine).decoded["_meta"] == {"traceparent": parent(telemetry, 2), "m": 1}
        # What the host gave stays what it was.
        assert mine == {"k": 1, "_meta": {"m": 1}}
        assert lease.request("x/y", {"_meta": {"traceparent": given}}).decoded == {"_meta": {"traceparent": given}}
        assert lease.request("x/y", {"k": 1}).decoded["_meta"] == {"traceparent": parent(telemetry, 4)}
        # Twice stays once too often, and what can be no `_meta` is the server's to refuse, as without a trace.
        with pytest.raises(trunkline.InvalidArgumentError, match="given twice"):
            lease.request("x/y", mine, meta={"m": 2})
        assert lease.request("x/y", {"_meta": None}).decoded == {"_meta": None}


def test_ends_are_told_as_the_conventions_have_them(log: Log, telemetry: Telemetry) -> None:
    otel.instrument(tracer_provider=telemetry.tracers, meter_provider=telemetry.meters, baggage=True)
    with sync.Pool() as pool:
        pool.reconcile({"s": log.server()})
        session = pool.session("a")
        lease = session.acquire("s")
        session.ready()
        session.call_tool("mcp__s__echo", {"message": "hi"})
        lease.call_tool(tool="echo", arguments={"message": "hi"})
        assert lease.call_tool("fail", {"text": "no"}).is_error
        with pytest.raises(trunkline.ServerError):
            lease.call_tool("error", {"code": -32050, "message": "as asked"})
        with pytest.raises(trunkline.ToolNotFoundError):
            lease.call_tool("no_such_tool")
        lease.read_resource("test://one")
        lease.get_prompt("greet", {"who": "Ada"})
        lease.request("ping")
        # What cannot be a `_meta` is the library's to refuse.
        with pytest.raises(trunkline.InvalidArgumentError):
            lease.call_tool("echo", meta=5)
    ends = [
        (span.name, (span.attributes or {}).get("error.type"), span.status.status_code) for span in telemetry.spans()
    ]
    ok, error = trace.StatusCode.UNSET, trace.StatusCode.ERROR
    assert ends == [
        ("tools/call mcp__s__echo", None, ok),
        ("tools/call echo", None, ok),
        ("tools/call fail", "tool_error", error),
        ("tools/call error", "-32050", error),
        ("tools/call no_such_tool", "tool_not_found", error),
        ("resources/read", None, ok),
        ("prompts/get greet", None, ok),
        ("ping", None, ok),
        ("tools/call echo", "invalid_argument", error),
    ]
    refused = telemetry.spans()[3]
    assert (refused.attributes or {})["rpc.response.status_code"] == "-32050"
    assert not any(span.events or span.status.description for span in telemetry.spans())
    points = telemetry.points()
    assert sum(point.count for point in points) == len(ends)
    assert all(point.explicit_bounds == BOUNDS for point in points)
    # No name that a model made up, and no code that a server did, is told apart.
    counted = {tuple(sorted(point.attributes.items())): point.count for point in points}

    def counts(method: str, error: str | None = None) -> tuple[tuple[str, str], ...]:
        failed = () if error is None else (("error.type", error),)
        return (*failed, ("mcp.method.name", method))

    assert counted == {
        counts("tools/call"): 2,
        counts("tools/call", "tool_error"): 1,
        counts("tools/call", "server_error"): 1,
        counts("tools/call", "tool_not_found"): 1,
        counts("tools/call", "invalid_argument"): 1,
        counts("resources/read"): 1,
        counts("prompts/get"): 1,
        counts("_OTHER"): 1,
    }


def test_an_address_is_told_without_its_secrets(log: Log, telemetry: Telemetry) -> None:
    otel.instrument(tracer_provider=telemetry.tracers, meter_provider=telemetry.meters)
    with sync.Pool() as pool:
        pool.reconcile({"s": log.server()})
        lease = pool.session("a").acquire("s")
        for uri in ("https://me:hunter2@host/a?key=hunter2#hunter2", "db://me:hun/ter2@host/a"):
            with pytest.raises(trunkline.TrunklineError):
                lease.read_resource(uri)
    told = [(span.attributes or {})["mcp.resource.uri"] for span in telemetry.spans()]
    assert told == ["https://host/a", "db://"]
    assert not any("hunter2" in span.to_json() for span in telemetry.spans())


def test_a_cancelled_call_ends_its_span(log: Log, telemetry: Telemetry) -> None:
    otel.instrument(tracer_provider=telemetry.tracers, meter_provider=telemetry.meters)

    async def main() -> None:
        import asyncio

        async with trunkline.Pool() as pool:
            await pool.reconcile({"s": log.server()})
            lease = await pool.session("a").acquire("s")
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(lease.call_tool("sleep", {"ms": 60_000}), 0.05)

    run(main())
    (span,) = telemetry.spans()
    assert (span.attributes or {})["error.type"] == "CancelledError"


def test_nothing_of_it_is_imported_unless_the_host_does() -> None:
    program = "import sys, trunkline; print([name for name in sys.modules if 'opentelemetry' in name])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_without_a_span_nothing_is_added() -> None:
    assert otel.trace_meta() == {}
    assert otel.trace_meta({"k": 1}) == {"k": 1}
