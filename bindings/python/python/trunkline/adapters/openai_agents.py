"""The OpenAI Agents SDK: a session as one of an agent's ``mcp_servers``."""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

from .._listed import defined
from . import holder, missing, of_servers, shaped, shown, until_listed

try:
    from agents.mcp import MCPServer
    from mcp import types

    from ._mcp import as_mcp, call_result, models, prompt_result, resource_result
    from ._mcp_messages import Messages
except ImportError as error:
    raise missing("openai_agents", "openai-agents", error) from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    import trunkline
    from trunkline.types import ToolShape

__all__ = ["SessionServer"]


class SessionServer(MCPServer):
    """All servers of a session, or some, as one server of an agent: names are the exposed ones.

    ``connect`` waits until each server is ready, has failed or sleeps; ``cleanup`` ends nothing of the session or pool. The tools are read at each turn, so that
    what changes is there at the next. ``on_progress`` gets the name of the tool and each ``progress`` event; ``timeout`` is the seconds of each call, ``wait`` and ``retry`` are
    those of ``call_tool``, ``message_handler`` gets the notifications of ``mcp`` of what lists, resources and logs tell, and ``shape`` is that of the model's API (``Session.tools_for``), by default what all of them take; arguments go to the server under its own names. Further options are
    those of the SDK's ``MCPServer``, such as ``require_approval``.
    What the pool raises is ``mcp``'s error, with the ``trunkline.TrunklineError`` as ``__cause__``, and goes through the SDK's ``failure_error_function``.
    """

    def __init__(
        self,
        session: trunkline.Session,
        *,
        servers: Iterable[str] | None = None,
        name: str | None = None,
        timeout: float | None = None,
        on_progress: Callable[[str, trunkline.Event], object] | None = None,
        wait: bool = False,
        retry: str = "never",
        shape: ToolShape = "any",
        message_handler: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._shape, self._of_calls = shape, {"wait": wait, "retry": retry, "shape": shape}
        self._session, self._timeout, self._on_progress = session, timeout, on_progress
        self._servers = None if servers is None else set(servers)
        self._name = name or session.id
        wanted = self._servers
        self._messages = Messages(None, message_handler, lambda server: wanted is None or server in wanted)

    @property
    def name(self) -> str:
        """The session's id, unless it was given another."""
        return self._name

    async def connect(self) -> None:
        """Waits for the servers of the session. ``message_handler`` hears of them from now on."""
        await self._session.ready()
        self._messages.begin(self._session)

    async def cleanup(self) -> None:
        """The session stays as it is; ``message_handler`` is told no more."""
        await self._messages.end()

    async def __aenter__(self) -> SessionServer:
        await self.connect()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.cleanup()

    async def list_tools(self, run_context: Any = None, agent: Any = None) -> list[Any]:
        """The tools of the session's view, under their exposed names; what was announced is among them."""
        await until_listed(self._session, self._servers)
        tools = shaped(self._session, self._servers, self._shape)
        return models(types.Tool, [definition for _, definition in tools])

    async def call_tool(
        self, tool_name: str, arguments: dict[str, Any] | None, meta: dict[str, Any] | None = None
    ) -> Any:
        """Calls a tool by its exposed name."""
        options: dict[str, Any] = {"timeout": self._timeout, "idle_timeout": self._timeout, "meta": meta, **self._of_calls}
        if self._on_progress is not None:
            told = self._on_progress
            options["progress"] = lambda event: told(tool_name, event)
        with as_mcp():
            result = await self._session.call_tool(tool_name, arguments, **options)
            decoded = result.decoded
        # The SDK shows a model the blocks alone.
        return call_result({**decoded, "content": shown(result)} if not decoded.get("content") else decoded)

    async def list_prompts(self) -> Any:
        """The prompts of the session's view; servers that have one of the same name are told apart by ``servers``."""
        await until_listed(self._session, self._servers)
        prompts = self._definitions(self._session.prompts())
        return types.ListPromptsResult.model_validate({"prompts": models(types.Prompt, prompts)})

    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        """Gets a prompt of the first server that lists it; one that none lists, of the only server."""
        with as_mcp():
            server = await holder(self._session, self._servers, self._session.prompts, name, "name")
            async with self._session.acquire(server) as lease:
                decoded = (await lease.get_prompt(name, arguments)).decoded
        return prompt_result(decoded)

    async def list_resources(self, cursor: str | None = None) -> Any:
        """The resources of the session's view, in one page."""
        await until_listed(self._session, self._servers)
        resources = self._definitions(self._session.resources())
        return types.ListResourcesResult.model_validate({"resources": models(types.Resource, resources)})

    async def list_resource_templates(self, cursor: str | None = None) -> Any:
        """The resource templates of the session's view, in one page."""
        await until_listed(self._session, self._servers)
        templates = self._definitions(self._session.resource_templates())
        listed = models(types.ResourceTemplate, templates)
        return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": listed})

    async def read_resource(self, uri: str) -> Any:
        """Reads a resource of the first server that lists it; one that none lists, of the only server."""
        with as_mcp():
            server = await holder(self._session, self._servers, self._session.resources, uri, "uri")
            async with self._session.acquire(server) as lease:
                decoded = (await lease.read_resource(uri)).decoded
        return resource_result(decoded, uri)

    def _definitions(self, rows: Sequence[trunkline.ListedItem]) -> list[dict[str, Any]]:
        return [definition for _, definition in defined(of_servers(rows, self._servers))]
