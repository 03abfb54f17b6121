"""CPython's collector of cycles, which waits while a native call runs, and the setting of the host for it.

Before CPython 3.12 it runs wherever an object is made that it watches; from then on it never runs in a native call.
"""

from __future__ import annotations

import gc
import signal
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import trunkline.sync
from trunkline import HostConnection, _trunkline

from host import Log, wait_until

#: How many objects are made between two collections here; a call makes fewer by itself, and a list of tools makes more.
THRESHOLD = 20


class Cycle:
    """What only a collection ends."""

    ended = 0

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        Cycle.ended += 1


@pytest.fixture(autouse=True)
def setting() -> Iterator[None]:
    """That of the interpreter, as it was."""
    threshold = gc.get_threshold()
    yield
    gc.set_threshold(*threshold)
    gc.enable()


WAITER = _trunkline.Waiter()

#: The ways out of a native call: of what is on each, the function that has it and its arguments by a number. None makes an object
#: of Python by itself.
WAYS_OUT: dict[str, tuple[Callable[[Any, Any], Callable[..., object]], Callable[[int], tuple[object, ...]]]] = {
    "nothing": (lambda pool, lease: lease.check_process, lambda number: ()),
    "an operation": (lambda pool, lease: pool.settled, lambda number: (WAITER, number, 1)),
    "a subscription": (lambda pool, lease: pool.subscribe, lambda number: (1,)),
    "a session": (lambda pool, lease: pool.session, lambda number: (f'{{"id": "{number}"}}',)),
    "a list": (lambda pool, lease: _trunkline.features, lambda number: ()),
    "a list of tuples": (lambda pool, lease: lease.tools, lambda number: ()),
    "a mapping": (lambda pool, lease: _trunkline.event_bits, lambda number: ()),
    "what is constructed": (lambda pool, lease: _trunkline.construct, lambda number: (_trunkline.Waiter, ())),
    "an exception": (lambda pool, lease: _trunkline._exception, lambda number: ("exited",)),
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_no_finalizer_runs_in_a_native_call(log: Log, way: str) -> None:
    """SPEC 16.4, I-19: an interpreter that ends would end the thread there, in frames of Rust."""
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = session.acquire("s", log.server())
        of, by_number = WAYS_OUT[way]
        call = of(pool._native, lease._native)
        arguments = [by_number(number) for number in range(60)]
        made: list[object] = [None] * len(arguments)
        gc.collect()
        Cycle.ended = 0
        Cycle()
        gc.set_threshold(THRESHOLD)
        for place in range(len(made)):
            made[place] = call(*arguments[place])
        ended = Cycle.ended
        gc.set_threshold(700)
        gc.collect()
        assert (ended, Cycle.ended) == (0, 1)


def seen_by(log: Log, act: Callable[[trunkline.sync.Session, Callable[[], None]], object]) -> list[bool]:
    """What code of the host that runs in the midst of a native call sees of the collector, and what is there after it."""
    seen: list[bool] = []
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        act(session, lambda: seen.append(gc.isenabled()))
    return [*seen, gc.isenabled()]


def fails(session: trunkline.sync.Session, _: Callable[[], None]) -> None:
    with pytest.raises(trunkline.TrunklineError):
        session.call_tool("nothing", {})


def panics(session: trunkline.sync.Session, _: Callable[[], None]) -> None:
    with pytest.raises(trunkline.InternalError):
        _trunkline._panic()


def is_asked(session: trunkline.sync.Session, look: Callable[[], None]) -> None:
    """A server of the host's, which is called by threads of the library."""
    session.provide("own", lambda connection, frame: (look(), connection.close()))
    with pytest.raises(trunkline.TrunklineError):
        session.acquire("own")


def hears_a_signal(session: trunkline.sync.Session, look: Callable[[], None]) -> None:
    """While it waits in a native call, which ends behind it."""
    heard = threading.Event()

    def receive(connection: HostConnection, frame: str) -> None:
        heard.wait()
        connection.close()

    before = signal.signal(signal.SIGALRM, lambda *_: (look(), heard.set()))
    session.provide("own", receive)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(trunkline.TrunklineError):
            session.acquire("own")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


#: Moments in the midst of native calls.
MOMENTS = {"failing": fails, "panicking": panics, "asked": is_asked, "a signal": hears_a_signal}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("enabled", [True, False])
def test_the_host_alone_sets_the_collector(log: Log, moment: str, enabled: bool) -> None:
    """Whatever runs in the midst of a call, and after it, finds the collector as the host has it."""
    (gc.enable if enabled else gc.disable)()
    seen = seen_by(log, MOMENTS[moment])
    assert set(seen) == {enabled}
    assert len(seen) > 1 or moment in ("failing", "panicking")


def test_what_a_server_of_the_host_leaves_is_let_go_of(log: Log) -> None:
    """SPEC 16.4: threads of the library leave its functions to the next call."""

    class Receive:
        def __call__(self, connection: object, frame: str) -> None:
            pass

    with trunkline.sync.Pool() as pool:
        receive = Receive()
        gone = weakref.ref(receive)
        with pool.session("a", servers=[]) as session:
            session.provide("own", receive)
        del receive, session

        def is_let_go_of() -> bool:
            pool.status()
            gc.collect()
            return gone() is None

        wait_until(is_let_go_of, "the function of a server that is gone is still held")
