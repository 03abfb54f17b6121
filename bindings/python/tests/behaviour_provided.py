"""Servers that the runner provides as a host does: the reference server behind pipes of the runner's, a process for each connection."""

from __future__ import annotations

import contextlib
import subprocess
import threading

import trunkline

from host import server_program


class Provided:
    """What is provided under one name."""

    def __init__(self, flags: list[str]) -> None:
        self._command = [server_program(), *flags]
        self._served: dict[int, subprocess.Popen[str]] = {}

    def receive(self, connection: trunkline.HostConnection, frame: str) -> None:
        process = self._served.get(connection.id) or self._start(connection)
        assert process.stdin is not None
        # A server that is gone says so by the end of its output.
        with contextlib.suppress(OSError):
            process.stdin.write(frame + "\n")
            process.stdin.flush()

    def closed(self, connection: trunkline.HostConnection) -> None:
        process = self._served.pop(connection.id, None)
        if process is not None:
            process.kill()
            process.wait()
            assert process.stdin is not None
            with contextlib.suppress(OSError):
                process.stdin.close()

    def _start(self, connection: trunkline.HostConnection) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, encoding="utf-8")
        self._served[connection.id] = process
        threading.Thread(target=self._carry, args=(connection, process), daemon=True).start()
        return process

    def _carry(
        self, connection: trunkline.HostConnection, process: subprocess.Popen[str]
    ) -> None:
        assert process.stdout is not None
        # Once the connection is over nobody is told anything.
        with contextlib.suppress(trunkline.TrunklineError), process.stdout:
            for line in process.stdout:
                connection.send(line)
            connection.close()
