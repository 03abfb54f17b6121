"""LangChain and LangGraph: the tools of a session as LangChain's.

``await get_tools(session)`` gives the tools for an agent that keeps the ones that it is made with; ``tools(session)`` gives them as they are
now, without waiting. ``LiveTools(session)`` is a middleware of ``create_agent`` that has the session's tools of the moment at each turn.
"""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

import inspect
import json
import logging
from typing import Any  # LangGraph evaluates the annotations of a tool's function.

from .._progress import call_options
from . import Malformed, bytes_of, encoded, error_text, hints, member, mime_type, missing, shaped, shown, text_of, until_listed

try:
    from langchain_core.documents.base import Blob
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.messages import content as blocks
    from langchain_core.tools import BaseTool, StructuredTool, ToolException
    from langchain_core.utils.json_schema import dereference_refs

    from ._pydantic import written
except ImportError as error:
    raise missing("langchain", "langchain-core", error) from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import trunkline
    from trunkline.types import ToolShape
    import trunkline.sync

    _Audience = Callable[[str, trunkline.Event], object]
    _AnySession = trunkline.Session | trunkline.sync.Session

__all__ = ["LiveTools", "ToolError", "get_tools", "prompt", "resources", "tools"]

_log = logging.getLogger("trunkline")


class ToolError(ToolException):
    """A tool that reports an error. By default the model is shown it, as a message with the status ``error``."""

    def __init__(self, result: trunkline.CallResult) -> None:
        super().__init__(error_text(result))
        #: What the server sent.
        self.result = result


def tools(
    session: _AnySession,
    *,
    servers: Iterable[str] | None = None,
    on_progress: _Audience | None = None,
    raise_errors: bool = False,
    shape: ToolShape = "any",
    **options: Any,
) -> list[BaseTool]:
    """The tools of the session's view as it is now, or those of some servers.

    The tools of an asyncio session are for ``ainvoke``, those of a ``trunkline.sync`` one for ``invoke``; under ``ainvoke`` these run in a
    thread, and cancelling the agent does not cancel the call. The content of a message is
    a list of LangChain's standard blocks, its artifact ``{"structured_content": …, "meta": …}``, or None where the server sent neither. ``on_progress`` gets the
    name of the tool and each ``progress`` event. With ``raise_errors`` an error that a tool reports is raised as ``ToolError``; one of the pool
    (``trunkline.TrunklineError``) always is. ``shape`` is that of the model's API (``Session.tools_for``), by default what all of them take; arguments
    go to the server under its own names. Further options are those of each call, such as ``timeout``.
    """
    asked = {"shape": shape, **options}
    call_options(asked)  # What is none is refused here, and not amid a run.
    offered = ((tool, {**definition, "inputSchema": _named(definition["inputSchema"])}) for tool, definition in shaped(session, servers, shape))
    followed = (each for each in offered if _is_followed(each[0], each[1]["inputSchema"]))
    return [_tool(session, *each, on_progress, raise_errors, asked) for each in followed]


async def get_tools(
    session: trunkline.Session,
    *,
    servers: Iterable[str] | None = None,
    on_progress: _Audience | None = None,
    raise_errors: bool = False,
    shape: ToolShape = "any",
    **options: Any,
) -> list[BaseTool]:
    """What ``tools`` gives. Waits up to 5 s for list changes that servers announced."""
    call_options({"shape": shape, **options})  # What is none is refused before the wait.
    wanted = None if servers is None else list(servers)
    await until_listed(session, wanted)
    return tools(session, servers=wanted, on_progress=on_progress, raise_errors=raise_errors, shape=shape, **options)


async def prompt(
    session: trunkline.Session, server: str, name: str, arguments: dict[str, str] | None = None, **options: Any
) -> list[HumanMessage | AIMessage]:
    """A prompt of a server, as messages. What is not a text in it is a list of LangChain's standard blocks. Options are those of the request, such as ``timeout``."""
    async with session.acquire(server) as lease:
        decoded = (await lease.get_prompt(name, arguments, **options)).decoded
    said = decoded.get("messages")
    return [_message(each) for each in said if isinstance(each, dict)] if isinstance(said, list) else []


