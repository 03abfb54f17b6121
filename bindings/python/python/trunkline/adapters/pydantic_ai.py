"""Pydantic AI: a session as a toolset of an agent."""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

import base64
import logging

from .._results import defined
from . import Malformed, content, encoded, member, mime_type, missing, texts

try:
    from pydantic_ai import ModelRetry, UserError
    from pydantic_ai.messages import BinaryContent
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset
    from pydantic_ai.toolsets.abstract import ToolsetTool
    from pydantic_core import SchemaValidator, core_schema
except ImportError as error:
    raise missing("pydantic_ai", "pydantic-ai-slim", error) from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    import trunkline

__all__ = ["SessionToolset"]

_log = logging.getLogger("trunkline")

#: The server judges the arguments, by the schema that the model was shown.
_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))


class SessionToolset(AbstractToolset):
    """The tools of a session's view, or of some of its servers, under their exposed names.

    They are read at each step of a run, so that what changes is there at the next. An error that a tool reports is a ``ModelRetry``: the
    model sees it and may try again, up to ``max_retries`` (by default the agent's). What the pool raises, a ``trunkline.TrunklineError``, ends the run.
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
        **options: Any,
    ) -> None:
        self._session, self._options = session, options
        self._servers = None if servers is None else set(servers)
        self._id, self._max_retries, self._on_progress = id, max_retries, on_progress

    @property
    def id(self) -> str | None:
        """What it was given."""
        return self._id

    async def __aenter__(self) -> SessionToolset:
        await self._session.ready()
        return self

    async def __aexit__(self, *exception: object) -> None:
        """There is nothing of its own."""

    async def get_tools(self, ctx: Any) -> dict[str, Any]:
        """The tools as they are now."""
        listed = self._session.tools()
        wanted = (tool for tool in listed if self._servers is None or tool.server in self._servers)
        tools = {tool.name: self._tool(tool, definition, ctx) for tool, definition in defined(wanted)}
        return {name: tool for name, tool in tools.items() if _is_taken(tool.tool_def, ctx.model)}

    def _tool(self, listed: trunkline.Listed, definition: dict[str, Any], ctx: Any) -> Any:
        return ToolsetTool(
            toolset=self,
            tool_def=ToolDefinition(
                name=listed.name,
                description=definition.get("description"),
                parameters_json_schema=definition.get("inputSchema") or {"type": "object", "properties": {}},
                metadata={
                    "server": listed.server,
                    "own_name": listed.own_name,
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
        options = dict(self._options)
        if self._on_progress is not None:
            told = self._on_progress
            options["progress"] = lambda event: told(ctx, name, event)
        result = await self._session.call_tool(name, tool_args, **options)
        if result.is_error:
            raise ModelRetry("\n".join(texts(result)) or f"{name} reports an error without a text")
        return _output(result)


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


def _output(result: trunkline.CallResult) -> Any:
    """Structured content where there is some and nothing but text beside it, else the blocks."""
    blocks = content(result)
    is_text = (isinstance(block, dict) and block.get("type") == "text" for block in blocks)
    if result.structured_content is not None and all(is_text):
        return result.structured_content
    mapped = [_block(block) for block in blocks]
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
        if isinstance(contents, dict) and "text" in contents:
            return member(contents, "text")
        return _binary(encoded(contents, "blob"), mime_type(contents) or "application/octet-stream")
    return block


def _binary(data: str, mime: str) -> Any:
    return BinaryContent(data=base64.b64decode(data), media_type=mime)
