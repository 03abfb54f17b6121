"""What servers answer in the types of the PyPI package ``mcp``, and errors as its own."""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

import inspect
import json
import logging
from contextlib import contextmanager

from mcp import types
from mcp.shared import exceptions

from .._errors import (
    CallInterruptedError,
    ClosedError,
    ConnectError,
    DeclinedError,
    ServerError,
    TimeoutError,
    TrunklineError,
    UnavailableError,
)
from ._fit import fit, lost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

#: The error of ``mcp``, whatever its version calls it.
MCPError: Any = getattr(exceptions, "MCPError", None) or exceptions.McpError

#: JSON-RPC codes as ``mcp`` has them.
REQUEST_TIMEOUT, CONNECTION_CLOSED, INTERNAL_ERROR = getattr(types, "REQUEST_TIMEOUT", 408), -32000, -32603

#: What a lost or absent connection is to the library.
_LOST = (CallInterruptedError, ClosedError, ConnectError, UnavailableError)


#: What the package says of a code, in either version, and programs look for.
WORDS = {REQUEST_TIMEOUT: "Timed out while waiting; the request timed out: ", CONNECTION_CLOSED: "Connection closed: "}


#: What names a thing of a list, and what a tool cannot be called without.
_NEEDED = ("name", "inputSchema", "uri", "uriTemplate")


def models(
    kind: Any, definitions: list[dict[str, Any]], read: Callable[[dict[str, Any]], dict[str, Any]] = lambda definition: definition
) -> list[Any]:
    """What a server lists. A member that is not as the protocol has it is left out, and costs nobody the rest; one that is needed costs its own.

    ``read`` gives what the library makes of a definition with such a member.
    """
    out, name_of = [], kind.__name__
    for definition in definitions:
        if fit(name_of, definition) is not definition or _unfit(kind, definition) is not None:
            said = read(definition)
            definition = fit(name_of, said)
            for name in lost(said, definition):
                _log.warning("left out of what a server says: of %r, what does not fit of %r", definition.get("name"), name)
            least = {name: definition[name] for name in _NEEDED if name in definition}
            if (error := _unfit(kind, least)) is not None:
                _log.warning("left out of a list: %s", error)
                continue
            definition = {**least, **_fit(kind, least, definition)}
        out.append(kind.model_validate(definition))
    return out


def introduced(said: dict[str, Any], server: str) -> Any:
    """What a server said of itself. What is not as the protocol has it is left out: the server is connected all the same."""
    offered, is_one = types.ServerCapabilities, {"name": server, "version": ""}
    taken = {
        "capabilities": _fit(offered, {}, said["capabilities"]),
        "serverInfo": {**is_one, **_fit(types.Implementation, is_one, said["server_info"])},
    }
    whole = {"protocolVersion": said["protocol_version"], "instructions": said["instructions"], **taken}
    return model(types.InitializeResult, whole)


def _fit(kind: Any, least: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
    """Those members that ``mcp`` takes."""
    taken = {}
    for name, value in members.items():
        if (error := _unfit(kind, {**least, name: value})) is None:
            taken[name] = value
        else:
            _log.warning("left out of what a server says: %r: %s", name, error)
    return taken


def call_result(decoded: dict[str, Any]) -> Any:
    """The result of a tool. A block that ``mcp`` does not know is a text, which is its JSON."""
    content = decoded.get("content")
    blocks = content if isinstance(content, list) else []
    return _result(types.CallToolResult, {**decoded, "content": blocks}, "content", _known)


def prompt_result(decoded: dict[str, Any]) -> Any:
    """A prompt, whose blocks are treated likewise."""

    def known(message: Any) -> Any:
        is_one = isinstance(message, dict) and "content" in message
        return {**message, "content": _known(message["content"])} if is_one else message

    return _result(types.GetPromptResult, decoded, "messages", known)


def resource_result(decoded: dict[str, Any], uri: str) -> Any:
    """What was read at an address, likewise."""

    def known(contents: Any) -> Any:
        is_known = _unfit(types.ReadResourceResult, {"contents": [contents]}) is None
        return contents if is_known else {"uri": uri, "text": _json(contents)}

    return _result(types.ReadResourceResult, decoded, "contents", known)


def _result(kind: Any, decoded: dict[str, Any], elements: str, known: Callable[[Any], Any]) -> Any:
    """A result with its list of elements. What else is not as the protocol has it is left out: a call that has run is not to be run again."""
    try:
        return kind.model_validate(decoded)
    except ValueError:
        pass
    taken = {}
    for name, value in decoded.items():
        if name == elements:
            taken[name] = [known(element) for element in value] if isinstance(value, list) else value
        elif (error := _unfit(kind, {elements: [], name: value})) is None:
            taken[name] = value
        else:
            _log.warning("left out of a result: %r: %s", name, error)
    return model(kind, taken)


def _known(block: Any) -> Any:
    is_known = _unfit(types.CallToolResult, {"content": [block]}) is None
    return block if is_known else {"type": "text", "text": _json(block)}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _unfit(kind: Any, decoded: dict[str, Any]) -> ValueError | None:
    """Why ``mcp`` refuses it."""
    try:
        kind.model_validate(decoded)
    except ValueError as error:
        return error
    return None


def model(kind: Any, decoded: dict[str, Any]) -> Any:
    try:
        return kind.model_validate(decoded)
    except ValueError as error:
        raise raised_as(INTERNAL_ERROR, f"an answer that is not as the protocol has it: {error}", None) from error


@contextmanager
def as_mcp() -> Iterator[None]:
    """What the library raises inside is raised as ``mcp``'s, from that."""
    try:
        yield
    except TrunklineError as error:
        raise _error(error) from error


def _error(error: TrunklineError) -> Exception:
    if isinstance(error, ServerError):
        code, message, about = error.detail["code"], error.detail["message"], error.detail.get("data")
    elif isinstance(error, DeclinedError) and "code" in error.detail:  # What a callback refused in the call's own rounds.
        code, message, about = error.detail["code"], error.detail["reason"], None
    else:
        lost = CONNECTION_CLOSED if isinstance(error, _LOST) else INTERNAL_ERROR
        code = REQUEST_TIMEOUT if isinstance(error, TimeoutError) else lost
        message = f"{WORDS.get(code, '')}{error}"
        about = {"code": error.code, "retryable": error.retryable, "outcome": error.outcome}
    return raised_as(code, message, about)


def raised_as(code: int, message: str, about: Any) -> Exception:
    described = types.ErrorData(code=code, message=message, data=about)
    # Version 1 takes the description, version 2 its parts.
    parts = inspect.signature(MCPError.__init__).parameters
    raised: Exception = MCPError(code, message, about) if "code" in parts else MCPError(described)
    return raised


_log = logging.getLogger("trunkline")
