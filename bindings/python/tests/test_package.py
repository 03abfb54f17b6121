"""The package as it is installed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import trunkline
from trunkline import _trunkline

from host import ROOT, ended_well, python


def test_the_native_module_exports_nothing_but_its_start() -> None:
    """Another export could meet that of another module in the host."""
    module = _trunkline.__file__
    assert module is not None
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", module], capture_output=True, text=True, check=True
    )
    assert [line.split()[-1] for line in listed.stdout.splitlines()] == ["PyInit__trunkline"]


def test_the_version_is_that_of_the_workspace() -> None:
    found = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert found is not None and trunkline.__version__ == found[1]


def test_the_package_is_typed_and_says_its_tags() -> None:
    """SPEC 9.4."""
    assert (Path(trunkline.__file__).parent / "py.typed").exists()
    assert trunkline.features() and all(isinstance(tag, str) for tag in trunkline.features())


def test_settings_files_that_exist_are_detected(tmp_path: Path) -> None:
    """SPEC 10.3."""
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "mcp.json").write_text("{}")
    (tmp_path / ".mcp.json").write_text("{}")
    for workspace in (tmp_path, str(tmp_path)):
        found = trunkline.detect(workspace)
        ours = [file for file in found["files"] if file["scope"] not in ("user", "managed")]
        assert found["v"] == 1
        assert ours == [
            {"path": str(tmp_path / ".mcp.json"), "format": "claude-code", "scope": "project"},
            {"path": str(tmp_path / ".vscode/mcp.json"), "format": "vscode", "scope": "workspace"},
        ]
    with pytest.raises(TypeError):
        trunkline.detect(5)  # type: ignore[arg-type]


def test_every_public_name_is_there() -> None:
    """Some come with the first look at them."""
    assert set(trunkline.__all__) <= set(dir(trunkline))
    for name in trunkline.__all__:
        value = getattr(trunkline, name)
        assert not isinstance(value, type) or value.__module__ == "trunkline", name
        assert vars(trunkline)[name] is value, name
    with pytest.raises(AttributeError, match="module 'trunkline' has no attribute 'Sesion'"):
        trunkline.Sesion  # type: ignore[attr-defined]


def test_importing_is_cheap() -> None:
    """It adds no module to asyncio and json that costs time, and starts no thread."""
    program = """
import asyncio, json, sys, threading
before = set(sys.modules)
import trunkline
added = {name for name in set(sys.modules) - before if not name.startswith("trunkline")}
print(*sorted(added))
late = {"events", "reports", "types", "_listed", "_logs", "_handlers", "_records", "_frozen"}
assert not {f"trunkline.{name}" for name in late} & set(sys.modules)
assert threading.active_count() == 1
assert len(__import__("os").listdir("/proc/self/task")) == 1
"""
    done = python(program)
    ended_well(done)
    assert set(done.stdout.split()) <= {"atexit", "__future__"}, done.stdout
