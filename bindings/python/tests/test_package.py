"""The package as it is installed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import trunkline
from trunkline import _trunkline

from host import ROOT


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
