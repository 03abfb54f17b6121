"""Sessions in the terms of agent frameworks, one module for each: ``langchain``, ``openai_agents``, ``pydantic_ai`` and ``mcp``.

A module is imported by its own name, and imports its framework then; nothing here imports any of them.
"""

from __future__ import annotations

import base64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import trunkline


def missing(module: str, package: str, error: ImportError) -> ImportError:
    """What to raise when a framework is not installed."""
    return ImportError(f"trunkline.adapters.{module} needs {package}: pip install {package} ({error})", name=error.name)


class Malformed(Exception):
    """A block of a result is not as the protocol has it."""


def content(result: trunkline.CallResult) -> list[Any]:
    """The blocks of a result, each of which may be anything; none where the server sent no list."""
    blocks: Any = result.content
    return blocks if isinstance(blocks, list) else []


def member(block: Any, name: str) -> str:
    """A member that the protocol has as a text."""
    value = block.get(name) if isinstance(block, dict) else None
    if not isinstance(value, str):
        raise Malformed(name)
    return value


def encoded(block: Any, name: str) -> str:
    """A member that the protocol has as bytes in base64 (RFC 4648, section 4), without the line breaks that some put into it.

    No bytes at all are nothing that a model can be shown.
    """
    text = member(block, name).replace("\r", "").replace("\n", "")
    if not text:
        raise Malformed(name)
    try:
        base64.b64decode(text, validate=True)
    except ValueError as error:
        raise Malformed(name) from error
    return text


def mime_type(block: Any, otherwise: str | None = None) -> str | None:
    """What the bytes of a block are, where it says so."""
    return member(block, "mimeType") if block.get("mimeType") is not None else otherwise


def texts(result: trunkline.CallResult) -> list[str]:
    """The texts among the blocks of a result."""
    found = (block for block in content(result) if isinstance(block, dict) and block.get("type") == "text")
    return [block["text"] for block in found if isinstance(block.get("text"), str)]
