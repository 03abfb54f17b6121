"""Blocks that a forked child leaves: what their body raised stays what ends them (SPEC 16.3, I-20)."""

from __future__ import annotations

import json
import threading

import pytest

import trunkline

from host import Log, ended_well, python, run

PREAMBLE = """
import asyncio, json, os, sys
import trunkline, trunkline.sync

config = json.loads(sys.argv[1])

class Own(Exception):
    pass

def parent(child):
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended == 0, ended
"""

BLOCKING = """
with trunkline.sync.Pool() as pool, trunkline.start_logs("error"), pool.on_event(lambda event: None):
    with pool.session("a", servers=[], handlers={"logging": print}) as session, pool.events() as events:
        with session.acquire("s", config) as lease:
            child = os.fork()
            if child == 0:
                sys.exit(0)
            parent(child)
            assert lease.call_tool("pid").content
"""

#: asyncio runs no loop of the parent's in a child, so that the child ends by itself.
LOOP = """
async def main():
    child = 1
    try:
        async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session, pool.events() as events:
            async with session.acquire("s", config) as lease, lease:
                child = os.fork()
                if child == 0:
                    raise Own
                parent(child)
                assert (await lease.call_tool("pid")).content
    except Own:
        os._exit(0 if child == 0 else 3)
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)
        os._exit(4)

asyncio.run(main())
"""


@pytest.mark.parametrize("program", [BLOCKING, LOOP], ids=["blocking", "loop"])
def test_what_ends_a_block_in_a_forked_child_stays_what_it_is(log: Log, program: str) -> None:
    """SPEC 16.3, I-20: neither a traceback nor another error, and the parent goes on."""
    ended_well(python(PREAMBLE + program, json.dumps(log.server())))


#: What is asked for by name, as is the close at the end of a body that raised nothing, answers as any call does.
EXPLICIT = """
async def told(attempt):
    try:
        await attempt
    except trunkline.ForkedError as error:
        return error.outcome

async def leaves(block):
    async with block:
        pass

async def main():
    async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = await session.acquire("s", config)
        child = os.fork()
        if child == 0:
            try:
                waits = [pool.aclose(), leaves(pool), leaves(session), leaves(lease), session.ready(), lease.subscribe_resource("test://x")]
                # What is wrong with these the parent would be told.
                waits += [pool.acquire("s", {"command": 1}, session="a"), pool.reconcile("["), pool.set_roots(["relative/../.."])]
                calls = [lease.call_tool("pid"), lease.call_tool("pid", progress=print), session.call_tool("mcp__s__pid")]
                outcomes = [await told(attempt) for attempt in waits + calls]
                expected = [None] * len(waits) + ["not_sent"] * len(calls)
                print(outcomes, flush=True) if outcomes != expected else None
                os._exit(0 if outcomes == expected else 3)
            finally:
                os._exit(4)
        parent(child)
        assert (await lease.call_tool("pid")).content

asyncio.run(main())
plain = trunkline.sync.Pool()
child = os.fork()
if child == 0:
    try:
        with plain:
            pass
    except trunkline.ForkedError:
        sys.exit(0)
    sys.exit(3)
parent(child)
"""


def test_a_forked_child_is_told_inside_of_a_loop_of_its_parent_too(log: Log) -> None:
    """SPEC 16.3, I-20: where asyncio says that no loop runs."""
    ended_well(python(PREAMBLE + EXPLICIT, json.dumps(log.server())))


def test_a_coroutine_that_no_loop_runs_begins_nothing() -> None:
    """SPEC 16.3: in the process whose objects they are asyncio says what is wrong."""

    async def opened() -> trunkline.Pool:
        return trunkline.Pool(handlers={"logging": print})

    for pool in (trunkline.Pool(), run(opened())):
        stream = pool.events()
        for coroutine in (pool.aclose(), pool.set_trusted(True)):
            with pytest.raises(RuntimeError, match="no asyncio loop runs"):
                coroutine.send(None)
        assert "trunkline-closing" not in [thread.name for thread in threading.enumerate()]
        assert pool.session("a", servers=[]).tools() == [] and not stream._native.ended()
        run(pool.aclose())
