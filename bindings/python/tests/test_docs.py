"""The examples of the documentation run as they stand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from host import HANG, ROOT, Log, ended_well
from pages import examples, registered, run_example

#: Its tasks start as many servers as they need; an example of any other page starts one.
COOKBOOK = "docs/guide/cookbook.md"
PAGES = [page for page in registered() if page != COOKBOOK]


def test_the_pages_are_those_of_the_table() -> None:
    assert COOKBOOK in registered() and {"docs/guide/first-program.md", "docs/guide/python.md"} <= set(PAGES)


@pytest.mark.parametrize(("name", "program"), examples(*PAGES), ids=lambda value: value.splitlines()[0])
def test_an_example_runs(name: str, program: str, tmp_path: Path) -> None:
    run_example(name, program, tmp_path)


@pytest.mark.parametrize(("name", "program"), examples(COOKBOOK), ids=lambda value: value.splitlines()[0])
def test_a_task_of_the_cookbook_runs(name: str, program: str, tmp_path: Path) -> None:
    assert run_example(name, program, tmp_path, starts=None)


#: What ``uvx mcp-server-time`` does, without a registry: it writes down each start, and knows one tool.
TIME_SERVER = """#!{python}
import json, pathlib, sys
assert sys.argv[1:] == ["mcp-server-time"]
with (pathlib.Path(__file__).parent / "starts").open("a") as log:
    log.write("start\\n")
TOOL = {{"name": "get_current_time", "inputSchema": {{"type": "object", "required": ["timezone"]}}}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    params = asked.get("params", {{}})
    known = {{
        "initialize": lambda: {{
            "protocolVersion": params["protocolVersion"],
            "capabilities": {{"tools": {{}}}},
            "serverInfo": {{"name": "time", "version": "1"}},
        }},
        "ping": dict,
        "tools/list": lambda: {{"tools": [TOOL]}},
        "tools/call": lambda: {{"content": [{{"type": "text", "text": params["arguments"]["timezone"]}}]}},
    }}
    answer = {{"jsonrpc": "2.0", "id": asked["id"]}}
    if asked["method"] in known:
        answer["result"] = known[asked["method"]]()
    else:
        answer["error"] = {{"code": -32601, "message": "no such method"}}
    print(json.dumps(answer), flush=True)
"""


def test_the_program_of_the_readme_runs_and_starts_one_server(tmp_path: Path) -> None:
    server = tmp_path / "uvx"
    server.write_text(TIME_SERVER.format(python=sys.executable))
    server.chmod(0o755)
    [(name, program)] = examples("README.md")
    printed = run_example(name, program, tmp_path, starts=0, programs=tmp_path)
    assert printed == "chat-1 UTC\nchat-2 UTC\n"
    assert (tmp_path / "starts").read_text() == "start\n"


def test_the_start_prints_what_its_page_says(tmp_path: Path) -> None:
    page = "docs/guide/quickstart/python.md"
    [(name, program)] = examples(page)
    [printed] = re.findall(r"^```text\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert run_example(name, program, tmp_path) == printed


#: What each example of the page prints, among other things.
OBSERVED = [
    'mcp_client_operation_duration_seconds_count{server="demo",mcp_method_name="tools/call"} 1',
    '"name": "tools/call mcp__demo__echo"',
    "trunkline.client.connect: connected",
]


@pytest.mark.parametrize("place", range(len(OBSERVED)))
def test_what_is_observed_is_printed(place: int, tmp_path: Path) -> None:
    """SPEC 16.7."""
    programs = examples("docs/guide/observability.md")
    assert len(programs) == len(OBSERVED)
    assert OBSERVED[place] in run_example(*programs[place], tmp_path)


def test_the_demo_runs(log: Log) -> None:
    servers = json.dumps({"demo": log.server("--list-changes")})
    done = subprocess.run(
        [sys.executable, str(ROOT / "bindings/python/examples/demo.py"), servers],
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    ended_well(done)
    steps = [json.loads(line)["step"] for line in done.stdout.splitlines()]
    assert steps == (
        ["pool"] + ["acquire"] * 2 + ["call"] * 3 + ["change"] * 2 + ["release"] * 2 + ["drain"]
    )
