"""What servers tell on their own, as the notifications of the PyPI package ``mcp``, for the callbacks of its clients."""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

import asyncio
import inspect
import logging

from mcp import types

from .._errors import ProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    import trunkline
    from trunkline.types import EventKind

#: Seconds that a progress callback has, after the result came, for what it was not told yet.
TOLD_WITHIN = 10.0

#: Steps of progress that may wait for a callback; the oldest make room.
_UNTOLD_MAX = 1000

#: Which of the session's events is which notification.
CHANGES: dict[EventKind, str] = {
    "tools_changed": "ToolListChangedNotification",
    "prompts_changed": "PromptListChangedNotification",
    "resources_changed": "ResourceListChangedNotification",
}


class Messages:
    """Tells callbacks what the servers of a session say on their own, or one of them, from ``begin`` until ``end``."""

    def __init__(
        self,
        logging_callback: Callable[[Any], Any] | None,
        message_handler: Callable[[Any], Any] | None,
        is_of: Callable[[str | None], bool],
    ) -> None:
        self._logging_callback, self._message_handler, self._is_of = logging_callback, message_handler, is_of
        self._listener: asyncio.Task[None] | None = None
        self._is_over = False

    def begin(self, session: trunkline.Session) -> None:
        """Listens, if anybody is to be told, unless it does."""
        if self._listener is not None:
            return
        if self._logging_callback is not None or self._message_handler is not None:
            kinds: list[EventKind] = [*CHANGES, "resource_updated", "log", "elicitation_completed"]
            stream = session.events(kinds=kinds)
            self._is_over = False
            self._listener = asyncio.create_task(self.hear(stream))

    async def end(self) -> None:
        """Nobody is told any more. What a callback does at its end is waited for."""
        self._is_over = True
        listener, self._listener = self._listener, None
        # A callback may end the block that it is told from; the listener then ends after it.
        if listener is not None and listener is not asyncio.current_task():
            listener.cancel()
            # `gather` would raise a cancellation of its own, which no scope of anyio takes for its.
            await asyncio.wait([listener])

    async def hear(self, stream: trunkline.EventStream) -> None:
        """Tells what comes in a stream."""
        async with stream:
            async for event in stream:
                for kind in self._kinds(event):
                    try:
                        await self._tell(kind, event)
                    except Exception:
                        _log.exception("a callback failed")
                if self._is_over:
                    return

    def _kinds(self, event: trunkline.events.AnyEvent) -> Iterable[EventKind]:
        try:
            if event.type == "lagged":
                return CHANGES  # What was missed may have been a change of any list.
            return [event.type] if self._is_of(event.server) else []
        except ProtocolError as error:
            _log.warning("left out of the messages: %s", error)
            return []

    async def _tell(self, what: EventKind, event: trunkline.Event) -> None:
        kind, params = CHANGES.get(what), None
        if what == "resource_updated":
            kind, params = "ResourceUpdatedNotification", {"uri": event["uri"]}
        elif what == "log":
            kind = "LoggingMessageNotification"
            params = {"level": event["level"], "logger": event.get("logger"), "data": event["data"]}
        elif what == "elicitation_completed":
            kind, params = "ElicitCompleteNotification", {"elicitationId": event["elicitation_id"]}
        assert kind is not None
        if not hasattr(types, kind):
            return  # Of a later version of the package.
        notification = notification_of(kind, params)
        if what == "log" and self._logging_callback is not None:
            await self._logging_callback(notification.params)
        if self._message_handler is not None:
            await self._message_handler(wrapped(notification))


def notification_of(kind: str, params: Mapping[str, Any] | None) -> Any:
    """A notification of that kind."""
    model = getattr(types, kind)
    method = model.model_fields["method"].default
    return model.model_validate({"method": method, **({"params": params} if params else {})})


def wrapped(notification: Any) -> Any:
    """What a ``message_handler`` gets: version 1 wraps notifications in a model of its own."""
    union = types.ServerNotification
    return union(notification) if isinstance(union, type) else notification


class Progress:
    """Tells a callback of the progress of one call, and a ``message_handler``, in the order of the wire."""

    def __init__(
        self,
        callback: Callable[[float, float | None, str | None], Any] | None,
        message_handler: Callable[[Any], Any] | None,
        token: Any,
    ) -> None:
        self._callback, self._message_handler, self._token = callback, message_handler, token
        self._untold: asyncio.Queue[trunkline.Event | None] = asyncio.Queue(_UNTOLD_MAX)
        self._task = asyncio.create_task(self._tell())

    def __call__(self, event: trunkline.Event | None) -> None:
        if self._untold.full():
            self._untold.get_nowait()
        self._untold.put_nowait(event)

    async def told(self) -> None:
        """Waits until it was told all, or hangs."""
        self(None)
        await asyncio.wait({self._task}, timeout=TOLD_WITHIN)

    def end(self) -> None:
        """It is told no more."""
        self._task.cancel()

    async def _tell(self) -> None:
        while (event := await self._untold.get()) is not None:
            for tell in (self._tell_callback, self._tell_handler):
                try:
                    answer = tell(event)
                    if inspect.isawaitable(answer):
                        await answer
                except Exception:
                    _log.exception("a progress callback failed")

    def _tell_callback(self, event: trunkline.Event) -> Any:
        if self._callback is not None:
            return self._callback(event["progress"], event.get("total"), event.get("message"))

    def _tell_handler(self, event: trunkline.Event) -> Any:
        if self._message_handler is not None:
            # The token of the wire is the library's own: what the caller wrote stands for it, or the number of the call.
            token = event["call"] if self._token is None else self._token
            params = {name: event[name] for name in ("progress", "total", "message") if event.get(name) is not None}
            return self._message_handler(wrapped(notification_of("ProgressNotification", {**params, "progressToken": token})))


_log = logging.getLogger("trunkline")
