"""The Python client under test of the official conformance suite; `cargo xtask conformance` runs it.

Its last argument is the URL of the suite's server; the scenario, the protocol version and the context are in the environment.
`TRUNKLINE_CONFORMANCE_SESSIONS` sessions share the server and make the calls in turn.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import trunkline

SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
SESSIONS = int(os.environ.get("TRUNKLINE_CONFORMANCE_SESSIONS", "1"))

#: From 2026 on each request stands for itself.
ERA = "modern" if os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "") >= "2026" else "legacy"

#: The scenarios in which the host can answer a form.
ELICITING = ("elicitation-sep1034-client-defaults", "sep-2322-client-request-state")

#: Who the host is to authorization servers: what the suite knows it by, else its document, else a registration.
OAUTH = {
    "redirect_uri": "http://localhost:3000/callback",
    "client_metadata_url": "https://conformance-test.local/client-metadata.json",
    **{name: CONTEXT[name] for name in ("client_id", "client_secret") if name in CONTEXT},
}
if SCENARIO == "auth/client-credentials-basic":
    OAUTH["grant_type"] = "client_credentials"

#: Shorter than the suite's own patience with a client, in seconds.
PATIENCE = int(os.environ.get("TRUNKLINE_CONFORMANCE_PATIENCE", "25"))


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


def visit(url: str) -> str:
    """Visits an address as a person does; where it redirects to."""
    parts = urlsplit(url)
    with closing(HTTPConnection(parts.netloc)) as connection:
        connection.request("GET", f"{parts.path}?{parts.query}")
        return connection.getresponse().getheader("location", "")


async def signed_in(pool: trunkline.Pool, attempt: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
    """Makes an attempt. As long as the server wants a sign-in, and the library begins one, it signs in and makes it again."""
    while True:
        try:
            return await attempt(*arguments)
        except trunkline.AuthRequiredError:
            begun = await pool.sign_in("conformance")
            back = await asyncio.to_thread(visit, begun["url"])
            await pool.finish_sign_in(back)


async def call(session: trunkline.Session, tool: str, arguments: dict[str, Any]) -> None:
    lease = await session.acquire("conformance")
    await lease.call_tool(tool, arguments)


async def look_at_everything(session: trunkline.Session, lease: trunkline.Lease) -> None:
    for resource in session.resources():
        await lease.read_resource(resource.name)
    for prompt in session.prompts():
        wanted = prompt.definition.get("arguments", [])
        arguments = {argument["name"]: "test" for argument in wanted}
        await lease.get_prompt(prompt.name, arguments)


async def main(url: str) -> None:
    handlers = {"elicitation": accept} if SCENARIO in ELICITING else {}
    server = {"type": "http", "url": url, "era": ERA, "share": "pool", "oauth": OAUTH, "connect_timeout_ms": PATIENCE * 1000}
    async with trunkline.Pool(handlers=handlers) as pool:
        await pool.reconcile({"conformance": server})
        sessions = [pool.session(f"session-{number}", servers=[]) for number in range(SESSIONS)]
        leases = [await signed_in(pool, session.acquire, "conformance") for session in sessions]
        for turn, (tool, arguments) in enumerate(calls(leases[0].tools())):
            await signed_in(pool, call, sessions[turn % SESSIONS], tool, arguments)
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
