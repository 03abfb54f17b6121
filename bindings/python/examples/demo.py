"""The demo: two sessions share one server process. Run it by ``cargo xtask demo python``.

Its one argument is the JSON text of a map of servers with a server named ``demo``. It prints one JSON object a line.
"""

import asyncio
import json
import sys
from typing import Any

import trunkline


def say(**step: Any) -> None:
    print(json.dumps(step), flush=True)


async def main(servers: dict[str, Any]) -> None:
    async with trunkline.Pool() as pool:
        await pool.reconcile(servers)
        say(step="pool")

        sessions = [pool.session("alpha", servers=[]), pool.session("beta", servers=[])]
        leases = await asyncio.gather(*(session.acquire("demo") for session in sessions))
        for session, lease in zip(sessions, leases):
            say(step="acquire", session=session.id, server=lease.server)

        for session, lease in zip(sessions, leases):
            result = await lease.call_tool("pid")
            say(step="call", session=session.id, tool="pid", text=result.text)
        tool, message = "mcp__demo__echo", {"message": "hello from Python"}
        result = await sessions[1].call_tool(tool, message)
        say(step="call", session="beta", tool=tool, text=result.text)

        streams = [session.events(kinds="tools_changed") for session in sessions]
        await leases[0].call_tool("change_list", {"add": "fresh"})
        for session, stream in zip(sessions, streams):
            event = await asyncio.wait_for(anext(stream), 10)
            say(step="change", session=session.id, added=event["added"])

        for session, lease in zip(sessions, leases):
            lease.release()
            say(step="release", session=session.id)

        report = await pool.drain_all()
        say(step="drain", drained=report["drained"], forced=report["forced"])


if __name__ == "__main__":
    try:
        asyncio.run(main(json.loads(sys.argv[1])))
    except trunkline.TrunklineError as error:
        sys.exit(f"{error.code}: {error}")
