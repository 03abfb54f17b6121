"""A server of the Python SDK that learns tools."""

import sys
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("learner")

@server.tool()
def add(a: int, b: int) -> int:
    return a + b

@server.tool()
async def learn(name: str, ctx: Context) -> str:
    server.add_tool(lambda: "learnt", name=name, description="A tool that was learnt.")
    legacy = ctx.protocol_version < "2026"
    await (ctx.session.send_tool_list_changed() if legacy else ctx.notify_tools_changed())
    return "learnt"

server.run("streamable-http", port=int(sys.argv[1]))