def _message(said: dict[str, Any]) -> HumanMessage | AIMessage:
    kind, content = AIMessage if said.get("role") == "assistant" else HumanMessage, said.get("content")
    text = content.get("text") if isinstance(content, dict) and content.get("type") == "text" else None
    return kind(text if isinstance(text, str) else [_block(content)])


async def resources(
    session: trunkline.Session, server: str, *, uris: str | Iterable[str] | None = None, **options: Any
) -> list[Blob]:
    """What is read at some addresses of a server, as blobs with their ``uri`` as metadata; at each that it lists, unless ``uris`` are given."""
    if uris is None:
        await session.listed(server)
    listed = [row.own_name for row in session.resources() if row.server == server]
    wanted = listed if uris is None else [uris] if isinstance(uris, str) else list(uris)
    read: list[Blob] = []
    async with session.acquire(server) as lease:
        for uri in wanted:
            contents = (await lease.read_resource(uri, **options)).decoded.get("contents")
            read += [_blob(each, uri) for each in contents] if isinstance(contents, list) else []
    return read


def _blob(contents: Any, uri: str) -> Blob:
    """One that is not as the protocol has it is a text, which is its JSON."""
    try:
        mime = mime_type(contents) if isinstance(contents, dict) else None
        text = text_of(contents)
        data: str | bytes = bytes_of(contents) if text is None else text
    except Malformed:
        data, mime = json.dumps(contents, ensure_ascii=False), "application/json"
    return Blob.from_data(data, mime_type=mime, metadata={"uri": uri})


class _Names(dict[str, Any]):
    """Parameters by their names, where LangChain finds no reference: it takes a parameter that is called ``$ref`` for one."""

    def __contains__(self, name: object) -> bool:
        return name != "$ref" and super().__contains__(name)


