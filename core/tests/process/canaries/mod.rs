//! Secrets at every place where a host, a file or a server can put one, and a search for each in
//! everything that is shown: logs of every crate at every level, status, events, errors,
//! explanations, reports, debug forms and files (S-48, SECURITY row 13).
#![cfg(target_os = "linux")]

mod arrivals;
mod echoes;
mod introduced;
mod panics;
mod shown;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rig::{Folder, Rig, host, testserver};
use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, EventMask, HandlerKind, Handlers, LoadOptions, PoolOptions,
    Refusal, ServerRequest, ServerSpec, Servers, Session, SourceName, StatusOptions,
};

/// All canaries, by the place that each was put at.
static CANARIES: Mutex<BTreeMap<&'static str, String>> = Mutex::new(BTreeMap::new());

/// The secret of a place, one however often it is put there: letters and digits alone, so that no
/// escaping changes it.
pub fn canary(place: &'static str) -> String {
    let mut canaries = CANARIES.lock().unwrap();
    let number = canaries.len();
    let secret = || format!("q{number:02}Zcanary{:02}Y", 97 - number);
    canaries.entry(place).or_insert_with(secret).clone()
}

/// The same of a place whose secret has to arrive at a server: that nobody shows it says something
/// only then.
pub fn sent(place: &'static str) -> String {
    arrivals::expect(place);
    canary(place)
}

/// Where the pool writes its status down, in a folder that is the user's alone.
fn status_file(home: &Path) -> PathBuf {
    home.join("status.json")
}

