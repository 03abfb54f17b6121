"""Secrets in what a host configures, looked for in all that Python shows of it (S-48, SECURITY row 13)."""

from __future__ import annotations

import base64
import itertools
import json
import logging
import os
import pickle
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

import trunkline
import trunkline.sync
from trunkline import Refusal, ServerRequest, _trunkline

from host import HANG, ROOT, RemoteServer, score, server_program, text, visit, wait_until

INPUTS = ROOT / "tests" / "canaries.json"

#: A mark of the inputs, with the place that it stands at.
MARK = re.compile(r"CANARY [A-Za-z ]+")

#: Where a secret may be seen: the arguments of a process in its command line and in the request to approve it, and what a
#: function of the host raises in the host's own log.
MAY_BE_SEEN = {
    "an argument": "process",
    "an argument of what is approved": "approvals",
    "what a handler fails with": "log of the host's own failure",
}


#: The parts of what prints as its name alone: of results, events, and what is listed.
PARTS = ("decoded", "definition_text", "text")


def forms(secret: str) -> list[str]:
    """As it is, and within the code of basic authentication: three bytes are four letters of it, wherever the secret begins."""
    aligned = (secret[skip : skip + (len(secret) - skip) // 3 * 3] for skip in range(3))
    return [secret, *(base64.b64encode(part.encode()).decode() for part in aligned)]


class Shown:
    """All that was shown, and where."""

    def __init__(self) -> None:
        self._texts: set[tuple[str, str]] = set()

    def keep(self, place: str, *things: object) -> None:
        for thing in things:
            # What is in it is shown by who prints its parts.
            parts = [getattr(thing, name) for name in PARTS if hasattr(thing, name)]
            self._texts.update((place, shown) for part in (thing, *parts) for shown in (repr(part), str(part)))

    def keep_error(self, place: str, error: BaseException) -> None:
        self.keep(place, error, "".join(traceback.format_exception(error)))
        told = {name: value for name, value in vars(error).items() if name != "_arguments_text"}
        # The arguments of its call are for the caller alone; so is a copy of it.
        self.keep(place, told, *([pickle.dumps(error)] if getattr(error, "arguments", None) is None else []))
        if error.__cause__ is not None:
            self.keep_error(place, error.__cause__)

    def keep_files(self, folder: Path) -> None:
        for file in folder.rglob("*"):
            if file.is_file():
                self.keep("file", f"{file}: {file.read_bytes()!r}")

    def places_of(self, secret: str) -> dict[str, str]:
        """Where it is seen, and what is around it."""
        seen, sought = {}, forms(secret)
        for place, text in self._texts:
            for form in sought:
                if form in text:
                    at = text.index(form)
                    seen[place] = text[max(at - 200, 0) : at + 200]
        return seen

    def count(self, place: str) -> int:
        return sum(shown == place for shown, _ in self._texts)

    def __len__(self) -> int:
        return len(self._texts)


class Inputs:
    """The inputs, with a secret for each place in them that has a mark."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.places: dict[str, str] = {}
        planted = MARK.sub(lambda mark: self.canary(mark.group().removeprefix("CANARY ")), INPUTS.read_text())
        self._text = planted.replace('"SERVER"', json.dumps(server_program())).replace("FOLDER", str(folder))

    def canary(self, place: str, secret: str | None = None) -> str:
        """The secret of that place: letters and digits alone, so that no escaping changes it."""
        number = len(self.places)
        return self.places.setdefault(place, secret or f"q{number:02}Zcanary{97 - number:02}Y")

    @contextmanager
    def given(self) -> Iterator[dict[str, Any]]:
        """The inputs, with their files written and their remote servers running."""
        whole, given = self._text, json.loads(self._text)
        for name, content in {**given["files"], **given["settings"]}.items():
            written = content if isinstance(content, str) else json.dumps(content)
            self.folder.joinpath(name).write_text(written, encoding="utf-8")
        with ExitStack() as running:
            for name, flags in given["remotes"].items():
                flags = [flag if isinstance(flag, str) else json.dumps(flag) for flag in flags]
                remote = running.enter_context(RemoteServer(*flags))
                whole = whole.replace(f"${name}", remote.address.split("/")[2])
            yield json.loads(whole)


def processes(server: int) -> Iterator[str]:
    """The command lines of a server and of what holds it, and the environment of that."""
    pid = server
    while pid not in (1, os.getpid()):
        process = Path(f"/proc/{pid}")
        try:
            shown = [process / "cmdline", *([] if pid == server else [process / "environ"])]
            yield " ".join(file.read_bytes().decode().replace("\0", " ") for file in shown)
            pid = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            return


def answering(shown: Shown, answers: dict[str, Any]) -> Callable[[ServerRequest], Any]:
    """A handler that does for each server, or each kind of question, what is written down for it."""

    def answer(request: ServerRequest) -> Any:
        shown.keep("question", request, request.params)
        script = answers.get(request.server if request.kind == "credentials" else request.kind, {})
        if "fail" in script:
            raise ValueError(script["fail"])
        if "refuse" in script:
            raise Refusal(-1, script["refuse"])
        given: Any = script.get("answer", {})
        return given if request.kind == "credentials" else given["value"]

    return answer


class Scene:
    """A pool with every input, and what it shows."""

    def __init__(self, shown: Shown, inputs: Inputs, given: dict[str, Any], home: Path) -> None:
        self.shown, self.inputs, self.given, self.home = shown, inputs, given, home
        self.answer = answering(shown, given["answers"])
        self.pool = trunkline.sync.Pool(
            cache=str(home / "cache"),
            approvals=str(home / "approvals.json"),
            status_file=str(home / "status.json"),
            workspace=str(inputs.folder),
            trusted=True,
            commands=True,
            drain_delay=0.0,
            limits={"event_backlog": 1 << 16},
            handlers={"inputs": self.answer, "secrets": self.answer},
        )

    def attempt(self, place: str, work: Callable[[], Any]) -> Any:
        """What it gives, or why it fails, is shown."""
        try:
            done = work()
        except (trunkline.TrunklineError, TypeError, ValueError) as error:
            return self.shown.keep_error(place, error)
        self.shown.keep(place, done)
        return done

    def look(self, session: trunkline.sync.Session, server: str) -> None:
        """What is said of a server, and of all."""
        for owner in (self.pool, session):
            self.attempt("explain", lambda: owner.explain(server))
        self.shown.keep("objects", self.pool, session, *session.tools())
        self.shown.keep("status", self.pool.status(processes=True), self.pool.metrics(processes=True))

    def use(self, session: trunkline.sync.Session, server: str, config: Any = None) -> None:
        """Acquires a server, and calls it."""
        lease = self.attempt("acquire", lambda: session.acquire(server, config, timeout=HANG))
        if lease is not None:
            self.shown.keep("tools of a lease", *lease.tools())
            for tool in ("pid", "nothing", "fail", "crash"):
                called = self.attempt("call", lambda tool=tool: lease.call_tool(tool, self.given["arguments"]))
                if called is not None and tool == "pid":
                    self.shown.keep("process", *processes(int(text(called))))
            lease.release()
        self.look(session, server)

    def refuse(self) -> None:
        for refused in self.given["refused"]:
            report = self.attempt("refused", lambda refused=refused: self.pool.reconcile({"refused": refused}))
            assert report is None or "error" in report["servers"]["refused"], report

    def sign_in(self, session: trunkline.sync.Session, server: str) -> None:
        """A person signs in; the calls after that use the first token up, so that it is renewed."""
        begun = self.attempt("sign-in", lambda: self.pool.sign_in(server, redirect_uri="http://localhost:3000/callback"))
        back = visit(begun["url"])
        code = re.search("[?&]code=([^&]+)", back)
        assert code
        self.inputs.canary("a code of a sign in", code.group(1))
        for _ in range(2):
            self.attempt("sign-in", lambda: self.pool.finish_sign_in(back))
        for _ in range(3):
            self.use(session, server)
        self.attempt("sign-in", lambda: self.pool.sign_out(server))

    def settle(self) -> None:
        """Every settings file, as a text and as a file."""
        for name, content in self.given["settings"].items():
            path = self.inputs.folder / name
            for work in (
                lambda content=content: self.pool.set_source("user", content),
                lambda path=path: self.pool.load(path, source="user"),
            ):
                self.attempt("source", work)
                with self.pool.session("settings", servers=[]) as session:
                    self.use(session, "f")
            self.attempt("source", lambda: self.pool.set_source("user", None))

    def approve(self, session: trunkline.sync.Session) -> None:
        self.attempt("source", lambda: self.pool.set_source("project", self.given["approved"]))
        asked = self.attempt("approvals", self.pool.approvals)
        (request,) = asked["requests"]
        self.use(session, "approved")
        self.attempt("approvals", lambda: self.pool.approve("approved", request["hash"]))
        self.use(session, "approved")

    def show_all(self) -> None:
        self.refuse()
        self.attempt("report", lambda: self.pool.reconcile(self.given["servers"]))
        let_in = {"credentials": self.answer}
        with self.pool.session("let in", servers=[], handlers=let_in) as session:
            for server in filter(self.given["answers"].__contains__, self.given["servers"]):
                self.use(session, server)
        with self.pool.session("a", servers=[]) as session:
            for server in itertools.filterfalse(self.given["answers"].__contains__, self.given["servers"]):
                self.use(session, server)
            for config in self.given["brought"]:
                self.use(session, "own", config)
            self.attempt("call", lambda: session.call_tool("nothing", self.given["arguments"]))
            self.sign_in(session, "person")
            self.approve(session)
        self.settle()
        wait_until((self.home / "status.json").exists, "the status is written")


def test_the_search_finds_what_is_shown() -> None:
    """A secret as it is, and within the code of basic authentication."""
    shown = Shown()
    shown.keep("plain", "a secretvalue77 b")
    shown.keep("coded", "Basic dXNlcjpzZWNyZXR2YWx1ZTc4")
    found = [list(shown.places_of(f"secretvalue{number}")) for number in (77, 78, 79)]
    assert found == [["plain"], ["coded"], []]


def test_no_secret_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """S-48."""
    caplog.set_level(1)
    logs = trunkline.start_logs("trace")
    folder, home, shown = tmp_path / "given", tmp_path / "home", Shown()
    folder.mkdir()
    home.mkdir()
    inputs = Inputs(folder)
    with inputs.given() as given:
        for name, value in given["variables"].items():
            monkeypatch.setenv(name, value)
        scene = Scene(shown, inputs, given, home)
        # It has its end, and every event before that, once the pool is closed.
        events = scene.pool.events()
        with scene.pool:
            scene.show_all()
            shown.keep("snapshot", events, events.snapshot)
            shown.keep_files(home)
        for event in events:
            shown.keep("approvals" if event.type == "approval_needed" else "event", event)
    logs.close()
    shown.keep_files(home)
    with pytest.raises(trunkline.InternalError) as panicked:
        _trunkline._panic(inputs.canary("what a panic says"))
    shown.keep_error("panic", panicked.value)
    assert any(record.name.startswith("trunkline.") for record in caplog.records)
    for record in caplog.records:
        is_own = record.levelno == logging.ERROR and record.exc_info is not None
        shown.keep("log of the host's own failure" if is_own else "log", record.__dict__)
    shown.keep("output", capfd.readouterr())
    for place in ("event", "file", "question", "acquire", "call", "source", "refused", "process", "sign-in", "explain"):
        assert shown.count(place) >= 4, place
    assert len(inputs.places) >= 40 and len(shown) > 500
    seen = {place: shown.places_of(secret) for place, secret in inputs.places.items()}
    for place, where in MAY_BE_SEEN.items():
        assert seen[place].pop(where, None), f"{place} is not in {where}"
    leaks = {place: where for place, where in seen.items() if where}
    assert not leaks, json.dumps(leaks, indent=1)
    score("canary/python", len(inputs.places))
