//! What settings ask of the host, and what is expanded (SPEC 10.5, 10.6, 10.8).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::*;
use trunkline::{HandlerKind, Handlers, Refusal, ServerRequest};

/// A rig whose handler of that kind answers so, given the params; and the params so far.
fn asked(
    kind: HandlerKind,
    answer: impl Fn(&Value) -> Option<Value> + Send + Sync + 'static,
) -> (Rig, Arc<Mutex<Vec<Value>>>) {
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let notes = seen.clone();
    let handlers = Handlers::new().with(kind, move |request: ServerRequest| {
        let params: Value = serde_json::from_str(&request.params).unwrap();
        let answer = answer(&params);
        notes.lock().unwrap().push(params);
        async move { answer.map(|answer| answer.to_string()).ok_or_else(|| Refusal::new(-1, "no")) }
    });
    let rig = handling(handlers);
    (rig, seen)
}

fn with_env(mut server: Value, name: &str, value: &str) -> Value {
    server["env"] = json!({ name: value });
    server
}

/// A variable of a server's environment.
async fn env(session: &Session, server: &str, variable: &str) -> String {
    let lease = rig::acquire(session, server).await;
    rig::text(&lease, "env", json!({ "name": variable })).await
}

/// SPEC 10.5: an input is asked from the host once, and only of an admitted server.
#[test]
fn an_input_is_asked_once_and_only_after_admission() {
    let (rig, seen) = asked(HandlerKind::Inputs, |_| Some(json!({ "value": "sesame" })));
    host(async {
        let session = wanting(&rig, "a");
        let server = with_env(rig.server(&[]), "WORD", "${input:word}");
        let text = json!({
            "servers": { "s": server, "t": server },
            "inputs": [{ "type": "promptString", "id": "word", "description": "The word", "password": true }],
        });
        let source = name("project:/srv/.vscode/mcp.json");
        rig.pool.set_source(&source, Some(&text.to_string())).unwrap();
        settled(&rig).await;
        assert_eq!(seen.lock().unwrap().len(), 0);
        for server in ["s", "t"] {
            let approvals = rig.pool.approvals().await.unwrap();
            let requests = approvals["requests"].as_array().unwrap().clone();
            let request = requests.iter().find(|one| one["server"] == server).unwrap();
            rig.pool.approve(server, request["hash"].as_str().unwrap()).await.unwrap();
            settled(&rig).await;
            assert_eq!(env(&session, server, "WORD").await, "sesame");
        }
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0]["id"], "word");
        assert_eq!(seen[0]["secret"], true);
    });
}

/// SPEC 10.5: what the host does not give is an undefined variable of that server alone; a reload
/// asks again.
#[test]
fn what_is_not_answered_is_an_undefined_variable_of_that_server() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let (rig, _) = asked(HandlerKind::Inputs, move |_| {
        let again = counted.fetch_add(1, Ordering::SeqCst) > 0;
        again.then(|| json!({ "value": "now" }))
    });
    host(async {
        let session = wanting(&rig, "a");
        let asks = with_env(rig.server(&[]), "WORD", "${input:word}");
        let rows = set(&rig.pool, "user", json!({ "s": asks, "t": rig.server(&[]) }));
        assert_eq!(actions(&rows), json!({ "s": "waiting", "t": "added" }));
        let states = settled(&rig).await;
        assert_eq!(states["s"]["error"]["code"], "undefined_variable");
        assert_eq!(states["t"]["state"], "ready");
        assert_eq!(refused(&session, "s").await.0, ErrorCode::UndefinedVariable);
        rig.pool.reload(&Default::default()).await.unwrap();
        assert_eq!(settled(&rig).await["s"]["state"], "ready");
        assert_eq!(env(&session, "s", "WORD").await, "now");
    });
}

/// SPEC 10.5: an undefined variable is an error that names it, with its place; the others start.
#[test]
fn an_undefined_variable_is_named() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        let wrong = with_env(rig.server(&[]), "X", "${TRUNKLINE_NOT_THERE}");
        let rows = set(&rig.pool, "user", json!({ "s": wrong, "t": rig.server(&[]) }));
        let error = &rows["s"]["error"];
        assert_eq!(error["code"], "undefined_variable");
        assert_eq!(error["detail"]["variable"], "TRUNKLINE_NOT_THERE");
        assert_eq!(error["detail"]["path"], "env.X");
        assert_eq!(settled(&rig).await["t"]["state"], "ready");
        assert_eq!(rig.starts().len(), 1);
    });
}

