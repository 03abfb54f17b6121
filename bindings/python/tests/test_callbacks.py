"""Callbacks of a host that do everything wrong, each in a process of its own: none ends it, and none holds up others.

SPEC 16.2, 16.4; I-18, I-19.
"""

from __future__ import annotations

import json

import pytest

from host import HANG, Log, python

#: The row of the scoreboard that these tests are.
SCORE = "callbacks/python"

PROGRAM = """
import json, logging, os, sys, threading
import trunkline, trunkline.sync

kind, way, config, hang = *sys.argv[1:3], json.loads(sys.argv[3]), float(sys.argv[4])
logging.disable()
began, go_on, called_back = threading.Event(), threading.Event(), threading.Event()
inside, ends = [], []

def callback(subject):
    began.set()
    if way == "raise":
        raise ValueError("as asked")
    if way == "block" and not go_on.wait(hang):
        ends.append("others are held up")
    if way == "re-enter":
        inside.append(other.call_tool("echo", {"message": "inside"}).content[0]["text"])
        called_back.set()
    if way == "close":
        pool.close()
        ends.append("closed")
        go_on.set()
    if way == "exit":
        print("exits", flush=True)
        os._exit(0)
    return {"action": "decline"}

def cause():
    try:
        if kind == "event":
            pool.on_event(callback, kinds="status_changed")
            session.acquire("late", config)
        if kind == "progress":
            lease.call_tool("progress", {"steps": 2}, progress=callback)
        if kind == "handler":
            lease.call_tool("ask", {"method": "elicitation/create", "params": {"message": "?"}})
    except trunkline.TrunklineError as error:
        ends.append(error.code)

pool = trunkline.sync.Pool(exit_grace=0.1, kill_grace=0.1)
session = pool.session("a", servers=[], handlers={"elicitation": callback})
lease = session.acquire("s", config)
other = pool.session("b", servers=[]).acquire("s", config)
causing = threading.Thread(target=cause)
# A call that begins before the callback, and ends while it blocks.
beside = threading.Thread(target=other.call_tool, args=("sleep", {"ms": 200}))
if way == "block":
    beside.start()
causing.start()
assert began.wait(hang), "it is called"
if way in ("close", "exit"):
    assert go_on.wait(hang), "it ends"
else:
    for number in range(20):
        assert other.call_tool("echo", {"message": str(number)}).content[0]["text"] == str(number)
if way == "block":
    beside.join()
go_on.set()
if way == "re-enter":
    assert called_back.wait(hang), "it calls back"
causing.join(hang)
assert not causing.is_alive(), "what called it ends"
pool.close()
print(*sorted(set(inside)), *sorted(set(ends)) if way == "close" else ends, "end", flush=True)
"""

#: What a process says at its end.
SAID = {"raise": "end", "block": "end", "re-enter": "inside end", "exit": "exits"}


@pytest.mark.parametrize("way", ["raise", "block", "re-enter", "close", "exit"])
@pytest.mark.parametrize("kind", ["event", "progress", "handler"])
def test_a_callback_that_misbehaves_ends_nothing_and_holds_up_nobody(log: Log, kind: str, way: str) -> None:
    """I-18, I-19."""
    done = python(PROGRAM, kind, way, json.dumps(log.server()), str(HANG / 3))
    assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stdout, done.stderr)
    if way == "close":
        # The call that it was called for ends with its answer or with the pool.
        assert done.stdout.split()[-1] == "end" and "closed" in done.stdout
        assert set(done.stdout.split()) <= {"closed", "end", "closing", "call_interrupted", "cancelled"}
    else:
        assert done.stdout.split() == SAID[way].split()
