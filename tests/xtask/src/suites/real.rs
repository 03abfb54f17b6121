//! Servers that no one here wrote, installed into the build folder.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::machine::{Machine, WITH_FEATURES, write};
use crate::run::{Run, Stop};

/// The Rust tests against them; the other languages run theirs in their own suites.
pub fn real(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    machine.needs("core/tests/real_servers/main.rs")?;
    machine.testserver(run)?;
    machine.real_servers(run)?;
    let mut cargo = machine.cargo(&["test", "-p", "trunkline", "--test", "real_servers"]);
    run.command(cargo.args(WITH_FEATURES))
}

/// Installs the servers and writes the file that `TRUNKLINE_REAL_SERVERS` names: a map of server
/// objects by name.
pub fn install(machine: &Machine, run: &mut Run) -> Result<PathBuf, Stop> {
    let modules = machine.npm_packages(run, &NPM_PACKAGES)?;
    let python = machine.python_environment(run, PYTHON_SERVERS, &PYPI_PACKAGES)?;
    let everything = modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let repository = repository(machine, run)?;
    let mut servers = Map::new();
    servers.insert("everything".into(), json!({"command": "node", "args": [everything, "stdio"]}));
    let prefix = machine.target.join("npm");
    let npx = json!(["--no-install", "--prefix", prefix, "mcp-server-everything", "stdio"]);
    servers.insert("everything_npx".into(), json!({"command": "npx", "args": npx}));
    let time =
        json!({"command": python.join("bin/mcp-server-time"), "args": ["--local-timezone", "UTC"]});
    servers.insert("time".into(), time);
    let git =
        json!({"command": python.join("bin/mcp-server-git"), "args": ["--repository", repository]});
    servers.insert("git".into(), git);
    servers.insert("fetch".into(), json!({"command": python.join("bin/mcp-server-fetch")}));
    remotes(&mut servers, &everything, &modules, &python);
    let file = machine.target.join("real-servers.json");
    write(&file, &format!("{:#}\n", Value::Object(servers)))?;
    Ok(file)
}

/// Servers that listen at the port that a test puts in the place of `{port}`; `remote` says how
/// they are reached.
fn remotes(servers: &mut Map<String, Value>, everything: &Path, modules: &Path, python: &Path) {
    for (name, mode, path) in [("http", "streamableHttp", "/mcp"), ("sse", "sse", "/sse")] {
        let server = json!({
            "command": "node", "args": [everything, mode], "env": {"PORT": "{port}"},
            "remote": {"type": name, "path": path},
        });
        servers.insert(format!("everything_{name}"), server);
    }
    let gateway = modules.join("supergateway/dist/index.js");
    let inner = format!("node {} stdio", everything.display());
    let bridge = json!({
        "command": "node",
        "args": [gateway, "--stdio", inner, "--outputTransport", "ws", "--port", "{port}", "--logLevel", "none"],
        "remote": {"type": "websocket", "path": "/message"},
    });
    servers.insert("everything_ws".into(), bridge);
    let sdk = json!({
        "command": python.join("bin/python"), "args": ["-c", PYTHON_SERVER, "{port}"],
        "remote": {"type": "http", "path": "/mcp"},
    });
    servers.insert("python_http".into(), sdk);
    let examples = modules.join("@modelcontextprotocol/sdk/dist/esm/examples/server");
    for (name, file) in SDK_EXAMPLES {
        let example = json!({
            "command": "node", "args": ["--import", AT_PORT, examples.join(file)], "env": {"PORT": "{port}"},
            "remote": {"type": "http", "path": "/mcp"},
        });
        servers.insert(name.into(), example);
    }
}

/// The servers over HTTP that the TypeScript SDK shows its users.
const SDK_EXAMPLES: [(&str, &str); 5] = [
    ("sdk_sessions", "simpleStreamableHttp.js"),
    ("sdk_polling", "ssePollingExample.js"),
    ("sdk_json", "jsonResponseStreamableHttp.js"),
    ("sdk_stateless", "simpleStatelessStreamableHttp.js"),
    ("sdk_changes", "standaloneSseWithGetStreamableHttp.js"),
];

/// They listen at ports that are written in them, of every network: here it is one of the
/// loopback's.
const AT_PORT: &str = "data:text/javascript,import net from 'node:net'; const listen = net.Server.prototype.listen; \
    net.Server.prototype.listen = function (_, ...rest) { return listen.call(this, Number(process.env.PORT), '127.0.0.1', ...rest) }";

/// A server of the Python SDK that learns tools.
const PYTHON_SERVER: &str = r#"
import sys
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("learner")

@server.tool()
def add(a: int, b: int) -> int:
    return a + b

@server.tool()
async def learn(name: str, ctx: Context) -> str:
    server.add_tool(lambda: "learnt", name=name, description="A tool that was learnt.")
    legacy = ctx.protocol_version < "2026"
    await (ctx.session.send_tool_list_changed() if legacy else ctx.notify_tools_changed())
    return "learnt"

server.run("streamable-http", port=int(sys.argv[1]))
"#;

/// A small repository for the git server, made anew when it is not there.
fn repository(machine: &Machine, run: &mut Run) -> Result<PathBuf, Stop> {
    let folder = machine.target.join("real-repository");
    if !folder.join(".git").exists() {
        let mut init = machine.command("git");
        run.preparation("git", init.args(["init", "--quiet"]).arg(&folder))?;
        write(&folder.join("note.txt"), "a note\n")?;
    }
    Ok(folder)
}

pub const NPM_PACKAGES: [&str; 3] = [
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "supergateway@4.0.0",
];

/// The environment of those from PyPI.
pub const PYTHON_SERVERS: &str = "servers-venv";

const PYPI_PACKAGES: [&str; 4] = [
    "mcp-server-time==2026.10.19",
    "mcp-server-git==2026.10.19",
    "mcp-server-fetch==2026.10.24",
    super::python::PYTEST,
];
