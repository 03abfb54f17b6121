"""What is JSON and yet more than Python decodes: an integer of thousands of digits."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trunkline

from host import Log, opened, run, text

#: More digits than Python reads.
LONG = "1" * 5_000


def serving(*tools: str) -> Any:
    """A server of the host's own, with these tools, each a text."""

    def receive(connection: trunkline.HostConnection, frame: str) -> None:
        message = json.loads(frame)
        server = '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"own","version":"1"}}'
        results = {"initialize": server, "tools/list": f'{{"tools":[{",".join(tools)}]}}'}
        result = results.get(message["method"])
        end = '"error":{"code":-32601,"message":"none"}' if result is None else f'"result":{result}'
        if "id" in message:
            connection.send(f'{{"jsonrpc":"2.0","id":{message["id"]},{end}}}')

    return receive


def tool(name: str, member: str) -> str:
    return f'{{"name":"{name}","inputSchema":{{"type":"object",{member}}}}}'


@pytest.mark.parametrize("shape", ["mcp", "openai", "openai_responses", "anthropic", "gemini"])
def test_one_tool_that_cannot_be_decoded_costs_nobody_the_rest(shape: str, caplog: pytest.LogCaptureFixture) -> None:
    """SPEC 4.5, 6.1: in every shape; its text is at hand."""

    async def main() -> None:
        async with trunkline.Pool(cache="off") as pool, pool.session("a", servers=[]) as session:
            session.provide("odd", serving(tool("odd", f'"maximum":{LONG}'), tool("fine", '"n":1')))
            session.provide("other", serving(tool("other", '"n":1')))
            async with session.acquire("odd"), session.acquire("other"):
                listed = {row.own_name: row for row in session.tools()}
                shaped = {row.get("function", row)["name"]: row for row in session.tools_for(shape)}
                assert {"mcp__odd__fine", "mcp__other__other"} <= set(shaped)
                for look in ("definition", "description"):
                    with pytest.raises(trunkline.ProtocolError):
                        getattr(listed["odd"], look)
                assert LONG in listed["odd"].definition_text
                assert listed["fine"].definition["inputSchema"]["n"] == 1
                # What is left out is told; in the other shapes its schema says less.
                assert ("mcp__odd__odd" in shaped) != ("mcp__odd__odd" in caplog.text)

    run(main())


def test_a_result_with_a_number_too_long_to_decode_keeps_its_bytes(log: Log) -> None:
    """SPEC 5.3, 5.12: as one that is nested too deeply."""

    async def main() -> None:
        async with opened(log) as (_pool, _session, lease):
            sent = f'{{"content":[{{"type":"text","text":"five"}}],"structuredContent":{{"n":{LONG}}}}}'
            result = await lease.call_tool("verbatim", {"result": sent})
            for look in ("content", "structured_content", "decoded"):
                with pytest.raises(trunkline.ProtocolError, match="too long") as caught:
                    getattr(result, look)
                assert caught.value.code == "protocol"
            assert result.raw == sent.encode()
            assert text(await lease.call_tool("echo", {"message": "on"})) == "on"

    run(main())