/// Keeps what is written down of the pool, once that names a server.
fn look_in_the_file(home: &Path, server: &str) {
    let mut text = String::new();
    rig::until(|| {
        text = std::fs::read_to_string(status_file(home)).unwrap_or_default();
        let written: Value = serde_json::from_str(&text).unwrap_or_default();
        written["status"]["servers"].get(server).is_some()
    });
    shown::keep("status file", text);
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

/// Makes servers the pool's, asks for each, and looks at all that is said of it; those that run are
/// called.
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

/// What a shell script does before it is the server, with one more argument; what it was given is
/// noted first.
fn script(rig: &Rig, text: &str, argument: &str) -> Value {
    let text = format!("{}; {text}", arrivals::noting(rig));
    json!({ "command": "/bin/sh", "args": ["-c", text, testserver(), argument] })
}

/// Servers of their own processes.
fn processes(rig: &Rig) {
    let mut talks =
        script(rig, r#"echo "key $TOKEN, $DIFY_KEY" >&2; exec "$0""#, &sent("an argument"));
    talks["env"] = json!({ "TOKEN": sent("env"), "DIFY_KEY": sent("env by another name") });
    let mut exits =
        script(rig, r#"echo "bad $KEY" >&2; exit 3"#, &sent("an argument of one that exits"));
    exits["env"] = json!({ "KEY": sent("env of one that exits") });
    let mut noisy =
        script(rig, r#"echo "noise $KEY"; exit 1"#, &sent("an argument of a noisy one"));
    noisy["env"] = json!({ "KEY": sent("env of one that prints it for a message") });
    let missing = json!({ "command": "no-such-program-anywhere", "args": [canary("an argument of what is missing")],
        "env": { "K": canary("env of what is missing") } });
    let servers = json!({ "talks": talks, "exits": exits, "noisy": noisy, "missing": missing });
    with_events(rig, || host(run(rig, servers)));
}

/// A server that says its environment back in what it lists: that is for the host alone, and no
/// copy that the library writes has it.
fn described(rig: &Rig) {
    let secret = sent("env that a definition says back");
    let mut server = script(rig, r#"exec "$0" --list-changes --tools 2"#, "");
    server["env"] = json!({ "KEY": secret });
    let define = |name: &str| {
        let schema = json!({ "type": "object" });
        json!({ "name": name, "description": format!("It is {secret}."), "inputSchema": schema })
    };
    with_events(rig, || {
        host(async {
            let servers = Servers::from_json(&json!({ "described": server }).to_string()).unwrap();
            rig.pool.reconcile(servers).await.unwrap();
            let session = rig.session("a");
            let options = AcquireOptions::default();
            let lease = session.acquire("described", None, &options).await.unwrap();
            for name in ["said", "tool_1"] {
                let define = json!({ "define": define(name) }).to_string();
                let called = lease.call_tool("change_list", &define, &CallOptions::default()).await;
                assert!(called.is_ok());
            }
            let held = || rig.pool.status()["servers"]["described"]["counts"]["quarantined"] == 1;
            rig::until(held);
            shown::keep("status", rig.pool.status().to_string());
            session.close(None);
        });
    });
}

/// Servers behind addresses: where nobody is, and at one that hangs up once it has what it was
/// sent.
fn addresses(rig: &Rig) {
    let at = |url: String| json!({ "url": url, "connect_timeout_ms": 3_000 });
    for port in [1, arrivals::hangs_up()] {
        let mut http = at(format!("http://127.0.0.1:{port}/mcp?key={}", sent("query")));
        http["headers"] = json!({ "Authorization": format!("Bearer {}", sent("Authorization")),
            "X-Odd": sent("a header by another name") });
        let mut socket = at(format!("ws://127.0.0.1:{port}/?key={}", sent("query of a websocket")));
        socket["headers"] = json!({ "X-Key": sent("a header of a websocket") });
        let mut sse = at(format!("http://127.0.0.1:{port}/sse?key={}", sent("query of a stream")));
        sse["type"] = json!("sse");
        for (name, server) in [("http", http), ("socket", socket), ("sse", sse)] {
            with_events(rig, || host(run(rig, json!({ name: server }))));
        }
    }
    let nowhere =
        at(format!("http://nowhere.invalid/mcp?key={}", canary("query of an unknown host")));
    let user = at(format!("http://{}:{}@127.0.0.1:1/mcp", canary("user name"), canary("password")));
    let mut secret = at("http://127.0.0.1:1/mcp".to_owned());
    secret["oauth"] = json!({ "client_id": "id", "client_secret": canary("client secret") });
    let fragment = at(format!("http://127.0.0.1:1/mcp#{}", canary("fragment")));
    for (name, server) in
        [("nowhere", nowhere), ("user", user), ("secret", secret), ("fragment", fragment)]
    {
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
fn texts(rig: &Rig) -> Vec<(&'static str, String)> {
    let started = |env: Value| {
        let mut server = script(rig, "exit 1", "");
        server["env"] = env;
        json!({ "mcpServers": { "f": server } }).to_string()
    };
    let file = rig.path("file.env");
    std::fs::write(&file, format!("FROM_FILE={}\n", sent("a file of variables"))).unwrap();
    let mut from_file = script(rig, r#"printenv FROM_FILE >&2; exec "$0""#, "");
    from_file["env_file"] = json!(file);
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
        ("json", started(json!({ "K": format!("${{UNSET_K:-{}}}", sent("a default")) }))),
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
        ("json", json(from_file)),
        ("json", started(json!({ "A": "${input:a}", "B": "${secret:b}" }))),
        ("json", panics::settings()),
    ]
}

/// Each as a text and as a file, which is gone when the next one comes: it would stand before that.
fn files(rig: &Rig) {
    for (number, (extension, text)) in texts(rig).iter().enumerate() {
        let file = rig.path(&format!("settings-{number}.{extension}"));
        std::fs::write(&file, text).unwrap();
        let sources: [SourceName; 2] =
            ["user".to_owned(), format!("user:{}", file.display())].map(|it| it.parse().unwrap());
        with_events(rig, || {
            host(async {
                for source in &sources {
                    let options = LoadOptions::from_json(r#"{"source":"user"}"#).unwrap();
                    let report = if *source == sources[0] {
                        rig.pool.set_source(source, Some(text))
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
                    rig.pool.set_source(source, None).unwrap();
                }
            })
        });
        std::fs::remove_file(&file).unwrap();
        assert!(rig.pool.status()["servers"].get("f").is_none_or(|row| row["configured"] == false));
    }
}

/// What sessions bring.
fn brought(rig: &Rig) {
    let mut own = script(rig, "exit 1", "");
    own["env"] = json!({ "K": sent("a session's own server") });
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

/// A handler that answers with the secret of its place.
async fn answers(request: ServerRequest, place: &'static str) -> Result<String, Refusal> {
    panics::asked(&request.params);
    shown::keep("question", request.params.to_string());
    Ok(json!({ "value": sent(place) }).to_string())
}

async fn credentials(request: ServerRequest) -> Result<String, Refusal> {
    shown::keep("question", request.params.to_string());
    Ok(json!({ "token": sent("a token of the host") }).to_string())
}

/// SPEC 4.7, 9.4, 10.5, S-48: 40 secrets or more, which are shown nowhere.
#[test]
fn no_secret_is_shown() {
    rig::alone!();
    shown::Log::install();
    panics::keep();
    let home = Folder::new();
    let mut options = json!({ "commands": true, "trusted": true, "cache": home.join("cache"), "approvals": home.join("approvals.json"),
        "tokens": home.join("tokens.json"), "status_file": status_file(&home), "drain_delay_ms": 0, "on_tool_change": "quarantine" });
    let rig = Rig::in_workspace_with(|workspace| {
        options["workspace"] = json!(workspace);
        let mut options = PoolOptions::from_json(&options.to_string()).unwrap();
        options.handlers = Handlers::new()
            .with(HandlerKind::Inputs, |request| answers(request, "an input of the host"))
            .with(HandlerKind::Credentials, credentials)
            .with(HandlerKind::Secrets, |request| answers(request, "a secret of the host"));
        shown::keep("debug", format!("{options:?}"));
        options
    });
    processes(&rig);
    look_in_the_file(&home, "talks");
    described(&rig);
    introduced::all(&rig, &home);
    addresses(&rig);
    echoes::all(&rig);
    refused(&rig);
    files(&rig);
    brought(&rig);
    panics::all(&rig);
    let missing = arrivals::missing(&rig);
    // Some of them go with the pool.
    shown::keep_files(&home);
    drop(rig);
    shown::keep_files(&home);
    let canaries = CANARIES.lock().unwrap();
    println!("{} canaries, {} things shown", canaries.len(), shown::count());
    assert!(missing.is_empty(), "no server was given these: {missing:?}");
    assert!(canaries.len() >= 59 && shown::count() > 500);
    let seen: Vec<String> = canaries
        .iter()
        .filter_map(|(place, secret)| Some((place, shown::places_of(secret).into_iter().next()?)))
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
