"""Pydantic AI: a session as a toolset of an agent."""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

import base64
import json
import logging

from .._errors import (
    CallInterruptedError,
    NotAdmittedError,
    ServerError,
    TimeoutError,
    ToolNotFoundError,
    UnavailableError,
    invalid,
)
from .._listed import defined
from .._progress import call_options
from . import (
    Malformed,
    content,
    encoded,
    error_text,
    hints,
    holder,
    of_servers,
    member,
    mime_type,
    missing,
    servers_of,
    shaped,
    shown,
    text_of,
    until_listed,
)

try:
    from pydantic_ai import ModelRetry, ToolFailed, UserError
    from pydantic_ai.messages import BinaryContent, InstructionPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset
    from pydantic_ai.toolsets.abstract import ToolsetTool
    from pydantic_core import SchemaValidator, core_schema

    from . import _pydantic_ai as lists
except ImportError as error:
    raise missing("pydantic_ai", "pydantic-ai-slim>=2.16", error) from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    import trunkline
    from trunkline.types import ToolShape

__all__ = ["SessionToolset", "ToolError"]

_log = logging.getLogger("trunkline")

#: The server judges the arguments, by the schema that the model was shown.
_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))


class SessionToolset(AbstractToolset):
    """The tools of a session's view, or of some of its servers, under their exposed names.

    They are read at each step of a run, so that what changes is there at the next. An error that a tool reports is a ``ModelRetry``: the
    model sees it and may try again, up to ``max_retries`` (by default the agent's). So is what a model can go on from: an error of the server, a lost
    connection, a time-out, with the ``trunkline.TrunklineError`` as ``__cause__`` and whether the call may have run among the words. With ``tool_error_behavior="failed"`` an error
    that a tool reports is a ``ToolFailed``, which the model sees and which counts for no retry; with ``"error"`` all of these end the run. What else the pool raises always does.
    With ``include_instructions`` the agent's instructions have those of the servers. ``process_tool_call(ctx, call, name, arguments)`` stands between the model and each call.
    Schemas are as the API of the run's model takes them, and arguments go to the server under its own names.
    Entering waits until each server is ready, has failed or sleeps; leaving ends nothing of the session or pool. ``on_progress`` gets the
    run's context, the name of the tool and each ``progress`` event. Further options are those of each call, such as ``timeout``.
    """

    def __init__(
        self,
        session: trunkline.Session,
        *,
        servers: Iterable[str] | None = None,
        id: str | None = None,
        max_retries: int | None = None,
        on_progress: Callable[[Any, str, trunkline.Event], object] | None = None,
        tool_error_behavior: str = "retry",
        process_tool_call: Callable[..., Any] | None = None,
        include_instructions: bool = False,
        **options: Any,
    ) -> None:
        if tool_error_behavior not in ("retry", "error", "failed"):
            raise UserError(f"tool_error_behavior is {tool_error_behavior!r}, not 'retry', 'error' or 'failed'")
        call_options(options)  # What is none is refused here, and not amid a run.
        self._session, self._options = session, options
        self._behavior, self._process = tool_error_behavior, process_tool_call
        self._instructs = include_instructions
        self._servers = None if servers is None else set(servers)
        self._id, self._max_retries, self._on_progress = id, max_retries, on_progress

    @property
    def id(self) -> str | None:
        """What it was given."""
        return self._id

    @id.setter
    def id(self, id: str | None) -> None:
        self._id = id

    @property
    def tool_name_conflict_hint(self) -> str:
        """What to do about a name that another toolset has too."""
        return 'Wrap the toolset with `.prefixed("...")`, or take the tools of some servers alone with `servers`.'

    async def __aenter__(self) -> SessionToolset:
        await self._session.ready()
        return self

    async def __aexit__(self, *exception: object) -> None:
        """There is nothing of its own."""

    async def get_tools(self, ctx: Any) -> dict[str, Any]:
        """The tools as they are now; what was announced is among them."""
        await until_listed(self._session, self._servers)
        listed = shaped(self._session, self._servers, _shape_of(ctx.model))
        tools = {tool.name: self._tool(tool, definition, ctx) for tool, definition in listed}
        return {name: tool for name, tool in tools.items() if _is_taken(tool.tool_def, ctx.model)}

    def _tool(self, listed: trunkline.ListedItem, definition: dict[str, Any], ctx: Any) -> Any:
        return ToolsetTool(
            toolset=self,
            tool_def=ToolDefinition(
                name=listed.name,
                description=definition.get("description"),
                parameters_json_schema=definition["inputSchema"],
                return_schema=definition.get("outputSchema") or None,
                metadata={
                    "server": listed.server,
                    "own_name": listed.own_name,
                    "title": definition.get("title") or hints(definition).get("title"),
                    "annotations": definition.get("annotations"),
                    "meta": definition.get("_meta"),
                    "output_schema": definition.get("outputSchema"),
                },
            ),
            max_retries=ctx.max_retries if self._max_retries is None else self._max_retries,
            args_validator=_ANY_OBJECT,
        )

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        """Calls a tool by its exposed name."""

        async def call(name: str, arguments: dict[str, Any], metadata: dict[str, Any] | None = None) -> Any:
            return await self._called(ctx, name, arguments, metadata)

        if self._process is None:
            return await call(name, tool_args)
        return await self._process(ctx, call, name, tool_args)

    async def direct_call_tool(self, name: str, args: dict[str, Any], metadata: dict[str, Any] | None = None) -> Any:
        """Calls a tool by its exposed name outside of a run: ``process_tool_call`` is not asked, and ``on_progress`` gets None for the context."""
        return await self._called(None, name, args, metadata)

    async def _called(self, ctx: Any, name: str, arguments: dict[str, Any], meta: dict[str, Any] | None) -> Any:
        options = {"shape": "any" if ctx is None else _shape_of(ctx.model), **self._options}
        if meta is not None:
            options["meta"] = meta
        if self._on_progress is not None:
            told = self._on_progress
            options["progress"] = lambda event: told(ctx, name, event)
        try:
            result = await self._session.call_tool(name, arguments, **options)
        except _GOES_ON as error:
            if self._behavior == "error":
                raise
            # What the server answered says by itself what became of the call.
            is_open = error.outcome == "unknown" and not isinstance(error, ServerError)
            raise ModelRetry(f"{error}{_MAY_HAVE_RUN if is_open else ''}") from error
        if not result.is_error:
            return _output(result)
        raise _RAISED[self._behavior](_told(result))

    async def get_instructions(self, ctx: Any) -> Any:
        """What the servers say of how they are to be used, a part for each, with ``include_instructions``."""
        if not self._instructs:
            return None
        said = [self._said_by(server) for server in sorted(await servers_of(self._session) if self._servers is None else self._servers)]
        return [InstructionPart(content=text, dynamic=True) for text in said if text]

    def _said_by(self, server: str) -> str | None:
        try:
            said = self._session.introduction(server)
        except NotAdmittedError:  # One that is configured nowhere says nothing.
            return None
        return None if said is None else said["instructions"]

    async def list_prompts(self) -> list[Any]:
        """The prompts of the session's view, each with its ``server``."""
        return await self._listed(self._session.prompts, lists.prompt)

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> Any:
        """Gets a prompt of the first server that lists it; one that none lists, of the only server."""
        server = await holder(self._session, self._servers, self._session.prompts, name, "name")
        async with self._session.acquire(server) as lease:
            return lists.prompt_result((await lease.get_prompt(name, arguments)).decoded, _block)

    async def list_resources(self) -> list[Any]:
        """The resources of the session's view, each with its ``server``."""
        return await self._listed(self._session.resources, lists.resource)

    async def list_resource_templates(self) -> list[Any]:
        """The resource templates of the session's view, each with its ``server``."""
        return await self._listed(self._session.resource_templates, lists.template)

    async def read_resource(self, uri: Any) -> Any:
        """Reads a resource: as it is listed, of its server; by its address, of the first server that lists it, or of the only one.

        A text is a ``str``, and bytes are ``BinaryContent``; several parts are a list.
        """
        address, server = (uri, None) if isinstance(uri, str) else (uri.uri, getattr(uri, "server", None))
        if server is None:
            server = await holder(self._session, self._servers, self._session.resources, address, "uri")
        elif self._servers is not None and server not in self._servers:
            raise invalid(f"the resource is of {server!r}, which is not a server of the toolset", path="uri.server")
        async with self._session.acquire(server) as lease:
            return lists.read((await lease.read_resource(address)).decoded)

    async def _listed(self, rows: Callable[[], Sequence[trunkline.ListedItem]], kind: Callable[..., Any]) -> list[Any]:
        await until_listed(self._session, self._servers)
        return [kind(row.server, row.own_name, definition) for row, definition in defined(of_servers(rows(), self._servers))]