def _named(schema: Any) -> Any:
    """A schema whose parameters have any name."""
    if isinstance(schema, list):
        return [_named(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    out = {}
    for keyword, value in schema.items():
        if keyword in _BY_NAME and isinstance(value, dict):
            by_name = {name: _named(inner) for name, inner in value.items()}
            out[keyword] = _Names(by_name) if "$ref" in by_name else by_name
        else:
            # Values are no schemas.
            out[keyword] = value if keyword in _VALUES else _named(value)
    return out


_BY_NAME = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
_VALUES = {"const", "default", "enum", "examples"}


def _is_followed(tool: trunkline.ListedItem, schema: dict[str, Any]) -> bool:
    """Whether LangChain can follow the references of a schema, as it does when tools are offered to a model: one that it cannot costs all of them."""
    try:
        dereference_refs(schema)
    except Exception as error:  # It promises no type.
        _log.warning("left out of a list: %r of %r: its schema cannot be followed: %r", tool.name, tool.server, error)
        return False
    return True


class _Tool(StructuredTool):
    """A tool whose arguments travel as one value: as keywords, some names would be LangChain's own, such as ``config``."""

    def _to_args_and_kwargs(self, tool_input: Any, tool_call_id: str | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self._parse_input(tool_input, tool_call_id),), {}


def _tool(
    session: _AnySession,
    listed: trunkline.ListedItem,
    definition: dict[str, Any],
    on_progress: _Audience | None,
    raise_errors: bool,
    options: dict[str, Any],
) -> BaseTool:
    name = listed.name
    asked = dict(options)
    if on_progress is not None:
        told = on_progress
        asked["progress"] = lambda event: told(name, event)

    async def wait(arguments: dict[str, Any]) -> tuple[Any, Any]:
        return _output(await session.call_tool(name, written(arguments), **asked))  # type: ignore[misc]

    def block(arguments: dict[str, Any]) -> tuple[Any, Any]:
        return _output(session.call_tool(name, written(arguments), **asked))  # type: ignore[arg-type]

    waits = inspect.iscoroutinefunction(session.call_tool)
    return _Tool(
        name=name,
        description=definition.get("description") or "",
        args_schema=definition["inputSchema"],
        coroutine=wait if waits else None,
        func=None if waits else block,
        response_format="content_and_artifact",
        handle_tool_error=False if raise_errors else _shown,
        # Each hint by itself too, where agents of the peer look for it.
        metadata={
            **hints(definition),
            "server": listed.server,
            "own_name": listed.own_name,
            "title": definition.get("title") or hints(definition).get("title"),
            "annotations": hints(definition),
            "_meta": definition.get("_meta"),
        },
    )


def _output(result: trunkline.CallResult) -> tuple[Any, Any]:
    if result.is_error:
        raise ToolError(result)
    return [_block(block) for block in shown(result)], _artifact(result)


def _artifact(result: trunkline.CallResult) -> dict[str, Any] | None:
    """What the blocks do not have, where the server sent any of it."""
    structured, meta = result.structured_content, result.meta
    if structured is None and not meta:
        return None
    return {"structured_content": structured, **({"meta": meta} if meta else {})}


def _shown(error: ToolException) -> Any:
    return [_block(block) for block in shown(error.result)] if isinstance(error, ToolError) else str(error)


def _block(block: Any) -> Any:
    """A content block of the protocol as one of LangChain's. One that is not as the protocol has it, or that LangChain refuses, is a text, which is its JSON."""
    try:
        made = _known(block)
    except (Malformed, ValueError):
        made = None
    return blocks.create_text_block(json.dumps(block, ensure_ascii=False)) if made is None else made


def _known(block: Any) -> Any:
    kind = member(block, "type")
    if kind == "text":
        return blocks.create_text_block(member(block, "text"))
    if kind == "image":
        return blocks.create_image_block(base64=encoded(block, "data"), mime_type=member(block, "mimeType"))
    if kind == "audio":  # Messages of tools have no block for sound but a file.
        return blocks.create_file_block(base64=encoded(block, "data"), mime_type=member(block, "mimeType"))
    if kind == "resource_link":
        mime = mime_type(block)
        # What can be looked at is a picture: model APIs take no other file by its address.
        create = blocks.create_image_block if (mime or "").startswith("image/") else blocks.create_file_block
        return create(url=member(block, "uri"), mime_type=mime)
    return _resource(block.get("resource")) if kind == "resource" else None


def _resource(contents: Any) -> Any:
    if (text := text_of(contents)) is not None:
        return blocks.create_text_block(text)
    blob, mime = encoded(contents, "blob"), mime_type(contents, "application/octet-stream") or ""
    create = blocks.create_image_block if mime.startswith("image/") else blocks.create_file_block
    return create(base64=blob, mime_type=mime)


def __getattr__(name: str) -> Any:
    """``LiveTools`` needs the package ``langchain`` and not its core alone, so it is made when it is asked for."""
    if name != "LiveTools":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made = _live_tools()
    return made


def _live_tools() -> type:
    try:
        from langchain.agents.middleware import AgentMiddleware
    except ImportError as error:
        raise missing("langchain", "langchain", error) from error

    class LiveTools(AgentMiddleware):
        """A middleware: the model is offered the session's tools as they are at each of its turns, and any of them is called.

        It takes what ``tools`` takes. A tool that has gone meanwhile is no longer called: the model is told that there is none.
        """

        def __init__(self, session: trunkline.Session, **options: Any) -> None:
            super().__init__()
            self._session, self._options = session, options
            self._revision = 0
            self._tools: list[BaseTool] = []

        def _current(self) -> list[BaseTool]:
            revision = self._session.tools().revision
            if revision != self._revision:
                self._revision, self._tools = revision, tools(self._session, **self._options)
            return self._tools

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            """Offers the tools of the moment beside those of the agent."""
            # An agent may have been made with some of them; model APIs refuse a name that is there twice.
            offered = {getattr(tool, "name", None) for tool in request.tools}
            await until_listed(self._session, self._options.get("servers"))
            current = [tool for tool in self._current() if tool.name not in offered]
            return await handler(request.override(tools=[*request.tools, *current]))

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            """Finds the tool that was offered."""
            if request.tool is None:
                name = request.tool_call["name"]
                found = next((tool for tool in self._current() if tool.name == name), None)
                request = request if found is None else request.override(tool=found)
            return await handler(request)

    return LiveTools
