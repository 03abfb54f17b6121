"""Other loops and other threads than Python's own are served or refused in words; results and errors can be kept.

SPEC 5.3, 16.2, 16.5.
"""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import traceback
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import trunkline
import trunkline.sync

from host import Log, ended_well, python, text


def lines_of(program: str, log: Log) -> list[str]:
    """What a program prints that is given the configuration of a server, which is gone by then."""
    done = python(program, json.dumps(log.server()))
    ended_well(done)
    log.settle()
    return done.stdout.splitlines()


#: What needs a thread of its own, by name: with threads that wait outside of Python replaced it has to refuse.
NEEDS_THREAD = {
    "on_event": "pool.on_event(lambda event: None)",
    "logs": "trunkline.start_logs()",
    "handlers": "pool.session('b', handlers={'elicitation': print})",
}

GREEN = """
import gevent.monkey
gevent.monkey.patch_all(thread={thread})
import json, sys
import trunkline, trunkline.sync
with trunkline.sync.Pool(cache="off") as pool:
    pool.reconcile({{"s": json.loads(sys.argv[1])}})
    session = pool.session("a")
    session.ready("s")
    print(session.call_tool("mcp__s__echo", {{"message": "served"}}).content[0]["text"])
    try:
        started = {statement}
        print("went on")
    except trunkline.InvalidArgumentError as error:
        print(error, "|", error.hint)
"""


@pytest.mark.parametrize("statement", NEEDS_THREAD.values(), ids=NEEDS_THREAD)
def test_gevent_is_refused_where_a_thread_has_to_wait(log: Log, statement: str) -> None:
    said = lines_of(GREEN.format(thread=True, statement=statement), log)
    assert said[0] == "served"
    assert said[1].startswith("gevent has replaced the threads of Python") and "thread=False" in said[1]


@pytest.mark.parametrize("statement", NEEDS_THREAD.values(), ids=NEEDS_THREAD)
def test_gevent_without_its_threads_is_served(log: Log, statement: str) -> None:
    said = lines_of(GREEN.format(thread=False, statement=statement), log)
    assert said == ["served", "went on"]


TRIO = """
import json, sys, trio
import trunkline, trunkline.sync
config = json.loads(sys.argv[1])

async def main():
    try:
        async with trunkline.Pool(cache="off") as pool:
            await pool.reconcile({"s": config})
    except RuntimeError as error:
        print(error)
        while error := error.__cause__:
            print("cause", error)
    pool = trunkline.sync.Pool(cache="off")
    wait = trio.to_thread.run_sync
    lease = await wait(lambda: pool.session("a", servers=[]).acquire("s", config))
    result = await wait(lambda: lease.call_tool("echo", {"message": "served"}))
    print(result.content[0]["text"])
    await wait(pool.close)

trio.run(main)
"""


def test_trio_is_refused_in_words_and_served_by_threads(log: Log) -> None:
    said = lines_of(TRIO, log)
    assert len(said) == 2, said
    assert said[0].startswith("no asyncio loop runs in this thread") and "trio.to_thread.run_sync" in said[0]
    assert said[1] == "served"


RESULT = '{"zebra":1,"content":[{"type":"text","text":"x"}],"structuredContent":{"n":12345678901234567890},"isError":true}'


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


COPIES = [copy.copy, copy.deepcopy, pickled]


@pytest.mark.parametrize("copied", COPIES)
def test_results_are_whole_in_copies(log: Log, copied: Any) -> None:
    with trunkline.sync.Pool(cache="off") as pool:
        lease = pool.session("a", servers=[]).acquire("s", log.server())
        result = copied(lease.call_tool("verbatim", {"result": RESULT}))
    assert isinstance(result, trunkline.CallResult)
    assert result.raw == RESULT.encode()
    assert result.decoded == json.loads(RESULT)
    assert (text(result), result.is_error) == ("x", True)
    assert repr(copied(result)) == repr(result)


@pytest.mark.parametrize("copied", COPIES)
def test_what_a_session_lists_reads_and_hears_is_whole_in_copies(log: Log, copied: Any) -> None:
    with trunkline.sync.Pool(cache="off") as pool, pool.events() as events:
        session = pool.session("a", servers=[])
        lease = session.acquire("s", log.server())
        event = next(iter(events))
        results = [lease.get_prompt("greet", {"who": "x"}), lease.read_resource("test://one"), lease.request("tools/list")]
        views = [session.tools(), session.prompts(), session.resources(), session.resource_templates()]
    for result in results:
        again = copied(result)
        assert (type(again), again.raw, again.decoded) == (type(result), result.raw, result.decoded)
    for view in views:
        again = copied(view)
        assert (type(again), again.revision, len(again)) == (type(view), view.revision, len(view))
        assert view and all(isinstance(item, trunkline.ListedItem) for item in again)
        for before, after in zip(view, map(copied, view), strict=True):
            assert repr(after) == repr(before)
            members = ("name", "server", "own_name", "definition_text", "definition", "trust", "always_load", "deferred")
            assert [getattr(after, name) for name in members] == [getattr(before, name) for name in members]
    again = copied(event)
    assert (type(again), again.text, dict(again)) == (type(event), event.text, dict(event))
    assert repr(again) == repr(event)


