"""A host for ``cargo xtask reap``, in Python: it does what its standard input says, a line at a time.

``docs/internals/reap.md`` has the words.
"""

import asyncio
import json
import sys

import trunkline


async def main() -> None:
    begun = []
    async with trunkline.Pool() as pool:
        session = pool.session("a", servers=[])
        lease = None
        while line := (await asyncio.to_thread(sys.stdin.readline)).rstrip("\n"):
            word, _, rest = line.partition(" ")
            if word in ("connect", "begin"):
                name, _, server = rest.partition(" ")
                acquired = session.acquire(name, json.loads(server))
                if word == "connect":
                    lease = await acquired
                else:
                    begun.append(asyncio.ensure_future(acquired))
            elif word == "call":
                begun.append(asyncio.ensure_future(lease.call_tool("hang")))
            elif word == "drain":
                begun.append(asyncio.ensure_future(pool.drain_all()))
            # What was begun is under way after one turn of the loop.
            await asyncio.sleep(0)
            print(pool.status()["supervision"], flush=True)


if __name__ == "__main__":
    asyncio.run(main())
