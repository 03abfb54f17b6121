"""What the library logs, in Python's ``logging`` (SPEC 16.7)."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

import trunkline
from trunkline import sync

from host import HANG, Log, wait_until


class Kept(logging.Handler):
    """Keeps what it is told, and where."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[logging.LogRecord] = []
        self.threads: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(record)
        self.threads.add(threading.current_thread().name)

    def messages(self) -> list[str]:
        return [record.getMessage() for record in self.told]


@pytest.fixture
def kept() -> Iterator[Kept]:
    logger, handler = logging.getLogger("trunkline"), Kept()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(1)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(before)


def use(log: Log) -> None:
    with sync.Pool() as pool:
        pool.reconcile({"s": log.server()})
        pool.session("a").acquire("s").call_tool("echo", {"message": "hi"})


def test_a_server_that_cannot_start_is_a_warning(kept: Kept) -> None:
    with trunkline.start_logs(logging.WARNING), sync.Pool() as pool:
        pool.reconcile({"s": {"command": "no-such-program-of-anybody"}})
        with pytest.raises(trunkline.TrunklineError):
            pool.session("a").acquire("s")
    told = [record for record in kept.told if record.getMessage().startswith("connecting failed ")]
    assert told and {record.levelno for record in told} == {logging.WARNING}


def test_records_come_to_the_loggers_of_their_places(log: Log, kept: Kept) -> None:
    with trunkline.start_logs():
        use(log)
    (record,) = [record for record in kept.told if record.getMessage().startswith("connected ")]
    assert (record.name, record.levelno) == ("trunkline.client.connect", logging.INFO)
    assert record.__dict__["fields"]["server"] == "s"
    assert all(record.levelno >= logging.INFO for record in kept.told)
    assert kept.threads == {"trunkline-logs"}


def test_nothing_is_logged_unasked_nor_after_the_end(log: Log, kept: Kept) -> None:
    use(log)
    logs = trunkline.start_logs("trace")
    logs.close()
    logs.close()
    before = len(kept.told)
    use(log)
    assert not [message for message in kept.messages()[before:]]


@pytest.mark.parametrize(
    ("level", "word"),
    [
        (logging.CRITICAL, "error"), (logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"),
        (logging.DEBUG, "debug"), (5, "trace"), (0, "trace"), (logging.INFO + 1, "warn"),
        ("WARNING", "warn"), ("warning", "warn"), ("Critical", "error"), ("DEBUG", "debug"), ("trace", "trace"), ("NOTSET", "trace"),
    ],
)
def test_a_level_is_one_of_logging(level: int | str, word: str) -> None:
    assert trunkline._logs._level(level) == word


@pytest.mark.parametrize("level", ["loud", None, True, 2.5, ""])
def test_what_is_no_level_is_refused_by_its_name(level: object) -> None:
    with pytest.raises(trunkline.InvalidArgumentError, match="^level.* error, warn, info, debug") as caught:
        trunkline.start_logs(level)  # type: ignore[arg-type]
    assert caught.value.detail == {"path": "level"}


def test_another_start_takes_the_place_of_the_first(log: Log, kept: Kept) -> None:
    first = trunkline.start_logs("error")
    with trunkline.start_logs("debug"):
        first.close()
        use(log)
    assert any(record.levelno == logging.DEBUG for record in kept.told)


def test_a_start_that_gets_no_thread_takes_nobody_s_place(
    log: Log, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with trunkline.start_logs():
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", fails)
            with pytest.raises(RuntimeError, match="start new thread"):
                trunkline.start_logs("error")
        with pytest.raises(trunkline.InvalidArgumentError):
            trunkline.start_logs("loud")
        use(log)
    assert any(message.startswith("connected ") for message in kept.messages())


def test_a_filter_that_raises_costs_its_own_record_alone(log: Log, kept: Kept) -> None:
    seen = []

    def refuse(record: logging.LogRecord) -> bool:
        seen.append(record)
        raise ValueError("no")

    logger = logging.getLogger("trunkline.client.connect")
    logger.addFilter(refuse)
    try:
        with trunkline.start_logs("debug"):
            use(log)
    finally:
        logger.removeFilter(refuse)
    assert seen and "a record could not be logged" in kept.messages()
    assert any(record.name != logger.name for record in kept.told)


PROGRAM = """
import logging, os, sys, trunkline
from trunkline import sync
logging.basicConfig(level=1, stream=sys.stderr, format="%(name)s %(message)s")
logs = trunkline.start_logs("trace")
pool = sync.Pool()
pool.reconcile({"s": {"command": sys.argv[1], "args": ["--start-log", sys.argv[2]]}})
pool.session("a").acquire("s").call_tool("echo", {"message": "hi"})
if sys.argv[3] == "fork":
    child = os.fork()
    if child == 0:
        try:
            pool.status()
        except trunkline.ForkedError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


@pytest.mark.parametrize("how", ["exit", "fork"])
def test_a_host_that_leaves_it_open_ends(log: Log, how: str) -> None:
    """SPEC 16.3, 16.4."""
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(log.server()["command"]), str(log.path), how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, env={**os.environ})
    assert done.returncode == 0, done.stderr
    assert "trunkline.client.connect connected" in done.stderr


def test_what_nobody_takes_is_bounded_and_counted(log: Log, kept: Kept) -> None:
    first, go = threading.Event(), threading.Event()

    def stop(record: logging.LogRecord) -> bool:
        first.set()
        assert go.wait(HANG)
        return True

    handler_filter = logging.Filter()
    handler_filter.filter = stop  # type: ignore[method-assign]
    kept.addFilter(handler_filter)
    with trunkline.start_logs("trace"):
        with sync.Pool() as pool:
            pool.reconcile({"s": log.server()})
            session = pool.session("a")
            assert first.wait(HANG)
            # Each changes something, which takes a step of the pool that is logged.
            for _ in range(3000):
                session.acquire("s").release()
        go.set()
        wait_until(lambda: any("dropped" in message for message in kept.messages()), "nothing was dropped")
    (lost,) = [record for record in kept.told if "records were dropped" in record.getMessage()]
    assert lost.__dict__["fields"]["dropped"] > 0
    assert len(kept.told) < 4096 + 1000