/// SPEC 10.5: what the host gave by a call is literal; a settings text is not.
#[test]
fn variables_are_expanded_in_settings_and_nowhere_else() {
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        let server = with_env(rig.server(&[]), "X", "<${workspaceFolder}>");
        set(&rig.pool, "user", json!({ "s": server }));
        let spec = trunkline::ServerSpec::from_value("t", &server).unwrap();
        rig.pool.add_server("t", &spec).unwrap();
        let workspace = std::fs::canonicalize(rig.path("ws")).unwrap();
        let expanded = format!("<{}>", workspace.display());
        assert_eq!(env(&session, "s", "X").await, expanded);
        assert_eq!(env(&session, "t", "X").await, "<${workspaceFolder}>");
    });
}

/// SPEC 10.8: the host may drop or alter any entry before it is admitted.
#[test]
fn the_hook_for_entries_drops_and_alters() {
    let (rig, seen) = asked(HandlerKind::Entries, |params| {
        let mut configuration = params["configuration"].clone();
        Some(match configuration["env"]["DO"].as_str() {
            Some("drop") => json!({ "drop": true }),
            Some("alter") => {
                configuration["env"] = json!({ "DONE": "altered" });
                json!({ "configuration": configuration })
            }
            Some("spoil") => json!({ "configuration": { "command": 5 } }),
            _ => json!({}),
        })
    });
    host(async {
        let session = wanting(&rig, "a");
        let server = |what: &str| with_env(rig.server(&[]), "DO", what);
        let servers = json!({
            "d": server("drop"), "a": server("alter"), "w": server("spoil"), "k": server("keep"),
        });
        set(&rig.pool, "user", servers);
        let states = settled(&rig).await;
        assert_eq!(states.as_object().unwrap().len(), 3, "{states}");
        assert_eq!(states["w"]["reason"], "invalid_config");
        assert_eq!(env(&session, "a", "DONE").await, "altered");
        assert_eq!(env(&session, "k", "DO").await, "keep");
        assert_eq!(refused(&session, "d").await.1, "not_configured");
        assert_eq!(rig.starts().len(), 2);
        assert_eq!(seen.lock().unwrap().len(), 4);
    });
}

/// SPEC 10.5: commands in values are off by default, and never run for a project.
#[test]
fn a_command_in_a_value_runs_where_the_host_chose_it_and_never_for_a_project() {
    for commands in [false, true] {
        let rig = rig(json!({ "trusted": true, "commands": commands }));
        host(async {
            let session = wanting(&rig, "a");
            let server = with_env(rig.server(&[]), "X", "!/bin/echo printed");
            set(&rig.pool, "user", json!({ "s": server }));
            settled(&rig).await;
            let expected = if commands { "printed" } else { "!/bin/echo printed" };
            assert_eq!(env(&session, "s", "X").await, expected);
            set(&rig.pool, "project", json!({ "p": server }));
            let approvals = rig.pool.approvals().await.unwrap();
            let hash = approvals["requests"][0]["hash"].as_str().unwrap().to_owned();
            rig.pool.approve("p", &hash).await.unwrap();
            settled(&rig).await;
            assert_eq!(env(&session, "p", "X").await, "!/bin/echo printed");
        });
    }
}

/// INTERFACE: an acquire with an origin of the workspace needs what a file of it needs.
#[test]
fn a_configuration_that_an_acquire_brings_cannot_slip_past_approval() {
    let rig = trusted();
    host(async {
        let session = rig.session("a");
        let spec = trunkline::ServerSpec::from_value("s", &rig.server(&[])).unwrap();
        let mut options = trunkline::AcquireOptions::default();
        options.origin = Some(trunkline::Scope::Project);
        let error = session.acquire("s", Some(&spec), &options).await.err().unwrap();
        assert_eq!(error.detail()["reason"], "pending_approval");
        assert_eq!(rig.starts(), [0; 0]);
        let approvals = rig.pool.approvals().await.unwrap();
        let request = &approvals["requests"][0];
        assert_eq!(request["origin"]["scope"], "project");
        rig.pool.approve("s", request["hash"].as_str().unwrap()).await.unwrap();
        let lease = session.acquire("s", None, &options).await.unwrap();
        rig.pool.reject("s", request["hash"].as_str().unwrap()).await.unwrap();
        rig.wait_for_no_process();
        drop(lease);
        options.origin = Some(trunkline::Scope::User);
        let error = session.acquire("t", Some(&spec), &options).await.err().unwrap();
        assert_eq!(error.code(), ErrorCode::InvalidArgument);
    });
}

