"""`listen` of `trunkline.adapters.mcp.Client`, with version 2 of the package `mcp`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp.client.subscriptions import ResourceUpdated, SubscriptionLost, ToolsListChanged

import trunkline
from trunkline.adapters import _mcp_listen
from trunkline.adapters.mcp import Client

from host import HANG, Log, run
from served import changed, opened


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_listen_tells_what_changes(log: Log, era: str) -> None:
    """FAULTS P14."""

    async def main() -> None:
        async with opened(log, "--list-changes", "--era", era) as chat:
            async with Client(chat, "s") as client:
                uri = str((await client.list_resources()).resources[0].uri)
                with pytest.raises(trunkline.InvalidArgumentError):
                    async with client.listen(resource_subscriptions="file:///a"):
                        raise AssertionError("one address is no list")
                async with client.listen(tools_list_changed=True, resource_subscriptions=[uri]) as told:
                    assert told.honored.tools_list_changed and told.honored.resource_subscriptions == [uri]
                    await changed(chat, "fresh")
                    assert await asyncio.wait_for(anext(told), HANG) == ToolsListChanged()
                    assert "fresh" in [tool.name for tool in (await client.list_tools()).tools]
                    await client.call_tool("touch_resource", {"uri": uri})
                    assert await asyncio.wait_for(anext(told), HANG) == ResourceUpdated(uri)
                    waiting = asyncio.create_task(anext(told))
                    await asyncio.sleep(0)
                assert [event async for event in told] == []
                with pytest.raises(StopAsyncIteration):
                    await waiting
                left = client.listen(prompts_list_changed=True)
                lost = await left.__aenter__()
            with pytest.raises(SubscriptionLost):
                await asyncio.wait_for(anext(lost), HANG)
            await left.__aexit__(None, None, None)

    run(main())


def test_what_a_subscriber_does_not_read_is_bounded_and_there_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        monkeypatch.setattr(_mcp_listen, "_UNREAD_MAX", 2)

        class Stream:
            """Says the same twice, then that something was missed, then too much."""

            async def __aenter__(self) -> None: ...

            async def __aexit__(self, *_: object) -> None: ...

            async def __aiter__(self) -> Any:
                for text in (
                    '{"type":"tools_changed","server":"s"}',
                    '{"type":"tools_changed","server":"s"}',
                    '{"type":"tools_changed","server":"other"}',
                    '{"type":"prompts_changed","server":"s"}',
                    '{"type":"lagged"}',
                    '{"type":"resource_updated","server":"s","uri":"b"}',
                ):
                    yield trunkline.Event(text)

        class Chat:
            def events(self, **_: Any) -> Any:
                return Stream()

        chat: Any = Chat()
        told = _mcp_listen.Subscription("s", _mcp_listen.wanted(True, False, False), ["a"])
        told.begin(chat)
        found = [await anext(told), await anext(told)]
        assert found == [ToolsListChanged(), ResourceUpdated("a")]
        with pytest.raises(SubscriptionLost, match="not read"):
            await anext(told)
        told.end()

    run(main())
