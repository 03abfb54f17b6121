"""A plugin for a run under the leak sanitizer: what nothing refers to any more once the tests are over was leaked.

It looks while the interpreter is whole, since one that ends frees little of what it has, and everything would be a leak.
"""

from __future__ import annotations

import ctypes
import gc

import pytest


def are_there() -> bool:
    """Whether there are any; the sanitizer has written them down then."""
    gc.collect()
    check = getattr(ctypes.CDLL(None), "__lsan_do_recoverable_leak_check")
    return bool(check())


def pytest_sessionfinish(session: pytest.Session) -> None:
    if are_there():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