/// SPEC 11.3: nor by a connection that is there by the host's own word, which is another before and
/// after.
#[test]
fn a_configuration_that_an_acquire_brings_shares_nothing_with_the_hosts_own() {
    let rig = trusted();
    host(async {
        let spec = trunkline::ServerSpec::from_value("s", &rig.server(&[])).unwrap();
        let (hosts, asking) = (rig.session("a"), rig.session("b"));
        let held = hosts.acquire("s", Some(&spec), &Default::default()).await.unwrap();
        let mut options = trunkline::AcquireOptions::default();
        options.origin = Some(trunkline::Scope::Project);
        let error = asking.acquire("s", Some(&spec), &options).await.err().unwrap();
        assert_eq!(error.code(), ErrorCode::NotAdmitted);
        assert_eq!(error.detail()["reason"], "pending_approval");
        let approvals = rig.pool.approvals().await.unwrap();
        let hash = approvals["requests"][0]["hash"].as_str().unwrap().to_owned();
        rig.pool.reject("s", &hash).await.unwrap();
        assert_eq!(refused(&asking, "s").await, (ErrorCode::NotAdmitted, json!("rejected")));
        rig.pool.approve("s", &hash).await.unwrap();
        let own = asking.acquire("s", None, &Default::default()).await.unwrap();
        assert_eq!(rig.starts().len(), 2);
        drop((held, own));
    });
}

/// SPEC 10.5: a caller that waits for a server waits for what the host is asked of it.
#[test]
fn who_waits_for_a_server_waits_for_the_answer_of_the_host() {
    let (rig, _) = asked(HandlerKind::Secrets, |params| {
        Some(json!({ "value": format!("the {}", params["name"].as_str().unwrap()) }))
    });
    host(async {
        let session = wanting(&rig, "a");
        let server = with_env(rig.server(&[]), "X", "${secret:key}");
        set(&rig.pool, "user", json!({ "s": server }));
        assert_eq!(env(&session, "s", "X").await, "the key");
        session.ready(Some("s"), Some(HANG)).await.unwrap();
        assert_eq!(rig.starts().len(), 1);
    });
}

