//! Secrets at every place where a host, a file or a server can put one, and a search for each in everything that is shown: logs of
//! every crate at every level, status, events, errors, explanations, reports, debug forms and files (S-48, SECURITY row 13).
#![cfg(target_os = "linux")]

mod echoes;
mod panics;
#[path = "../rig/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod rig;
mod shown;

use std::collections::BTreeMap;
use std::sync::Mutex;

use rig::{Folder, Rig, testserver};
use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, EventMask, HandlerKind, Handlers, LoadOptions, PoolOptions,
    Refusal, ServerRequest, ServerSpec, Servers, Session, SourceName, StatusOptions,
};

/// All canaries, with the place that each was put at.
static CANARIES: Mutex<BTreeMap<String, &'static str>> = Mutex::new(BTreeMap::new());

/// A new secret for a place: letters and digits alone, so that no escaping changes it.
pub fn canary(place: &'static str) -> String {
    let mut canaries = CANARIES.lock().unwrap();
    let secret = format!("q{:02}Zcanary{:02}Y", canaries.len(), 97 - canaries.len());
    canaries.insert(secret.clone(), place);
    secret
}

fn host<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Everything that a pool and a session say of themselves.
fn look(rig: &Rig, session: &Session, servers: &[&str]) {
    let pool = &rig.pool;
    let all = StatusOptions::from_json(r#"{"processes":true}"#).unwrap();
    shown::keep("status", pool.status_with(&all).to_string());
    shown::keep("metrics", pool.metrics(&all).unwrap());
    let tools = session.tools().unwrap();
    shown::keep("tools", tools.iter().map(|tool| tool.to_json()).collect::<String>());
    for server in servers {
        let explained = [pool.explain(server), session.explain(server)];
        for explained in explained {
            match explained {
                Ok(explained) => shown::keep("explain", explained.to_string()),
                Err(error) => shown::keep_error("explain", &error),
            }
        }
    }
}

/// Makes servers the pool's, asks for each, and looks at all that is said of it; those that run are called.
async fn run(rig: &Rig, servers: Value) {
    let session = rig.session("a");
    let names: Vec<&str> = servers.as_object().unwrap().keys().map(String::as_str).collect();
    match Servers::from_json(&servers.to_string()) {
        Err(error) => shown::keep_error("configuration", &error),
        Ok(servers) => match rig.pool.reconcile(servers).await {
            Ok(report) => shown::keep("report", report.to_string()),
            Err(error) => shown::keep_error("report", &error),
        },
    }
    for name in &names {
        let options = AcquireOptions::from_json(r#"{"timeout_ms":20000}"#).unwrap();
        match session.acquire(name, None, &options).await {
            Ok(lease) => {
                for tool in ["pid", "nothing", "fail", "crash"] {
                    let called = lease.call_tool(tool, "{}", &CallOptions::default()).await;
                    match called {
                        Ok(result) => {
                            shown::keep("result", format!("{result:?} {}", result.json()))
                        }
                        Err(error) => shown::keep_error("call", &error),
                    }
                }
            }
            Err(error) => shown::keep_error("acquire", &error),
        }
        look(rig, &session, &names);
    }
    // A pass in the background may hold it on beyond its drop.
    session.close(None);
}

fn with_events(rig: &Rig, then: impl FnOnce()) {
    let events = rig.pool.subscribe(EventMask::ALL).unwrap();
    shown::keep("snapshot", events.snapshot().to_string());
    then();
    while let Some(event) = events.try_next() {
        shown::keep("event", event.json());
    }
}

/// What a shell script does before it is the server, with one more argument that it does not look at.
fn script(text: &str, argument: &str) -> Value {
    json!({ "command": "/bin/sh", "args": ["-c", text, testserver(), argument] })
}

/// Servers of their own processes.
fn processes(rig: &Rig) {
    let mut talks =
        script(r#"echo "key $TOKEN, $DIFY_KEY" >&2; exec "$0""#, &canary("an argument"));
    talks["env"] = json!({ "TOKEN": canary("env"), "DIFY_KEY": canary("env by another name") });
    let mut exits =
        script(r#"echo "bad $KEY" >&2; exit 3"#, &canary("an argument of one that exits"));
    exits["env"] = json!({ "KEY": canary("env of one that exits") });
    let mut noisy = script(r#"echo "noise $KEY"; exit 1"#, &canary("an argument of a noisy one"));
    noisy["env"] = json!({ "KEY": canary("env of one that prints it for a message") });
    let missing = json!({ "command": "no-such-program-anywhere", "args": [canary("an argument of what is missing")],
        "env": { "K": canary("env of what is missing") } });
    let mut from_file = script(r#"echo "$FROM_FILE" >&2; exec "$0""#, "");
    let file = rig.path("file.env");
    std::fs::write(&file, format!("FROM_FILE={}\n", canary("a file of variables"))).unwrap();
    from_file["env_file"] = json!(file);
    let servers = json!({ "from_file": from_file, "talks": talks, "exits": exits, "noisy": noisy, "missing": missing });
    with_events(rig, || host(run(rig, servers)));
}

/// Servers behind addresses, most of which do not answer.
fn addresses(rig: &Rig) {
    let at = |url: String| json!({ "url": url, "connect_timeout_ms": 3_000 });
    let mut dead = at(format!("http://127.0.0.1:1/mcp?key={}", canary("query")));
    dead["headers"] = json!({ "Authorization": format!("Bearer {}", canary("Authorization")),
        "X-Odd": canary("a header by another name") });
    let nowhere =
        at(format!("http://nowhere.invalid/mcp?key={}", canary("query of an unknown host")));
    let mut socket = at(format!("ws://127.0.0.1:1/?key={}", canary("query of a websocket")));
    socket["headers"] = json!({ "X-Key": canary("a header of a websocket") });
    let mut sse = at(format!("http://127.0.0.1:1/sse?key={}", canary("query of a stream")));
    sse["type"] = json!("sse");
    let user = at(format!("http://{}:{}@127.0.0.1:1/mcp", canary("user name"), canary("password")));
    let mut secret = at("http://127.0.0.1:1/mcp".to_owned());
    secret["oauth"] = json!({ "client_id": "id", "client_secret": canary("client secret") });
    let fragment = at(format!("http://127.0.0.1:1/mcp#{}", canary("fragment")));
    for (name, server) in [
        ("dead", dead),
        ("nowhere", nowhere),
        ("socket", socket),
        ("sse", sse),
        ("user", user),
        ("secret", secret),
        ("fragment", fragment),
    ] {
        with_events(rig, || host(run(rig, json!({ name: server }))));
    }
}

/// Configurations that are refused.
fn refused(rig: &Rig) {
    let servers = [
        json!({ "command": "c", "env": { "K": [canary("env that is a list")] } }),
        json!({ "command": "c", "env": { format!("K={}", canary("the name of a variable")): "x" } }),
        json!({ "command": "c", "args": { "x": canary("arguments that are an object") } }),
        json!({ "command": "c", "timeout_ms": canary("a time that is a text") }),
        json!({ "command": ["c", canary("a command that is a list")] }),
        json!({ "url": format!("ht tp://{}", canary("an address that is none")) }),
        json!({ "url": "http://127.0.0.1:1/", "headers": { "X-K": format!("a\n{}", canary("a header of two lines")) } }),
        json!({ "url": "http://127.0.0.1:1/", "oauth": { "client_secret": [canary("a client secret in a list")] } }),
        json!({ "url": "http://127.0.0.1:1/", "headers": canary("headers that are a text") }),
    ];
    for server in servers {
        with_events(rig, || host(run(rig, json!({ "refused": server }))));
    }
}

/// Settings files, whole and broken, with the ending of each.
fn texts() -> Vec<(&'static str, String)> {
    let json = |entry: Value| json!({ "mcpServers": { "f": entry } }).to_string();
    vec![
        (
            "json",
            format!(
                r#"{{"mcpServers":{{"f":{{"command":"c","env":{{"K":"{}"#,
                canary("a file that is cut off")
            ),
        ),
        (
            "json",
            format!(
                r#"{{"mcpServers":{{"f":{{"command":"c","env":{{"K":"{}","K":"x"}}}}}}}}"#,
                canary("a value that is there twice")
            ),
        ),
        (
            "toml",
            format!(
                "[mcp_servers.f]\ncommand = \"c\"\nbearer_token = \"{}\"\n",
                canary("a bearer token in a file")
            ),
        ),
        ("toml", format!("[mcp_servers.f]\nenv = {{ K = \"{}\"\n", canary("a broken TOML file"))),
        (
            "yaml",
            format!(
                "extensions:\n  f:\n    cmd: c\n    envs: {{ K: \"{}\"\n",
                canary("a broken YAML file")
            ),
        ),
        (
            "json",
            json(
                json!({ "command": "no-such", "env": { "K": format!("${{UNSET_K:-{}}}", canary("a default")) } }),
            ),
        ),
        (
            "json",
            json(
                json!({ "command": "no-such", "env": { "K": format!("${{UNSET_K}} {}", canary("beside what is undefined")) } }),
            ),
        ),
        (
            "json",
            json(
                json!({ "command": "no-such", "env": { "K": format!("!/bin/sh -c {}", canary("a command that fails")) } }),
            ),
        ),
        (
            "json",
            json(json!({ "command": "no-such", "env": { "A": "${input:a}", "B": "${secret:b}" } })),
        ),
        ("json", panics::settings()),
    ]
}

/// Each as a text and as a file.
fn files(rig: &Rig) {
    for (number, (extension, text)) in texts().iter().enumerate() {
        let file = rig.path(&format!("settings-{number}.{extension}"));
        std::fs::write(&file, text).unwrap();
        let source: SourceName = "user".parse().unwrap();
        with_events(rig, || {
            host(async {
                for given in [true, false] {
                    let options = LoadOptions::from_json(r#"{"source":"user"}"#).unwrap();
                    let report = if given {
                        rig.pool.set_source(&source, Some(text))
                    } else {
                        rig.pool.load(file.clone(), &options).await
                    };
                    match report {
                        Ok(report) => shown::keep("report", report.to_string()),
                        Err(error) => shown::keep_error("source", &error),
                    }
                    let session = rig.session("a");
                    let acquired = session.acquire("f", None, &AcquireOptions::default()).await;
                    acquired.err().iter().for_each(|error| shown::keep_error("acquire", error));
                    look(rig, &session, &["f"]);
                    session.close(None);
                }
            })
        });
        std::fs::remove_file(&file).unwrap();
        let _ = rig.pool.set_source(&source, None);
    }
}

/// What sessions bring.
fn brought(rig: &Rig) {
    let own = json!({ "command": "no-such", "env": { "K": canary("a session's own server") } });
    let spec = ServerSpec::from_value("own", &own).unwrap();
    shown::keep("debug", format!("{spec:?}"));
    let wrong = json!({ "command": 7, "env": { "K": canary("a session's own wrong server") } });
    let refused = ServerSpec::from_value("own", &wrong).map(drop);
    shown::keep_error("configuration", &refused.unwrap_err());
    let arguments = json!({ "K": canary("a call of a tool that there is not") }).to_string();
    with_events(rig, || {
        host(async {
            let session = rig.session("a");
            let options = AcquireOptions::default();
            let acquired = session.acquire("own", Some(&spec), &options).await;
            shown::keep_error("acquire", &acquired.err().unwrap());
            look(rig, &session, &["own"]);
            let called = session.call_tool("nothing", &arguments, &CallOptions::default()).await;
            shown::keep_error("call", &called.unwrap_err());
        });
    });
}

async fn answers(request: ServerRequest) -> Result<String, Refusal> {
    panics::asked(&request.params);
    static GIVEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut given = GIVEN.lock().unwrap();
    if given.len() < 2 {
        given.push(canary("an answer of the host"));
    }
    let value = given.last().unwrap();
    shown::keep("question", request.params.to_string());
    Ok(json!({ "value": value }).to_string())
}

async fn credentials(request: ServerRequest) -> Result<String, Refusal> {
    shown::keep("question", request.params.to_string());
    Ok(json!({ "token": canary("a token of the host") }).to_string())
}

/// SPEC 4.7, 9.4, 10.5, S-48: 40 secrets or more, none of which is shown anywhere.
#[test]
fn no_secret_is_shown() {
    shown::Log::install();
    panics::keep();
    let home = Folder::new();
    let mut options = json!({ "commands": true, "trusted": true, "cache": home.join("cache"), "approvals": home.join("approvals.json"),
        "tokens": home.join("tokens.json"), "drain_delay_ms": 0 });
    let rig = Rig::in_workspace_with(|workspace| {
        options["workspace"] = json!(workspace);
        let mut options = PoolOptions::from_json(&options.to_string()).unwrap();
        options.handlers = Handlers::new()
            .with(HandlerKind::Inputs, answers)
            .with(HandlerKind::Credentials, credentials)
            .with(HandlerKind::Secrets, answers);
        shown::keep("debug", format!("{options:?}"));
        options
    });
    processes(&rig);
    addresses(&rig);
    echoes::all(&rig);
    refused(&rig);
    files(&rig);
    brought(&rig);
    panics::all(&rig);
    drop(rig);
    shown::keep_files(&home);
    let canaries = CANARIES.lock().unwrap();
    println!("{} canaries, {} things shown", canaries.len(), shown::count());
    assert!(canaries.len() >= 60 && shown::count() > 500);
    let seen: Vec<String> = canaries
        .iter()
        .filter_map(|(secret, place)| Some((place, shown::places_of(secret).into_iter().next()?)))
        .map(|(place, shown)| format!("{place}: {shown}"))
        .collect();
    assert!(seen.is_empty(), "{} seen:\n{}", seen.len(), seen.join("\n"));
    rig::score::done("canary/rust", canaries.len() as u64);
}

/// What the search finds: a secret as it is, and within the code of basic authentication.
#[test]
fn the_search_finds_what_is_shown() {
    shown::keep("plain", "a secretvalue77 b");
    shown::keep("coded", "Basic dXNlcjpzZWNyZXR2YWx1ZTc4");
    assert_eq!(shown::places_of("secretvalue77").len(), 1);
    assert_eq!(shown::places_of("secretvalue78").len(), 1);
    assert_eq!(shown::places_of("secretvalue79").len(), 0);
}
