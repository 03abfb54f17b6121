//! The adapters for agent frameworks, against the frameworks themselves, as the registries have
//! them.

use crate::machine::Machine;
use crate::run::{Run, Stop};

/// All of them. What needs no more than other suites install anyway is run in those too.
pub fn adapters(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    machine.testserver(run)?;
    super::python::environment(machine, run)?;
    for (environment, packages, tests) in PYTHON {
        let folder = machine.python_environment(run, environment, packages)?;
        python(machine, run, &folder, tests)?;
    }
    run.command(machine.command("node").arg("bindings/node/build.mjs"))?;
    let modules = machine.npm_packages(run, &NPM)?;
    node(machine, run, &modules, &NODE)?;
    types(machine, run, &modules)
}

/// Tests of the Python package in an environment that has a framework and pytest.
pub fn python(
    machine: &Machine,
    run: &mut Run,
    environment: &std::path::Path,
    tests: &[&str],
) -> Result<(), Stop> {
    let mut pytest = machine.command(environment.join("bin/python"));
    pytest.args(["-m", "pytest", "-q"]);
    pytest.args(tests.iter().map(|test| format!("bindings/python/tests/adapters/{test}")));
    // The native module stands in the source tree, where the suite `python` puts it.
    pytest.env("PYTHONPATH", machine.root.join("bindings/python/python"));
    run.command(pytest.env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// Tests of the Node package, where it is installed beside the frameworks in this folder of
/// modules.
pub fn node(
    machine: &Machine,
    run: &mut Run,
    modules: &std::path::Path,
    tests: &[&str],
) -> Result<(), Stop> {
    let mut node = machine.command("node");
    run.command(node.arg("bindings/node/test-adapters/run.mjs").arg(modules).args(tests))
}

/// The declarations of the adapters, with those of the frameworks, where the tests were put.
fn types(machine: &Machine, run: &mut Run, modules: &std::path::Path) -> Result<(), Stop> {
    let mut tsc = machine.command("node");
    tsc.arg(modules.join("typescript/bin/tsc")).arg("-p");
    run.command(tsc.arg(modules.with_file_name("adapter-tests").join("tsconfig.json")))
}

/// Environments, what is installed in them, and the tests that they run.
const PYTHON: [(&str, &[&str], &[&str]); 2] = [
    (
        "adapters-venv",
        &[
            "langchain==1.5.2",
            "openai-agents==0.24.0",
            "pydantic-ai-slim==2.68.0",
            "mcp==2.3.0",
            super::python::PYTEST,
        ],
        &[""],
    ),
    ("mcp1-venv", &["mcp==1.30.0", super::python::PYTEST], OF_MCP),
];

/// What the package `mcp` alone is needed for, in whichever version.
pub const OF_MCP: &[&str] = &[
    "test_mcp.py",
    "test_mcp_arguments.py",
    "test_mcp_client.py",
    "test_mcp_request.py",
    "test_mcp_said.py",
    "test_mcp_surface.py",
];

/// The tests of the Node package.
const NODE: [&str; 7] = ["ai", "definitions", "langchain", "otel", "sdk", "sdk-results", "surface"];

const NPM: [&str; 12] = [
    super::node::AI_SDK,
    "@langchain/core@1.4.0",
    "@langchain/langgraph@1.7.3",
    "@modelcontextprotocol/sdk@1.32.2",
    // For their declarations, which say what their clients have.
    "@ai-sdk/mcp@2.0.99",
    "@langchain/mcp-adapters@1.1.4",
    "@modelcontextprotocol/client@2.4.0",
    super::node::TYPESCRIPT,
    super::node::NODE_TYPES,
    super::node::OTEL[0],
    super::node::OTEL[1],
    super::node::OTEL[2],
];
