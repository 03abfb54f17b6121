"""The ``Client`` of the PyPI package ``mcp`` (version 2), for one server of a pool."""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

import uuid
import weakref
from contextlib import AsyncExitStack, asynccontextmanager

from .. import Pool
from .._errors import invalid
from . import _mcp_listen
from ._mcp_options import Explained, check_name, check_session, refuse
from ._mcp_session import ClientSession, handlers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from typing import Any

    import trunkline
    from trunkline.types import LogLevel, ToolShape


class Client(Explained):
    """One server of a pool or session, with the methods of ``mcp.Client``.

    ``Client(pool, "server")`` opens a session of its own, which the callbacks belong to; ``Client(session, "server")`` is a second hand on a
    session of the host's, whose ``handlers`` answer. ``async with`` takes a hold on the server and gives it up. A ``config`` is the server's
    configuration, a ``StdioServerParameters`` or an address; without one it is the pool's own server of that name. ``wait``, ``retry`` and ``shape``
    are those of ``ClientSession``. What ``mcp.Client`` takes and the pool decides is refused, unless it asks for nothing.
    """

    def __init__(
        self,
        owner: trunkline.Pool | trunkline.Session,
        server: str,
        config: Any = None,
        *,
        sampling_callback: Callable[[Any, Any], Any] | None = None,
        sampling_capabilities: Any = None,
        elicitation_callback: Callable[[Any, Any], Any] | None = None,
        log_level: LogLevel | None = None,
        read_timeout_seconds: Any = None,
        logging_callback: Callable[[Any], Any] | None = None,
        message_handler: Callable[[Any], Any] | None = None,
        wait: bool = False,
        retry: str = "never",
        shape: ToolShape = "any",
        **elsewhere: Any,
    ) -> None:
        refuse("Client", elsewhere)
        answering = {
            "sampling_callback": sampling_callback,
            "sampling_capabilities": sampling_capabilities,
            "elicitation_callback": elicitation_callback,
        }
        if not isinstance(owner, Pool):
            refuse("Client", answering)
        self._owner, self._server, self._config = owner, server, config
        self._handlers = handlers(**answering)
        self._of_session = {
            "read_timeout_seconds": read_timeout_seconds,
            "logging_callback": logging_callback,
            "message_handler": message_handler,
            "log_level": log_level,
            "wait": wait,
            "retry": retry,
            "shape": shape,
        }
        self._is_entered = False
        self._session: ClientSession | None = None
        self._stack: AsyncExitStack | None = None
        self._subscriptions: weakref.WeakSet[_mcp_listen.Subscription] = weakref.WeakSet()

    async def __aenter__(self) -> Client:
        if self._is_entered:
            raise RuntimeError("a client is entered once")
        self._is_entered = True
        async with AsyncExitStack() as stack:
            chat = self._owner
            if not isinstance(chat, Pool):
                check_session("owner", chat)
            check_name(self._server)
            if isinstance(chat, Pool):
                chat = chat.session(f"mcp-{uuid.uuid4().hex}", servers=[self._server], handlers=self._handlers)
                stack.callback(chat.close)
            self._chat = chat
            session = ClientSession(chat, self._server, self._config, **self._of_session)
            await stack.enter_async_context(session)
            await session.initialize()
            self._session, self._stack = session, stack.pop_all()
        return self

    async def __aexit__(self, *exception: Any) -> None:
        self._session = None
        for subscription in list(self._subscriptions):
            subscription.lose("the client is closed")
        stack, self._stack = self._stack, None
        if stack is not None:
            await stack.__aexit__(*exception)

    @property
    def session(self) -> ClientSession:
        """The same server as a ``ClientSession``."""
        if self._session is None:
            raise RuntimeError("use it in `async with`")
        return self._session

    @property
    def protocol_version(self) -> str | None:
        """The revision of the connection."""
        return self.session.protocol_version

    @property
    def server_info(self) -> Any:
        """The server's name and version."""
        return self.session.server_info

    @property
    def server_capabilities(self) -> Any:
        """What the server says that it offers."""
        return self.session.server_capabilities

    @property
    def instructions(self) -> str | None:
        """As of ``ClientSession``."""
        return self.session.instructions

    async def list_tools(self, *, cursor: str | None = None, meta: Any = None, cache_mode: str = "use") -> Any:
        """The server's tools in the session's view."""
        return await self.session.list_tools()

    async def list_prompts(self, *, cursor: str | None = None, meta: Any = None, cache_mode: str = "use") -> Any:
        """The server's prompts in the session's view."""
        return await self.session.list_prompts()

    async def list_resources(self, *, cursor: str | None = None, meta: Any = None, cache_mode: str = "use") -> Any:
        """The server's resources in the session's view."""
        return await self.session.list_resources()

    async def list_resource_templates(self, *, cursor: str | None = None, meta: Any = None, cache_mode: str = "use") -> Any:
        """The server's resource templates in the session's view."""
        return await self.session.list_resource_templates()

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        read_timeout_seconds: Any = None,
        progress_callback: Callable[[float, float | None, str | None], Any] | None = None,
        *,
        meta: Mapping[str, Any] | None = None,
        **elsewhere: Any,
    ) -> Any:
        """Calls a tool. What it needs on the way is asked of the callbacks, or of the session's ``handlers``."""
        refuse("call_tool", elsewhere)
        return await self.session.call_tool(name, arguments, read_timeout_seconds, progress_callback, meta=meta)

    async def read_resource(
        self, uri: Any, *, meta: Mapping[str, Any] | None = None, cache_mode: str = "use", **elsewhere: Any
    ) -> Any:
        """Reads a resource, of the server each time."""
        refuse("read_resource", elsewhere)
        return await self.session.read_resource(uri, meta=meta)

    async def get_prompt(
        self, name: str, arguments: dict[str, str] | None = None, *, meta: Mapping[str, Any] | None = None, **elsewhere: Any
    ) -> Any:
        """Gets a prompt."""
        refuse("get_prompt", elsewhere)
        return await self.session.get_prompt(name, arguments, meta=meta)

    async def complete(
        self, ref: Any, argument: dict[str, str], context_arguments: dict[str, str] | None = None
    ) -> Any:
        """Asks for completions."""
        return await self.session.complete(ref, argument, context_arguments)

    async def subscribe_resource(self, uri: Any, *, meta: Any = None) -> Any:
        """As of ``ClientSession``; of servers of both eras."""
        return await self.session.subscribe_resource(uri)

    async def unsubscribe_resource(self, uri: Any, *, meta: Any = None) -> Any:
        """The counterpart of ``subscribe_resource``."""
        return await self.session.unsubscribe_resource(uri)

    async def send_ping(self, *, meta: Any = None) -> Any:
        """Asks the server whether it is there."""
        return await self.session.send_ping()

    async def set_logging_level(self, level: str, *, meta: Any = None) -> Any:
        """As of ``ClientSession``."""
        return await self.session.set_logging_level(level)

    @asynccontextmanager
    async def listen(
        self,
        *,
        tools_list_changed: bool = False,
        prompts_list_changed: bool = False,
        resources_list_changed: bool = False,
        resource_subscriptions: Sequence[str] = (),
    ) -> AsyncIterator[_mcp_listen.Subscription]:
        """What changes, as an iterator of the events of ``mcp``; of servers of both eras."""
        if isinstance(resource_subscriptions, str):
            raise invalid("resource_subscriptions: a list of addresses, not one", path="resource_subscriptions")
        session, uris = self.session, list(resource_subscriptions)
        lists = _mcp_listen.wanted(tools_list_changed, prompts_list_changed, resources_list_changed)
        subscription = _mcp_listen.Subscription(self._server, lists, uris)
        async with AsyncExitStack() as stack:
            stack.callback(subscription.end)
            subscription.begin(self._chat)
            for uri in uris:
                await session.subscribe_resource(uri)
                stack.push_async_callback(_given_up, session, uri)
            self._subscriptions.add(subscription)
            yield subscription


async def _given_up(session: ClientSession, uri: str) -> None:
    if session.is_held:  # What was given up has no subscriptions either.
        await session.unsubscribe_resource(uri)