/// SPEC 4.2, 10.5: an acquire does not wait for the host beyond its own time.
#[test]
fn an_acquire_waits_for_the_host_for_its_own_time_alone() {
    let handlers =
        Handlers::new().with(HandlerKind::Secrets, |_: ServerRequest| std::future::pending());
    let rig = handling(handlers);
    host(async {
        let session = wanting(&rig, "a");
        let server = with_env(rig.server(&[]), "X", "${secret:key}");
        set(&rig.pool, "user", json!({ "s": server, "t": rig.server(&[]) }));
        let options = trunkline::AcquireOptions::from_json(r#"{"timeout_ms":20}"#).unwrap();
        let error = session.acquire("s", None, &options).await.err().unwrap();
        assert_eq!(error.code(), ErrorCode::Timeout);
        let error = rig.pool.settled(Some(std::time::Duration::from_millis(20))).await.unwrap_err();
        assert_eq!(error.detail()["servers"], json!(["s"]));
        session.ready(Some("t"), Some(HANG)).await.unwrap();
        assert_eq!(rig.starts().len(), 1);
    });
}

/// SPEC 10.5: what the host gives one source is given to no other, and a refusal is of the one that
/// was refused.
#[test]
fn a_secret_is_asked_for_each_server_that_takes_it() {
    let (rig, seen) = asked(HandlerKind::Secrets, |params| {
        (params["source"] == "user").then(|| json!({ "value": "sesame" }))
    });
    host(async {
        let session = wanting(&rig, "a");
        let server = || with_env(rig.server(&[]), "X", "${secret:KEY}");
        set(&rig.pool, "user", json!({ "u": server() }));
        settled(&rig).await;
        set(&rig.pool, "project", json!({ "p": server() }));
        let approvals = rig.pool.approvals().await.unwrap();
        rig.pool.approve("p", approvals["requests"][0]["hash"].as_str().unwrap()).await.unwrap();
        assert_eq!(settled(&rig).await["p"]["error"]["code"], "undefined_variable");
        assert_eq!(env(&session, "u", "X").await, "sesame");
        set(&rig.pool, "launch", json!({ "l": server() }));
        assert_eq!(settled(&rig).await["l"]["error"]["code"], "undefined_variable");
        assert_eq!(seen.lock().unwrap().len(), 3);
        assert_eq!(rig.starts().len(), 1);
    });
}

/// SPEC 10.5: a refused secret is none, whatever the environment has; one that the host does not
/// have is looked for there.
#[test]
fn a_secret_that_is_refused_is_not_taken_from_the_environment() {
    for answer in [None, Some(json!({}))] {
        let has_value = answer.is_some();
        let (rig, _) = asked(HandlerKind::Secrets, move |_| answer.clone());
        host(async {
            let session = wanting(&rig, "a");
            let server = with_env(rig.server(&[]), "X", "${secret:HOME}");
            set(&rig.pool, "user", json!({ "s": server }));
            let states = settled(&rig).await;
            if has_value {
                assert_eq!(env(&session, "s", "X").await, std::env::var("HOME").unwrap());
            } else {
                assert_eq!(states["s"]["error"]["code"], "undefined_variable");
                assert_eq!(states["s"]["error"]["detail"]["variable"], "secret:HOME");
                assert_eq!(rig.starts(), [0; 0]);
            }
        });
    }
}

/// SPEC 1.5, 13.7: a reload asks for a secret again, and another one is another server: the same
/// one keeps its process.
#[test]
fn a_reload_asks_for_secrets_again() {
    let count = AtomicUsize::new(0);
    let (rig, _) = asked(HandlerKind::Secrets, move |_| {
        Some(json!({ "value": format!("number {}", count.fetch_add(1, Ordering::SeqCst) / 2) }))
    });
    host(async {
        let session = wanting(&rig, "a");
        for (round, starts) in [("number 0", 1), ("number 0", 1), ("number 1", 2)] {
            let server = with_env(rig.server(&[]), "X", "${secret:KEY}");
            set(&rig.pool, "user", json!({ "s": server }));
            settled(&rig).await;
            assert_eq!(env(&session, "s", "X").await, round);
            assert_eq!(rig.starts().len(), starts);
            rig.pool.reload(&Default::default()).await.unwrap();
            settled(&rig).await;
        }
    });
}

/// SPEC 10.5, 11.1: what waits to be asked is not asked once nobody needs it.
#[test]
fn what_nobody_needs_any_more_is_not_asked() {
    let keep = |_: &Rig| {};
    let exclude = |rig: &Rig| {
        let lists = json!({ "excluded": ["*"] }).to_string();
        rig.pool.set_gates(trunkline::GateLists::from_json(&lists).unwrap()).unwrap();
    };
    let remove = |rig: &Rig| {
        set(&rig.pool, "user", json!({}));
    };
    let distrust = |rig: &Rig| {
        let untrusted = rig.pool.set_trusted(trunkline::WorkspaceTrust::Untrusted);
        std::thread::scope(|scope| scope.spawn(|| host(untrusted)).join().unwrap()).unwrap();
    };
    let changes: [&dyn Fn(&Rig); 4] = [&keep, &exclude, &remove, &distrust];
    for (change, expected) in changes.into_iter().zip([12, 8, 8, 8]) {
        let asked = Arc::new(AtomicUsize::new(0));
        let gate = Arc::new(tokio::sync::Semaphore::new(0));
        let (counted, opened) = (asked.clone(), gate.clone());
        let handlers = Handlers::new().with(HandlerKind::Inputs, move |_: ServerRequest| {
            counted.fetch_add(1, Ordering::SeqCst);
            let opened = opened.clone();
            async move {
                drop(opened.acquire().await);
                Ok(json!({ "value": "x" }).to_string())
            }
        });
        let rig = handling(handlers);
        host(async {
            let server = |number: usize| {
                let asks = format!("${{input:i{number}}}");
                (format!("s{number}"), with_env(rig.server(&[]), "X", &asks))
            };
            let servers: serde_json::Map<String, Value> = (0..12).map(server).collect();
            set(&rig.pool, "user", servers.into());
            until(|| asked.load(Ordering::SeqCst) == 8);
            change(&rig);
            gate.add_permits(100);
            settled(&rig).await;
            // The queued one has had its turn when one that comes later was asked.
            set(&rig.pool, "user", json!({ "l": with_env(rig.server(&[]), "X", "${input:l}") }));
            rig.pool.set_trusted(trunkline::WorkspaceTrust::Trusted).await.unwrap();
            rig.pool.set_gates(Default::default()).unwrap();
            settled(&rig).await;
            assert_eq!(asked.load(Ordering::SeqCst) - 1, expected);
        });
    }
}

/// SPEC 10.8: what the hook is shown and hands back is the whole entry, the file of variables
/// included.
#[test]
fn the_hook_for_entries_sees_and_keeps_the_file_of_variables() {
    let (rig, seen) = asked(HandlerKind::Entries, |params| {
        let mut configuration = params["configuration"].clone();
        configuration["env"] = json!({ "DONE": "altered" });
        Some(json!({ "configuration": configuration }))
    });
    host(async {
        let session = wanting(&rig, "a");
        let file = rig.path("some.env");
        std::fs::write(&file, "FROM_FILE=yes\n").unwrap();
        let mut server = rig.server(&[]);
        server["envFile"] = json!(file);
        let text = json!({ "servers": { "s": server } }).to_string();
        rig.pool.set_source(&name("user:/srv/.vscode/mcp.json"), Some(&text)).unwrap();
        assert_eq!(settled(&rig).await["s"]["state"], "ready");
        assert_eq!(env(&session, "s", "DONE").await, "altered");
        assert_eq!(env(&session, "s", "FROM_FILE").await, "yes");
        assert_eq!(seen.lock().unwrap()[0]["configuration"]["env_file"], json!(file));
    });
}

/// SPEC 13.2: what became of a server that waited for the host is told, also when it is as it was
/// before.
#[test]
fn how_a_wait_for_the_host_ended_is_told() {
    let (rig, seen) = asked(HandlerKind::Secrets, |_| Some(json!({ "value": "sesame" })));
    host(async {
        let session = wanting(&rig, "a");
        set(&rig.pool, "user", json!({ "s": with_env(rig.server(&[]), "WORD", "${secret:word}") }));
        settled(&rig).await;
        assert_eq!(env(&session, "s", "WORD").await, "sesame");
        let events = news(&rig.pool);
        let report = rig.pool.reload(&Default::default()).await.unwrap();
        assert_eq!(actions(&report["servers"]), json!({ "s": "waiting" }));
        settled(&rig).await;
        let mut told = Vec::new();
        while let Some(event) = events.try_next() {
            let event: Value = serde_json::from_str(event.json()).unwrap();
            assert_eq!(event["type"], "reconciled");
            told.push(actions(&event["servers"]));
        }
        assert_eq!(told, [json!({ "s": "waiting" }), json!({ "s": "unchanged" })]);
        assert_eq!((seen.lock().unwrap().len(), rig.starts().len()), (2, 1));
    });
}

/// SPEC 10.8, 13.2: also of one that the host drops, which was not there before.
#[test]
fn a_server_that_is_dropped_after_a_wait_is_told_to_be_removed() {
    let (rig, _) = asked(HandlerKind::Entries, |_| Some(json!({ "drop": true })));
    host(async {
        let events = news(&rig.pool);
        let rows = set(&rig.pool, "user", json!({ "s": rig.server(&[]) }));
        assert_eq!(actions(&rows), json!({ "s": "waiting" }));
        assert_eq!(settled(&rig).await, json!({}));
        let mut told = Vec::new();
        while let Some(event) = events.try_next() {
            let event: Value = serde_json::from_str(event.json()).unwrap();
            told.extend((event["type"] == "reconciled").then(|| actions(&event["servers"])));
        }
        assert_eq!(told, [json!({ "s": "waiting" }), json!({ "s": "removed" })]);
        assert_eq!(rig.pool.explain("s").unwrap()["reason"], "not_configured");
    });
}