class ToolError(Exception):
    """A tool that reports an error, with ``tool_error_behavior="error"``."""


#: What an error that a tool reports is, by the ``tool_error_behavior``.
_RAISED: dict[str, Any] = {"retry": ModelRetry, "failed": ToolFailed, "error": ToolError}

#: What a model can go on from.
_GOES_ON = (ServerError, CallInterruptedError, UnavailableError, TimeoutError, ToolNotFoundError)

_MAY_HAVE_RUN = " (the call may have run)"

#: The shapes of the APIs that models of the framework speak, by the name of their system.
_SHAPES: dict[str, ToolShape] = {
    "anthropic": "anthropic",
    "openai": "openai",
    "azure": "openai",
    "google": "gemini",
    "google-cloud": "gemini",
    "google-gla": "gemini",
    "google-vertex": "gemini",
}


def _shape_of(model: Any) -> ToolShape:
    """The shape of the model's API; of one that is not known, or stands for several, what all take."""
    return "any" if hasattr(model, "models") else _SHAPES.get(getattr(model, "system", None) or "", "any")


def _is_taken(tool: Any, model: Any) -> bool:
    """Whether the framework can put a tool's schema into the model's terms, as it does for each request: one that it cannot costs the run.

    Of a model that stands for several each is asked, since any may be the one.
    """
    asked = ModelRequestParameters(function_tools=[tool])
    try:
        for one in getattr(model, "models", [model]):
            one.customize_request_parameters(asked)
    except UserError as error:
        _log.warning("left out of a list: %r of %r: %s", tool.name, tool.metadata["server"], error)
        return False
    return True


