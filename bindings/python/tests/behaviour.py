"""The interpreter of behaviour cases for Python (``docs/internals/behaviour.md``)."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import trunkline

from behaviour_handlers import scripted
from behaviour_hosts import CANCELLED, AioHost, Early, Recorder, SyncHost
from behaviour_match import EXPECTATIONS, Missing, check, fits
from behaviour_provided import Provided
from behaviour_sources import Settings
from behaviour_types import check_types
from host import HANG, Log, RemoteServer, fault_program, visit

#: Between two tries of `until`, in seconds.
AGAIN = 0.01

#: The verbs that `start` may begin.
STARTED = {
    "acquire", "call", "call_exposed", "request", "request_of", "read_resource", "get_prompt", "drain", "restart", "settled",
    "started", "ready", "refresh", "listed",
}


def keywords(options: Any) -> dict[str, Any]:
    """Options of the table as keyword arguments: no suffix, float seconds."""
    return {
        name.removesuffix("_ms"): _seconds(value) if name.endswith("_ms") else _deeper(value)
        for name, value in (options or {}).items()
    }


def _deeper(value: Any) -> Any:
    return keywords(value) if isinstance(value, dict) else value


def _seconds(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _seconds(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_seconds(one) for one in value]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value / 1000 if is_number else value


def decoded(result: trunkline.Result) -> Any:
    """The result, or nothing where Python cannot decode it."""
    try:
        return result.decoded
    except trunkline.ProtocolError:
        return None


def error_object(error: BaseException) -> dict[str, Any]:
    """An exception as cases know errors."""
    if isinstance(error, CANCELLED):
        return {"code": "cancelled"}
    if not isinstance(error, trunkline.TrunklineError):
        raise error
    names = ("code", "message", "server", "session", "retryable", "outcome", "detail", "hint")
    parts = {name: getattr(error, name) for name in names}
    return {name: part for name, part in parts.items() if part is not None}


class Case(Settings):
    """One case under way."""

    def __init__(self, host: AioHost | SyncHost, case: dict[str, Any], folder: Path, log: Log) -> None:
        unknown = case.keys() - {"name", "spec", "options", "remotes", "servers", "steps", "after"}
        assert not unknown, f"unknown members {unknown}"
        assert case.get("after", {"processes": 0}) == {"processes": 0}, "unknown `after`"
        self._host = host
        self._case = case
        self._log = log
        self._folder = folder
        (folder / "workspace").mkdir()
        places = {"folder": folder, "workspace": folder / "workspace", "file": folder / "file"}
        self._saved: dict[str, Any] = {name: str(place) for name, place in places.items()}
        self._leases: dict[str, Any] = {}
        self._kept: list[Any] = []
        self._started: dict[str, tuple[Any, str]] = {}
        self._sessions: dict[str, Any] = {}
        self._records: dict[str, Recorder] = {}
        self._asked: dict[str, list[Any]] = {}
        self._unread: dict[str, Any] = {}

    def run(self) -> None:
        """Set-up, steps, end."""
        with contextlib.ExitStack() as remotes:
            for name, wanted in self._case.get("remotes", {}).items():
                is_fault = isinstance(wanted, dict)
                flags = self._known(wanted["fault"] if is_fault else wanted)
                program = fault_program() if is_fault else None
                remote = remotes.enter_context(RemoteServer(*flags, program=program))
                self._saved[name] = remote.address
            self._run()

    def _run(self) -> None:
        self._begin_pool()
        try:
            self._give_servers()
            for number, step in enumerate(self._case["steps"], 1):
                try:
                    self._step(step)
                except Exception as error:
                    error.args = (f"step {number}, {step}: {error}",)
                    raise
        finally:
            self._end_pool()
        self._log.settle()

    def _begin_pool(self) -> None:
        # Never the decisions of the person who runs the cases.
        options = {"approvals": "memory", "cache": "off", **self._options("pool", self._case.get("options"))}
        self._pool = self._host.pool(**options)
        self._records["pool"] = self._host.record(self._pool.events())

    def _give_servers(self) -> None:
        servers = self._servers(self._case.get("servers", {}))
        self._host.run(lambda: self._pool.reconcile(servers))

    def _end_pool(self) -> None:
        for started, _ in self._started.values():
            started.cancel()
        self._host.close_pool(self._pool)

    def _step(self, step: dict[str, Any]) -> None:
        verbs = step.keys() - EXPECTATIONS - {"error"}
        assert len(verbs) == 1, f"one verb, not {verbs}"
        verb = verbs.pop()
        arguments = step[verb] if isinstance(step[verb], list) else [step[verb]]
        if verb == "until":
            return self._repeat(step["until"])
        if verb == "start":
            return self._start(step)
        step = {**step, **self._known({name: step[name] for name in ("is", "match", "text") if name in step})}
        try:
            value = self._carry_out(verb, arguments)
        except (Exception, *CANCELLED) as error:
            if "error" not in step or isinstance(error, AssertionError):
                raise
            found = error_object(error)
            if not fits(found, self._known(step["error"])):
                raise Missing(f"the error is {found}") from error
            return
        if "error" in step:
            raise Missing(f"no error but {value!r}")
        self._expect(step, value)

    def _expect(self, step: dict[str, Any], value: Any) -> None:
        raw, shown = None, value
        check_types(value)
        if isinstance(value, trunkline.Result):
            raw, shown = value.raw, decoded(value)
        elif hasattr(value, "entry_index"):
            index, generation = value.entry_index, value.generation
            shown = {"server": value.server, "entry_index": index, "generation": generation}
            self._kept.append(value)
            if "as" in step:
                self._leases[step["as"]] = value
        check(step, shown, raw, self._saved)
        if "as" in step:
            self._saved[step["as"]] = shown

    def _known(self, value: Any) -> Any:
        """The value with the saved ones in place of their names."""
        if isinstance(value, str) and value[:1] == "$" and value[1:] in self._saved:
            return self._saved[value[1:]]
        if isinstance(value, dict):
            return {name: self._known(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self._known(one) for one in value]
        return value

    def _options(self, owner: str, options: Any) -> dict[str, Any]:
        """The options of a session or of the pool, with the handlers that they describe."""
        known = dict(self._known(options or {}))
        scripts = known.pop("handlers", None)
        given = keywords(known)
        if scripts is not None:
            self._asked[owner] = []
            given["handlers"] = scripted(scripts, self._asked[owner], self._host.blocks)
        return given

    def _server(self, server: Any) -> Any:
        server = self._known(server)
        if not isinstance(server, dict):
            return server
        for name, make in (("testserver", self._log.server), ("fault", self._log.fault_server)):
            if name in server:
                rest = {member: value for member, value in server.items() if member != name}
                return {**make(*server[name]), **rest}
        return server

    def _servers(self, servers: dict[str, Any]) -> dict[str, Any]:
        return {name: self._server(server) for name, server in servers.items()}

    # The verbs that only make a call. Each gives a function without arguments.

    def _call_acquire(
        self, session: str, server: str, config: Any = None, options: Any = None
    ) -> Callable[[], Any]:
        spec = None if config is None else self._server(config)
        return lambda: self._sessions[session].acquire(server, spec, **keywords(options))

    def _call_call(
        self, lease: str, tool: str, arguments: Any, options: Any = None
    ) -> Callable[[], Any]:
        known = self._known(arguments)
        return lambda: self._leases[lease].call_tool(tool, known, **keywords(options))

    def _call_call_exposed(
        self, session: str, tool: str, arguments: Any, options: Any = None
    ) -> Callable[[], Any]:
        known = self._known(arguments)
        return lambda: self._sessions[session].call_tool(tool, known, **keywords(options))

    def _call_request(
        self, lease: str, method: str, params: Any, options: Any = None
    ) -> Callable[[], Any]:
        known = self._known(params)
        return lambda: self._leases[lease].request(method, known, **keywords(options))

    def _call_read_resource(self, lease: str, uri: str) -> Callable[[], Any]:
        return lambda: self._leases[lease].read_resource(self._known(uri))

    def _call_get_prompt(self, lease: str, name: str, arguments: Any) -> Callable[[], Any]:
        return lambda: self._leases[lease].get_prompt(name, self._known(arguments))

    def _call_request_of(
        self, session: str, server: str, method: str, params: Any, options: Any = None
    ) -> Callable[[], Any]:
        known = self._known(params)
        return lambda: self._sessions[session].request(server, method, known, **keywords(options))

    def _call_restart(self, server: str, index: int | None = None) -> Callable[[], Any]:
        return lambda: self._pool.restart(server, index)

    def _call_drain(self, options: Any = None) -> Callable[[], Any]:
        return lambda: self._pool.drain_all(**keywords(self._known(options)))

    def _call_settled(self, options: Any = None) -> Callable[[], Any]:
        return lambda: self._pool.settled(**keywords(options))

    def _call_started(self, session: str) -> Callable[[], Any]:
        return lambda: self._sessions[session].started()

    def _call_ready(
        self, session: str, server: str | None = None, options: Any = None
    ) -> Callable[[], Any]:
        return lambda: self._sessions[session].ready(server, **keywords(options))

    def _call_refresh(self, session: str, server: str) -> Callable[[], Any]:
        return lambda: self._sessions[session].refresh(server)

    def _call_listed(self, session: str, server: str | None = None) -> Callable[[], Any]:
        return lambda: self._sessions[session].listed(server)

    def _begin(self, verb: str, arguments: list[Any]) -> Callable[[], Any]:
        call: Callable[[], Any] = getattr(self, f"_call_{verb}")(*arguments)
        return call

    def _carry_out(self, verb: str, arguments: list[Any]) -> Any:
        if verb in STARTED:
            return self._host.run(self._begin(verb, arguments))
        do: Callable[..., Any] | None = getattr(self, f"_do_{verb}", None)
        assert do is not None, f"unknown verb {verb}"
        return do(*arguments)

    # The other verbs.

    def _do_open(self, session: str, options: Any = None) -> None:
        given = {"servers": [], **self._options(session, options)}

        def begun() -> tuple[Any, Any, Any]:
            before = self._pool.events()
            opened = self._pool.session(session, **given)
            return before, opened, opened.events()

        before, opened, events = self._host.run(begun)
        numbers = (stream.snapshot["seq"] for stream in (before, events))
        early = Early(self._records["pool"], session, *numbers)
        before.close()
        self._records[session] = self._host.record(events, early)
        self._sessions[session] = opened

    def _do_close(self, session: str, options: Any = None) -> None:
        self._sessions[session].close(**keywords(options))

    def _do_release(self, lease: str) -> None:
        self._leases[lease].release()

    def _do_configure(self, session: str, options: Any) -> None:
        self._sessions[session].configure(**keywords(options))

    def _do_set_roots(self, roots: list[str]) -> None:
        self._host.run(lambda: self._pool.set_roots(roots))

    def _do_set_gates(self, lists: Any) -> Any:
        return self._pool.set_gates(**keywords(lists))

    def _do_disable(self, session: str, server: str) -> None:
        self._sessions[session].disable(server)

    def _do_enable(self, session: str, server: str) -> None:
        self._sessions[session].enable(server)

    def _do_subscribe(self, lease: str, uri: str) -> None:
        self._host.run(lambda: self._leases[lease].subscribe_resource(uri))

    def _do_unsubscribe(self, lease: str, uri: str) -> None:
        self._host.run(lambda: self._leases[lease].unsubscribe_resource(uri))

    def _view(self, rows: list[trunkline.ListedItem]) -> list[dict[str, Any]]:
        names = ("name", "server", "own_name", "trust", "always_load", "deferred", "definition")
        return [{name: getattr(row, name) for name in names} for row in rows]

    def _do_tools(self, session: str) -> Any:
        return self._view(self._sessions[session].tools())

    def _do_tools_for(self, session: str, shape: str) -> Any:
        return self._sessions[session].tools_for(shape)

    def _do_revision(self, session: str) -> Any:
        return self._sessions[session].tools().revision

    def _do_prompts(self, session: str) -> Any:
        return self._view(self._sessions[session].prompts())

    def _do_resources(self, session: str) -> Any:
        return self._view(self._sessions[session].resources())

    def _do_provide(self, session: str, server: str, flags: list[str]) -> None:
        provided = Provided([*flags, "--start-log", str(self._log.path)])
        opened = self._sessions[session]
        self._host.run(lambda: opened.provide(server, provided.receive, provided.closed))

    def _do_resource_templates(self, session: str) -> Any:
        return self._view(self._sessions[session].resource_templates())

    def _do_introduction(self, owner: str, server: str | None = None) -> Any:
        if server is not None:
            return self._sessions[owner].introduction(server)
        lease = self._leases[owner]
        said = lease.introduction()
        names = ("protocol_version", "server_info", "capabilities", "instructions")
        assert said == (said and {name: getattr(lease, name) for name in names})
        return said

    def _do_status(self) -> Any:
        return self._pool.status()

    def _do_watch(self, name: str, subscriber: str) -> None:
        watched = self._pool if subscriber == "pool" else self._sessions[subscriber]
        self._unread[name] = watched.events()

    def _record(self, subscriber: str) -> Recorder:
        if subscriber in self._unread:
            self._records[subscriber] = self._host.record(self._unread.pop(subscriber))
        return self._records[subscriber]

    def _do_wait_event(self, subscriber: str, kind: str, pattern: Any = None) -> Any:
        wanted = self._known(pattern)
        return self._record(subscriber).wait(lambda e: wanted is None or fits(e, wanted), kind)

    def _do_no_event(self, subscriber: str, kind: str, pattern: Any = None) -> None:
        wanted = self._known(pattern)
        found = self._record(subscriber).find(lambda e: wanted is None or fits(e, wanted), kind)
        if found is not None:
            raise Missing(f"there is {found}")

    def _do_accept_tool(self, server: str, tool: str, shown: Any) -> None:
        known = self._known(shown)
        digest = known["difference"]["to"] if isinstance(known, dict) else known
        self._host.run(lambda: self._pool.accept_tool(server, tool, digest))

    def _do_sign_in(self, server: str, options: Any = None) -> Any:
        given = keywords(self._known(options))
        return self._host.run(lambda: self._pool.sign_in(server, **given))

    def _do_visit(self, address: Any) -> str:
        known = self._known(address)
        return visit(known["url"] if isinstance(known, dict) else known)

    def _do_finish_sign_in(self, redirect_url: str) -> Any:
        known = self._known(redirect_url)
        return self._host.run(lambda: self._pool.finish_sign_in(known))

    def _do_sign_out(self, server: str) -> Any:
        return self._host.run(lambda: self._pool.sign_out(server))

    def _do_reconcile(self, servers: dict[str, Any]) -> Any:
        given = self._servers(servers)
        return self._host.run(lambda: self._pool.reconcile(given))

    def _do_pool(self, options: Any) -> None:
        self._host.close_pool(self._host.pool(**keywords(self._known(options))))

    def _do_reopen(self) -> None:
        self._end_pool()
        begun = (self._started, self._sessions, self._leases, self._records, self._asked, self._unread)
        for named in begun:
            named.clear()
        self._kept.clear()
        self._begin_pool()
        self._give_servers()

    def _do_asked(self, owner: str) -> list[Any]:
        return list(self._asked[owner])

    def _do_count(self, what: str) -> int:
        if what == "starts":
            return self._log.starts()
        assert what == "processes", f"unknown count {what}"
        return len(self._log.running())

    def _start(self, step: dict[str, Any]) -> None:
        ((verb, arguments),) = step["start"].items()
        assert verb in STARTED, f"{verb} cannot be started"
        call = self._begin(verb, arguments if isinstance(arguments, list) else [arguments])
        self._started[step["as"]] = self._host.start(call), verb

    def _do_cancel(self, operation: str) -> None:
        self._started[operation][0].cancel()

    def _do_finish(self, operation: str) -> Any:
        return self._started.pop(operation)[0].finish()

    def _repeat(self, step: dict[str, Any]) -> None:
        deadline = time.monotonic() + HANG
        while True:
            try:
                return self._step(step)
            except (Missing, trunkline.TrunklineError):
                if time.monotonic() >= deadline:
                    raise
                time.sleep(AGAIN)
