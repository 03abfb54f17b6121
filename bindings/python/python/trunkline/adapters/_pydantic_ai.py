"""What servers list and answer beside tools, as objects with the members that Pydantic AI's own toolset gives.

The framework's own classes stand in a module that needs packages which are not needed here.
"""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic_ai.messages import BinaryContent, TextContent

from . import Malformed, bytes_of, mime_type, text_of

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
class Prompt:
    """A prompt of a server, by the server's own name."""

    name: str
    server: str
    title: str | None = None
    description: str | None = None
    arguments: list[PromptArgument] | None = None
    metadata: dict[str, Any] | None = None


@dataclass(kw_only=True)
class Resource:
    """A resource of a server."""

    uri: str
    server: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None


@dataclass(kw_only=True)
class ResourceTemplate:
    """A template of addresses of resources."""

    uri_template: str
    server: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    annotations: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None


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


def _of(definition: dict[str, Any], kind: type, *names: str) -> dict[str, Any]:
    """Those members that are of a kind, in Python's spelling: one of another is none (SPEC 18.2)."""
    found = {name: definition.get(name) for name in names}
    return {_SPELLED.get(name, name): value for name, value in found.items() if isinstance(value, kind)}


_SPELLED = {"mimeType": "mime_type", "_meta": "metadata"}


def prompt(server: str, name: str, definition: dict[str, Any]) -> Prompt:
    """A prompt that is listed."""
    arguments = definition.get("arguments")
    named = [each for each in arguments if isinstance(each, dict) and isinstance(each.get("name"), str)] if isinstance(arguments, list) else []
    said = _of(definition, str, "title", "description")
    found = [_argument(each) for each in named] or None
    return Prompt(name=name, server=server, arguments=found, **said, **_of(definition, dict, "_meta"))


def _argument(said: dict[str, Any]) -> PromptArgument:
    return PromptArgument(**_of(said, str, "name", "title", "description"), **_of(said, bool, "required"))


def resource(server: str, uri: str, definition: dict[str, Any]) -> Resource:
    """A resource that is listed."""
    size = {} if isinstance(definition.get("size"), bool) else _of(definition, int, "size")
    return Resource(**{"name": uri, **_described(definition)}, uri=uri, server=server, **size)


def template(server: str, uri_template: str, definition: dict[str, Any]) -> ResourceTemplate:
    """A template that is listed."""
    return ResourceTemplate(**{"name": uri_template, **_described(definition)}, uri_template=uri_template, server=server)


def _described(definition: dict[str, Any]) -> dict[str, Any]:
    texts = _of(definition, str, "name", "title", "description", "mimeType")
    return {**texts, **_of(definition, dict, "annotations", "_meta")}


def prompt_result(decoded: dict[str, Any], block: Callable[[Any], Any]) -> PromptResult:
    """What a prompt has become. ``block`` makes of a content block what the framework has for it."""
    messages = decoded.get("messages")
    said = [each for each in messages if isinstance(each, dict)] if isinstance(messages, list) else []
    return PromptResult(messages=[_message(each, block) for each in said], **_of(decoded, str, "description"), **_of(decoded, dict, "_meta"))


def _message(said: dict[str, Any], block: Callable[[Any], Any]) -> PromptMessage:
    role, content = "assistant" if said.get("role") == "assistant" else "user", said.get("content")
    text = content.get("text") if isinstance(content, dict) and content.get("type") == "text" else None
    return PromptMessage(role=role, content=TextContent(content=text) if isinstance(text, str) else block(content))


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
        return BinaryContent(data=bytes_of(contents), media_type=mime_type(contents) or "application/octet-stream")
    except Malformed:
        return json.dumps(contents, ensure_ascii=False)
