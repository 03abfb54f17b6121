"""What servers list and answer beside tools, as objects with the members that Pydantic AI's own toolset gives.

The framework's own classes stand in a module that needs packages which are not needed here.
"""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

import json
from dataclasses import dataclass, fields

from pydantic_ai.messages import BinaryContent, TextContent

from . import Malformed, bytes_of, mime_type, text_of
from ._fit import fit, fit_annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


@dataclass(kw_only=True)
class PromptArgument:
    """An argument of a prompt."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool | None = None


@dataclass(kw_only=True)
class _Listed:
    """What all have that a server lists."""

    name: str
    server: str
    title: str | None = None
    description: str | None = None
    metadata: dict[str, Any] | None = None


@dataclass(kw_only=True)
class Prompt(_Listed):
    """A prompt of a server, by the server's own name."""

    arguments: list[PromptArgument] | None = None


@dataclass(kw_only=True)
class ResourceTemplate(_Listed):
    """A template of addresses of resources."""

    uri_template: str
    mime_type: str | None = None
    annotations: dict[str, Any] | None = None


@dataclass(kw_only=True)
class Resource(_Listed):
    """A resource of a server."""

    uri: str
    mime_type: str | None = None
    size: int | None = None
    annotations: dict[str, Any] | None = None


@dataclass(kw_only=True)
class PromptMessage:
    """A message of a prompt. What is neither a text nor bytes is the block as the server sent it."""

    role: str
    content: Any


@dataclass(kw_only=True)
class PromptResult:
    """A prompt, filled in with its arguments."""

    messages: list[PromptMessage]
    description: str | None = None
    metadata: dict[str, Any] | None = None


#: The protocol's names of members that have another one here.
_NAMES = {"mime_type": "mimeType", "metadata": "_meta", "uri_template": "uriTemplate"}


def _members(kind: type[Any], said: dict[str, Any]) -> dict[str, Any]:
    """What a definition says of the fields of a class."""
    members = {field.name: said.get(_NAMES.get(field.name, field.name)) for field in fields(kind)}
    return {name: value for name, value in members.items() if value is not None}


def prompt(server: str, name: str, definition: dict[str, Any]) -> Prompt:
    """A prompt that is listed."""
    said = _members(Prompt, fit("Prompt", definition))
    arguments = [PromptArgument(**_members(PromptArgument, each)) for each in said.get("arguments", ())]
    return Prompt(**{**said, "name": name, "server": server, "arguments": arguments or None})


def resource(server: str, uri: str, definition: dict[str, Any]) -> Resource:
    """A resource that is listed."""
    return Resource(**{**_members(Resource, fit("Resource", definition)), "uri": uri, "server": server})


def template(server: str, uri_template: str, definition: dict[str, Any]) -> ResourceTemplate:
    """A template that is listed."""
    said = _members(ResourceTemplate, fit("ResourceTemplate", definition))
    return ResourceTemplate(**{**said, "uri_template": uri_template, "server": server})


def prompt_result(decoded: dict[str, Any], block: Callable[[Any], Any]) -> PromptResult:
    """What a prompt has become. ``block`` makes of a content block what the framework has for it."""
    messages = decoded.get("messages")
    said = [each for each in messages if isinstance(each, dict)] if isinstance(messages, list) else []
    description, metadata = decoded.get("description"), decoded.get("_meta")
    return PromptResult(
        messages=[_message(each, block) for each in said],
        description=description if isinstance(description, str) else None,
        metadata=metadata if isinstance(metadata, dict) else None,
    )


def _message(said: dict[str, Any], block: Callable[[Any], Any]) -> PromptMessage:
    role, content = "assistant" if said.get("role") == "assistant" else "user", said.get("content")
    text = content.get("text") if isinstance(content, dict) and content.get("type") == "text" else None
    if isinstance(text, str):
        return PromptMessage(role=role, content=TextContent(content=text, metadata=_beside(content)))
    made = block(content)
    if isinstance(made, BinaryContent):
        made.vendor_metadata = _beside(content)
    return PromptMessage(role=role, content=made)


def _beside(block: Any) -> dict[str, Any] | None:
    """What stands beside the content of a block, under the names that the framework's own toolset gives it."""
    if not isinstance(block, dict):
        return None
    said = {"mcp_annotations": fit_annotations(block.get("annotations")), "mcp_meta": block.get("_meta")}
    return {name: value for name, value in said.items() if isinstance(value, dict) and value} or None


def read(decoded: dict[str, Any]) -> Any:
    """What was read: the one part, or all of several."""
    contents = decoded.get("contents")
    parts = [_part(each) for each in contents] if isinstance(contents, list) else []
    return parts[0] if len(parts) == 1 else parts


def _part(contents: Any) -> Any:
    """A text, or bytes; its JSON where it is not as the protocol has it."""
    try:
        if (text := text_of(contents)) is not None:
            return text
        mime = mime_type(contents) or "application/octet-stream"
        return BinaryContent.narrow_type(BinaryContent(data=bytes_of(contents), media_type=mime))
    except Malformed:
        return json.dumps(contents, ensure_ascii=False)
