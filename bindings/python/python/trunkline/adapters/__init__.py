"""Sessions in the terms of agent frameworks, one module for each: ``langchain``, ``openai_agents``, ``pydantic_ai`` and ``mcp``.

A module is imported by its own name, and imports its framework then; nothing here imports any of them.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import sys

from .._errors import invalid
from .._frozen import thawed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    import trunkline
    import trunkline.sync
    from trunkline.types import ToolShape

    _I = TypeVar("_I", bound=trunkline.ListedItem)


def missing(module: str, package: str, error: ImportError) -> ImportError:
    """What to raise when a framework is not installed, or of a version that has not what is imported."""
    is_absent = isinstance(error, ModuleNotFoundError) and sys.modules.get((error.name or "").split(".")[0]) is None
    wanted = f"'{package}'" if ">" in package else package
    how = f": pip install {wanted}" if is_absent else f", and another version is installed: pip install --upgrade {wanted}"
    return ImportError(f"trunkline.adapters.{module} needs {package}{how} ({error})", name=error.name)


class Malformed(Exception):
    """A block of a result is not as the protocol has it."""


def content(result: trunkline.CallResult) -> list[Any]:
    """The blocks of a result: each may be anything; none where the server sent no list."""
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


def text_of(contents: Any) -> str | None:
    """The text of a resource; None where it has none, as where it is null (SPEC 18.2)."""
    return member(contents, "text") if isinstance(contents, dict) and contents.get("text") is not None else None


def bytes_of(contents: Any) -> bytes:
    """The bytes of a resource; a file may have none."""
    is_empty = isinstance(contents, dict) and contents.get("blob") == ""
    return b"" if is_empty else base64.b64decode(encoded(contents, "blob"))


def texts(result: trunkline.CallResult) -> list[str]:
    """The texts among the blocks of a result."""
    found = (block for block in content(result) if isinstance(block, dict) and block.get("type") == "text")
    return [block["text"] for block in found if isinstance(block.get("text"), str)]


def shown(result: trunkline.CallResult) -> list[Any]:
    """The blocks that a model is shown: those of the result, else its structured content as JSON, else, of an error, words."""
    blocks = content(result)
    if not blocks and result.structured_content is not None:
        return [{"type": "text", "text": json.dumps(result.structured_content, ensure_ascii=False)}]
    if not blocks and result.is_error:
        return [{"type": "text", "text": WORDLESS}]
    return blocks


def error_text(result: trunkline.CallResult) -> str:
    """The error for the model: its texts, else what stands in for them."""
    stands_in = shown(result)[0].get("text") if not content(result) else None
    return "\n".join(texts(result)) or stands_in or WORDLESS


#: Words for an error that has none from the server.
WORDLESS = "the tool reports an error without a text"


async def until_listed(session: trunkline.Session, servers: Iterable[str] | None = None) -> None:
    """Waits for lists that were announced, of all servers of a session or of some (SPEC 7.9)."""
    await asyncio.gather(*(session.listed(server) for server in ([None] if servers is None else servers)))


def of_servers(rows: Sequence[_I], servers: set[str] | None) -> list[_I]:
    """Those rows that are of some servers; by default all."""
    return [row for row in rows if servers is None or row.server in servers]


async def holder(
    session: trunkline.Session, servers: set[str] | None, rows: Callable[[], Sequence[trunkline.ListedItem]], own_name: str, path: str
) -> str:
    """The server that lists it, or the only one of these servers, which is asked for what no server lists.

    What is not there is looked for again once the lists are there that were announced (SPEC 7.9). ``path`` is what the argument is called.
    """
    if (found := _lister(of_servers(rows(), servers), own_name)) is None:
        await until_listed(session, servers)
        found = _lister(of_servers(rows(), servers), own_name)
    if found is not None:
        return found
    known = await servers_of(session) if servers is None else servers
    if len(known) != 1:
        raise invalid(f"no server of the session lists {own_name!r}", "`servers` with one name says which is asked for it", path=path)
    return next(iter(known))


def _lister(rows: Sequence[trunkline.ListedItem], own_name: str) -> str | None:
    return next((row.server for row in rows if row.own_name == own_name), None)


async def servers_of(session: trunkline.Session) -> set[str]:
    """The servers of a session, with those that list nothing."""
    lists = session.tools(), session.prompts(), session.resources(), session.resource_templates()
    return {row.server for rows in lists for row in rows} | set((await session.started())["servers"])


def shaped(
    session: trunkline.Session | trunkline.sync.Session, servers: Iterable[str] | None = None, shape: ToolShape = "any"
) -> list[tuple[trunkline.ListedItem, dict[str, Any]]]:
    """The tools of a session's view, or of some of its servers, with definitions whose ``inputSchema`` is as that shape has it.

    What Python cannot decode is left out and logged, and costs nobody the rest.
    """
    wanted = None if servers is None else set(servers)
    # Frameworks make of a definition what they want.
    definitions = {each["name"]: thawed(each) for each in session.tools_for("any")}
    if shape != "any":
        for tool in session.tools_for(shape):
            about = thawed(tool.get("function", tool))
            if (definition := definitions.get(about["name"])) is not None:
                schemas = (about.get(member) for member in _SCHEMAS)
                definition["inputSchema"] = next(filter(None, schemas), {"type": "object", "properties": {}})
    rows = (row for row in session.tools() if wanted is None or row.server in wanted)
    return [(row, definitions[row.name]) for row in rows if row.name in definitions]


#: Where shapes have the schema of a tool's arguments.
_SCHEMAS = ("inputSchema", "input_schema", "parameters", "parametersJsonSchema")


def has_plain_names(definition: dict[str, Any]) -> bool:
    """Whether every model API takes the names of a tool's arguments."""
    schema = definition.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return not isinstance(properties, dict) or all(_PLAIN.fullmatch(name) for name in properties)


_PLAIN = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def hints(definition: dict[str, Any]) -> dict[str, Any]:
    """What a definition says of its tool beside what it is called with."""
    annotations = definition.get("annotations")
    return annotations if isinstance(annotations, dict) else {}