def _told(result: trunkline.CallResult) -> str:
    """The text of an error for a model: the structured content, which says more than the text beside it, else the texts."""
    structured = result.structured_content
    return json.dumps(_unwrapped(structured), ensure_ascii=False) if structured else error_text(result)


def _unwrapped(structured: Any) -> Any:
    is_wrapped = isinstance(structured, dict) and list(structured) == ["result"]
    return structured["result"] if is_wrapped else structured


def _output(result: trunkline.CallResult) -> Any:
    """Structured content where there is some and nothing but text beside it, else the blocks.

    A member ``result`` alone stands for its value, which is not an object: SDKs wrap such values so. An empty list is no structured content where
    there is a text: PHP writes nothing so.
    """
    blocks, structured = content(result), result.structured_content
    is_text = (isinstance(block, dict) and block.get("type") == "text" for block in blocks)
    if structured is not None and not (structured == [] and blocks) and all(is_text):
        return _unwrapped(structured)
    mapped = [_block(block) for block in shown(result)]
    return mapped[0] if len(mapped) == 1 else mapped


def _block(block: Any) -> Any:
    """A content block of the protocol as Pydantic AI gives it to models. One that is not as the protocol has it stays as it is."""
    try:
        return _known(block)
    except Malformed:
        return block


def _known(block: Any) -> Any:
    kind = member(block, "type")
    if kind == "text":
        return member(block, "text")
    if kind in ("image", "audio"):
        return _binary(encoded(block, "data"), member(block, "mimeType"))
    if kind == "resource_link":
        return member(block, "uri")
    if kind == "resource":
        contents = block.get("resource")
        if (text := text_of(contents)) is not None:
            return text
        return _binary(encoded(contents, "blob"), mime_type(contents) or "application/octet-stream")
    return block


def _binary(data: str, mime: str) -> Any:
    return BinaryContent.narrow_type(BinaryContent(data=base64.b64decode(data), media_type=mime))
