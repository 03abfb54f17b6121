"""The verbs of behaviour cases about settings, sources, trust and approvals (``docs/internals/behaviour-steps.md``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from behaviour_hosts import AioHost, SyncHost


class Settings:
    """The part of a case that knows these verbs."""

    _host: AioHost | SyncHost
    _folder: Path
    _pool: Any
    _sessions: dict[str, Any]

    def _known(self, value: Any) -> Any:
        raise NotImplementedError

    def _server(self, server: Any) -> Any:
        raise NotImplementedError

    def _within(self, value: Any) -> Any:
        """The value with every server object in it as the library wants it."""
        value = self._server(value)
        if isinstance(value, dict):
            return {name: self._within(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self._within(one) for one in value]
        return value

    def _do_write(self, path: str, settings: Any) -> None:
        file = self._folder / path
        if settings is None:
            return file.unlink()
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_suffix(".new")
        beside.write_text(settings if isinstance(settings, str) else json.dumps(self._within(settings)))
        beside.rename(file)
        return None

    def _do_load(self, path: str, options: Any = None) -> Any:
        return self._host.run(lambda: self._pool.load(self._folder / path, **(options or {})))

    def _do_set_source(self, source: str, settings: Any) -> Any:
        given = self._within(settings)
        return self._host.run(lambda: self._pool.set_source(source, given))

    def _do_switch_source(self, source: str, to: Any) -> Any:
        return self._host.run(lambda: self._pool.switch_source(source, to))

    def _do_add_server(self, server: str, config: Any) -> Any:
        given = self._server(config)
        return self._host.run(lambda: self._pool.add_server(server, given))

    def _do_remove_server(self, server: str) -> Any:
        return self._host.run(lambda: self._pool.remove_server(server))

    def _do_set_trusted(self, trusted: bool) -> Any:
        return self._host.run(lambda: self._pool.set_trusted(trusted))

    def _do_reload(self, options: Any = None) -> Any:
        return self._host.run(lambda: self._pool.reload(**(options or {})))

    def _do_approvals(self) -> Any:
        return self._host.run(lambda: self._pool.approvals())

    def _do_approve(self, server: str, shown: Any) -> Any:
        return self._host.run(lambda: self._pool.approve(server, self._hash(server, shown)))

    def _do_reject(self, server: str, shown: Any) -> Any:
        return self._host.run(lambda: self._pool.reject(server, self._hash(server, shown)))

    def _do_explain(self, name: str, session: str | None = None) -> Any:
        subject = self._pool if session is None else self._sessions[session]
        return self._host.run(lambda: subject.explain(name))

    def _do_forget(self, server: str) -> Any:
        return self._host.run(lambda: self._pool.forget(server))

    def _hash(self, server: str, shown: Any) -> str:
        """The hash by itself, or the one that was shown for the server."""
        known = self._known(shown)
        requests = known["requests"] if isinstance(known, dict) else []
        found = [request["hash"] for request in requests if request["server"] == server]
        hash: str = found[0] if found else known
        return hash
