"""The Python client under test of the official conformance suite; `cargo xtask conformance` runs it.

Its last argument is the URL of the suite's server; the scenario, the protocol version and the context are in the environment.
`TRUNKLINE_CONFORMANCE_SESSIONS` sessions share the server and make the calls in turn.
"""

import asyncio
import json
import os
import sys
from typing import Any

import trunkline

SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
SESSIONS = int(os.environ.get("TRUNKLINE_CONFORMANCE_SESSIONS", "1"))

#: From 2026 on each request stands for itself.
ERA = "modern" if os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "") >= "2026" else "legacy"

#: The scenarios in which the host can answer a form.
ELICITING = ("elicitation-sep1034-client-defaults", "sep-2322-client-request-state")

#: Shorter than the suite's own patience with a client, in seconds.
PATIENCE = 25


def example(schema: Any) -> Any:
    """A value that a schema accepts, with the required members alone."""
    if not isinstance(schema, dict):
        return None
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        members = schema.get("properties", {})
        return {name: example(members.get(name, {})) for name in schema.get("required", [])}
    return {"integer": 5, "number": 5, "boolean": True, "array": [], "string": "test"}.get(kind)


def accept(request: trunkline.ServerRequest) -> dict[str, Any]:
    """Fills a form with its defaults."""
    members = request.params["requestedSchema"]["properties"].items()
    filled = {name: example(member) for name, member in members}
    return {"action": "accept", "content": filled}


def calls(tools: list[Any]) -> list[tuple[str, dict[str, Any]]]:
    """What is called: what the suite asks for, else every tool."""
    if SCENARIO == "json-schema-ref-no-deref":
        return []
    if "toolCalls" in CONTEXT:
        return [(call["name"], call.get("arguments", {})) for call in CONTEXT["toolCalls"]]
    if SCENARIO == "json-schema-2020-12-preservation":
        schemas = {tool.own_name: tool.definition["inputSchema"] for tool in tools}
        observed = next(schema for name, schema in schemas.items() if name != "json_schema_echo")
        return [("json_schema_echo", {"schema": observed})]
    return [(tool.own_name, example(tool.definition.get("inputSchema"))) for tool in tools]


async def look_at_everything(session: trunkline.Session, lease: trunkline.Lease) -> None:
    for resource in session.resources():
        await lease.read_resource(resource.name)
    for prompt in session.prompts():
        wanted = prompt.definition.get("arguments", [])
        arguments = {argument["name"]: "test" for argument in wanted}
        await lease.get_prompt(prompt.name, arguments)


async def main(url: str) -> None:
    handlers = {"elicitation": accept} if SCENARIO in ELICITING else {}
    async with trunkline.Pool(handlers=handlers) as pool:
        await pool.reconcile({"conformance": {"type": "http", "url": url, "era": ERA}})
        sessions = [pool.session(f"session-{number}", servers=[]) for number in range(SESSIONS)]
        leases = [await session.acquire("conformance") for session in sessions]
        for turn, (tool, arguments) in enumerate(calls(leases[0].tools())):
            await leases[turn % SESSIONS].call_tool(tool, arguments)
        if SCENARIO == "http-standard-headers":
            await look_at_everything(sessions[-1], leases[-1])


if __name__ == "__main__":
    try:
        asyncio.run(asyncio.wait_for(main(sys.argv[-1]), PATIENCE))
    except (trunkline.TrunklineError, TimeoutError) as error:
        # A server that offers nothing has nothing to be called.
        if getattr(error, "detail", {}).get("reason") == "nothing_listed":
            sys.exit(0)
        sys.exit(f"{type(error).__name__}: {error}")