def test_events_are_mappings(log: Log) -> None:
    with trunkline.sync.Pool(cache="off") as pool, pool.events() as events:
        pool.session("a", servers=[]).acquire("s", log.server())
        event = next(iter(events))
        assert isinstance(event, Mapping)
        assert dict(event) == event.decoded == {**event}
        assert "type" in event and "nothing" not in event and event.get("nothing", 1) == 1
        assert len(event) == len(event.decoded) and list(event) == list(event.decoded)
        match event:
            case {"type": kind, "seq": seq}:
                assert (kind, seq) == (event.type, event.seq)
            case _:
                raise AssertionError(event)
        assert event == event and len({event, event}) == 1


def test_an_event_that_is_half_made_has_no_members() -> None:
    for half in (trunkline.Event.__new__(trunkline.Event), trunkline.events.Failed.__new__(trunkline.events.Failed)):
        for name in ("decoded", "_decoded", "text", "type", "seq", "anything", "__wrapped__"):
            with pytest.raises(AttributeError):
                getattr(half, name)


def test_names_with_an_underscore_are_no_members() -> None:
    event = trunkline.Event('{"type":"later","_own":1,"own":2}')
    assert event.own == 2 and event["_own"] == 1
    with pytest.raises(AttributeError, match="_own"):
        event._own
    with pytest.raises(AttributeError, match="_own"):
        trunkline.reports.Status({"_own": 1})._own


#: Calls that are refused, and the bytes of the arguments of each.
REFUSED, ARGUMENT_BYTES = 100, 100_000


def refused_by_threads(server: dict[str, Any]) -> list[trunkline.TrunklineError]:
    errors = []
    with trunkline.sync.Pool(cache="off") as pool:
        lease = pool.session("a", servers=[]).acquire("s", server)
        for number in range(REFUSED):
            try:
                lease.call_tool("nothing", {"message": f"{number:0{ARGUMENT_BYTES}}"})
            except trunkline.ToolNotFoundError as error:
                errors.append(error)
    return errors


def refused_by_loop(server: dict[str, Any]) -> list[trunkline.TrunklineError]:
    async def main() -> list[trunkline.TrunklineError]:
        errors = []
        async with trunkline.Pool(cache="off") as pool:
            lease = await pool.session("a", servers=[]).acquire("s", server)
            for number in range(REFUSED):
                progress = None if number % 2 else print
                try:
                    await lease.call_tool("nothing", {"message": f"{number:0{ARGUMENT_BYTES}}"}, progress=progress)
                except trunkline.ToolNotFoundError as error:
                    errors.append(error)
        return errors

    return asyncio.run(main())


@pytest.mark.parametrize("refused", [refused_by_threads, refused_by_loop])
def test_kept_errors_keep_no_arguments(log: Log, refused: Any) -> None:
    tracemalloc.start()
    try:
        errors = refused(log.server())
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(errors) == REFUSED and all(error.__traceback__ is not None for error in errors)
    assert kept < REFUSED * ARGUMENT_BYTES / 10, f"{kept} bytes are kept by {REFUSED} errors"


#: Calls that are refused, each with arguments of its own; by one who has a lease and one who has a session.
REFUSALS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a tool": lambda lease, session, given: lease.call_tool("none", given),
    "an exposed tool": lambda lease, session, given: session.call_tool("none", given),
    "a request": lambda lease, session, given: lease.request("none/such", given),
    "a prompt": lambda lease, session, given: lease.get_prompt("none", given),
    "a completion": lambda lease, session, given: (lease.release(), lease.complete(given))[1],
    "an option": lambda lease, session, given: lease.call_tool("none", given, nonsense=1),
    "progress": lambda lease, session, given: lease.call_tool("none", given, progress=print),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=list(REFUSALS))
@pytest.mark.parametrize("on_loop", [False, True])
def test_a_kept_error_keeps_no_arguments(log: Log, refusal: Callable[[Any, Any, Any], Any], on_loop: bool) -> None:
    """The traceback keeps the library's frames, which have given theirs up."""

    def by_thread() -> None:
        with trunkline.sync.Pool(cache="off") as pool, pool.session("a", servers=[]) as session:
            refusal(session.acquire("s", log.server()), session, {"a": "x" * ARGUMENT_BYTES})

    async def by_loop() -> None:
        async with trunkline.Pool(cache="off") as pool, pool.session("a", servers=[]) as session:
            await refusal(await session.acquire("s", log.server()), session, {"a": "x" * ARGUMENT_BYTES})

    with pytest.raises(trunkline.TrunklineError) as raised:
        asyncio.run(by_loop()) if on_loop else by_thread()
    own = [frame for frame, _ in traceback.walk_tb(raised.tb) if "/python/trunkline/" in frame.f_code.co_filename]
    assert own
    assert [frame.f_code.co_name for frame in own if "x" * ARGUMENT_BYTES in repr(frame.f_locals)] == []
