"""What changes at a server, as ``listen`` of the clients of the PyPI package ``mcp`` tells it (version 2)."""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

import asyncio
import logging
from itertools import count

from mcp import types

from .._errors import ProtocolError

try:
    from mcp.client import subscriptions as told
except ImportError:  # Version 1 has none.
    told = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    import trunkline
    from trunkline.types import EventKind

#: Events that wait for a subscriber; who has more to read is lost.
_UNREAD_MAX = 1024

_ids = count(1)


def wanted(tools: bool, prompts: bool, resources: bool) -> dict[EventKind, Any]:
    """Which events of a session are told, and as what."""
    if told is None:
        raise RuntimeError("`listen` needs version 2 of the package mcp")
    asked: Sequence[tuple[bool, EventKind, Any]] = (
        (tools, "tools_changed", told.ToolsListChanged),
        (prompts, "prompts_changed", told.PromptsListChanged),
        (resources, "resources_changed", told.ResourcesListChanged),
    )
    return {name: kind() for is_asked, name, kind in asked if is_asked}


class Subscription:
    """An iterator of what changes: ``ToolsListChanged`` and the others of ``mcp.client.subscriptions``.

    What waits to be read is there once. It goes on over the loss of a connection, after which the lists are read anew. It ends with its
    block; with the client, or more than it keeps unread, it ends in ``SubscriptionLost``.
    """

    def __init__(self, server: str, lists: dict[EventKind, Any], uris: Sequence[str]) -> None:
        #: Unique in the process.
        self.subscription_id = f"listen-{next(_ids)}"
        #: All that was asked for.
        self.honored = types.SubscriptionFilter(
            tools_list_changed="tools_changed" in lists or None,
            prompts_list_changed="prompts_changed" in lists or None,
            resources_list_changed="resources_changed" in lists or None,
            resource_subscriptions=list(uris) or None,
        )
        self._server, self._lists, self._uris = server, lists, list(uris)
        self._unread: dict[Any, None] = {}
        self._come = asyncio.Event()
        self._why_lost: str | None = None
        self._is_over = False
        self._reader: asyncio.Task[None] | None = None

    def begin(self, session: trunkline.Session) -> None:
        """Listens from now on."""
        kinds: list[EventKind] = [*self._lists]
        if self._uris:
            kinds.append("resource_updated")
        stream = session.events(kinds=kinds or "tools_changed")
        self._reader = asyncio.create_task(self._read(stream))

    def lose(self, why: str) -> None:
        """The rest is lost."""
        self._why_lost = self._why_lost or why
        self._come.set()

    def end(self) -> None:
        """Nothing more is told."""
        self._is_over = True
        self._come.set()
        if self._reader is not None:
            self._reader.cancel()

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Any:
        while True:
            self._come.clear()
            if self._is_over:
                raise StopAsyncIteration
            if self._unread:
                event = next(iter(self._unread))
                del self._unread[event]
                return event
            if self._why_lost is not None:
                raise told.SubscriptionLost(f"{self.subscription_id}: {self._why_lost}")
            await self._come.wait()

    async def _read(self, stream: trunkline.EventStream) -> None:
        async with stream:
            async for event in stream:
                for told_of in self._told_of(event):
                    if len(self._unread) >= _UNREAD_MAX and told_of not in self._unread:
                        return self.lose(f"{_UNREAD_MAX} events were not read: listen again, and read everything anew")
                    self._unread.setdefault(told_of)
                self._come.set()
        self.lose("the session is over")

    def _told_of(self, event: trunkline.Event) -> Iterable[Any]:
        try:
            if event.type == "lagged":  # What was missed may have been anything.
                return [*self._lists.values(), *map(told.ResourceUpdated, self._uris)]
            if event.server != self._server:
                return []
            if event.type == "resource_updated":
                return [told.ResourceUpdated(event["uri"])] if self._uris else []
            return [self._lists[event.type]] if event.type in self._lists else []
        except ProtocolError as error:
            _log.warning("left out of a subscription: %s", error)
            return []


_log = logging.getLogger("trunkline")
