//! Why a server or a tool is there or not, each reason by its name, from pools with real servers
//! (SPEC 11.6).

use super::*;
use trunkline::{CallOptions, GateLists, LoadOptions, SessionOptions, WorkspaceTrust};

/// The explanation of a name, checked for what each has.
fn explained(explanation: Result<Value, trunkline::Error>) -> Value {
    let explanation = explanation.unwrap();
    assert_eq!(explanation["v"], 1);
    let has_reason = explanation["reason"].is_string();
    assert_eq!(explanation["available"], !has_reason, "{explanation}");
    assert_eq!(explanation["remedy"].is_string(), has_reason, "{explanation}");
    assert!(explanation["message"].as_str().is_some_and(|text| !text.is_empty()));
    explanation
}

fn why(pool: &Pool, name: &str) -> Value {
    explained(pool.explain(name))
}

/// Why a call of an exposed name is refused: its explanation, which is that of the session.
async fn refused_call(session: &Session, exposed: &str) -> Value {
    let called = session.call_tool(exposed, "{}", &CallOptions::default()).await;
    let error = called.unwrap_err();
    let is_down = error.detail()["reason"] == "failed";
    let expected = if is_down { ErrorCode::Unavailable } else { ErrorCode::ToolNotFound };
    assert_eq!(error.code(), expected, "{error:?}");
    let explanation = error.detail()["explanation"].clone();
    assert_eq!(explanation, explained(session.explain(exposed)));
    assert_eq!(explanation["reason"], error.detail()["reason"]);
    assert_eq!(explanation["server"], json!(error.server()));
    explanation
}

/// SPEC 11.6: what comes before any start, with the source, the file and the line, or the list that
/// decides.
#[test]
fn a_server_that_is_kept_out_is_explained() {
    let rig = rig(json!({ "trusted": true, "launch_allowed": ["s*", "removed", "wrong"] }));
    host(async {
        let session = wanting(&rig, "a");
        assert_eq!(why(&rig.pool, "nothing")["reason"], "not_configured");
        rig.configure(json!({ "removed": rig.server(&[]) })).await;
        rig.configure(json!({})).await;
        assert_eq!(why(&rig.pool, "removed")["reason"], "removed");
        let path = rig.path("ws/.mcp.json");
        let text = json!({ "mcpServers": { "s": rig.server(&[]) } }).to_string();
        std::fs::write(&path, format!("\n\n{text}")).unwrap();
        rig.pool.load(&path, &LoadOptions::default()).await.unwrap();
        let from =
            json!({ "source": format!("project:{}", path.display()), "file": path, "line": 3 });
        let pending = why(&rig.pool, "s");
        assert_eq!(
            (&pending["reason"], &pending["from"]),
            (&json!("pending_approval"), &from),
            "{pending}"
        );
        assert_eq!(pending["kind"], "server");
        let tool = refused_call(&session, "mcp__s__echo").await;
        assert_eq!((&tool["reason"], &tool["from"]), (&json!("pending_approval"), &from));
        assert_eq!((&tool["kind"], &tool["server"]), (&json!("tool"), &json!("s")));
        assert_eq!(why(&rig.pool, "mcp__s__echo"), tool);
        rig.pool.set_trusted(WorkspaceTrust::Untrusted).await.unwrap();
        assert_eq!(why(&rig.pool, "s")["reason"], "untrusted");
        assert_eq!(refused_call(&session, "mcp__s__echo").await["reason"], "untrusted");
        rig.pool.set_trusted(WorkspaceTrust::Trusted).await.unwrap();
        let approvals = rig.pool.approvals().await.unwrap();
        let hash = approvals["requests"][0]["hash"].as_str().unwrap();
        rig.pool.reject("s", hash).await.unwrap();
        assert_eq!(why(&rig.pool, "s")["reason"], "rejected");
        let wrong = json!({ "wrong": { "command": 7 }, "out": rig.server(&[]) });
        set(&rig.pool, "user", wrong);
        let wrong = why(&rig.pool, "wrong");
        assert_eq!(wrong["reason"], "invalid_config");
        assert_eq!(wrong["from"]["source"], "user");
        let out = why(&rig.pool, "out");
        assert_eq!(out["reason"], "not_allowed");
        assert_eq!(out["from"], json!({ "source": "host", "list": "launch_allowed" }));
    });
}

/// SPEC 11.1, 11.6: the list that decides is named, and whose it is.
#[test]
fn the_list_that_keeps_a_server_out_is_named() {
    let rig = rig(json!({ "excluded": ["h"] }));
    host(async {
        let session = wanting(&rig, "a");
        let server = || rig.server(&[]);
        rig.configure(json!({ "h": server(), "e": server(), "n": server(), "p": server() })).await;
        let lists = json!({ "mcp": { "allowed": ["h", "e", "p"], "excluded": ["e"] } }).to_string();
        let path = rig.path("elsewhere.json");
        std::fs::write(&path, lists).unwrap();
        rig.pool.load(&path, &LoadOptions::default()).await.unwrap();
        let source = format!("user:{}", path.display());
        let by = |list: &str| json!({ "source": source, "file": path, "list": list });
        let told = |name: &str| {
            let why = why(&rig.pool, name);
            (why["reason"].clone(), why["from"].clone())
        };
        let of_host = |list: &str| json!({ "source": "host", "list": list });
        assert_eq!(told("h"), (json!("excluded"), of_host("excluded")));
        assert_eq!(told("e"), (json!("excluded"), by("excluded")));
        assert_eq!(told("n"), (json!("not_allowed"), by("allowed")));
        let called = refused_call(&session, "mcp__e__echo").await;
        assert_eq!((&called["reason"], &called["from"]), (&json!("excluded"), &by("excluded")));
        let lists = GateLists::new(None, Vec::new(), vec!["p".into()]);
        rig.pool.set_gates(lists).unwrap();
        assert_eq!(told("p"), (json!("pending_approval"), of_host("pending")));
        // No decision lets it in, nor is there a request.
        assert!(why(&rig.pool, "p")["remedy"].as_str().unwrap().contains("`set_gates`"));
    });
}

/// SPEC 11.6, 5.2, 6.5, 7.6: what becomes of a server that may run, and of its tools, in a session.
#[test]
fn what_a_session_does_not_see_is_explained() {
    let rig = rig(json!({ "budget": { "limit": 4, "mode": "enforce" } }));
    host(async {
        let off = json!({ "command": rig::testserver(), "disabled": true });
        let fails = json!({ "command": rig.path("nothing") });
        let filtered = json!({ "command": rig::testserver(), "exclude": ["echo"] });
        let bad = rig.server(&["--malformed-tools"]);
        let servers = json!({
            "off": off, "fails": fails, "s": filtered, "b": bad, "unused": rig.server(&[]),
        });
        rig.configure(servers).await;
        let options = json!({ "id": "a", "servers": ["s", "b", "fails", "off"] });
        let session =
            rig.pool.session(SessionOptions::from_json(&options.to_string()).unwrap()).unwrap();
        let _ = session.ready(None, Some(HANG)).await;
        let reason = |name: &str| explained(session.explain(name))["reason"].clone();
        assert_eq!(reason("s"), Value::Null);
        assert_eq!(reason("mcp__s__add"), Value::Null);
        assert_eq!(why(&rig.pool, "s")["available"], true);
        assert_eq!(why(&rig.pool, "mcp__s__add")["available"], true);
        assert_eq!(why(&rig.pool, "mcp__s__echo")["reason"], "filtered");
        assert_eq!(reason("off"), "disabled");
        assert_eq!(reason("unused"), "unused");
        assert_eq!(reason("nothing"), "not_configured");
        let failed = explained(session.explain("fails"));
        assert_eq!(failed["reason"], "failed");
        assert!(failed["message"].as_str().unwrap().starts_with("`fails` has failed: "));
        for (exposed, expected) in [
            ("mcp__s__echo", "filtered"),
            ("mcp__s__nothing", "unknown"),
            ("mcp__b__no_schema", "malformed"),
            ("mcp__off__echo", "disabled"),
            ("mcp__fails__echo", "failed"),
            ("mcp__unused__echo", "unused"),
        ] {
            assert_eq!(refused_call(&session, exposed).await["reason"], expected, "{exposed}");
        }
        let nobodys = explained(session.explain("mcp__nobody__echo"));
        assert_eq!((&nobodys["reason"], &nobodys["server"]), (&json!("unknown"), &Value::Null));
        session.disable("s").unwrap();
        assert_eq!(reason("s"), "disabled");
        assert_eq!(refused_call(&session, "mcp__s__add").await["reason"], "disabled");
        assert_eq!(why(&rig.pool, "s")["reason"], Value::Null);
    });
}

/// SPEC 11.6: a name that a session brought for a source of the workspace is explained by what was
/// decided of it.
#[test]
fn a_server_that_a_session_brought_is_explained() {
    let rig = rig(json!({ "trusted": true, "drain_delay_ms": 0 }));
    host(async {
        let session = rig.session("a");
        let spec = trunkline::ServerSpec::from_value("s", &rig.server(&[])).unwrap();
        let mut options = trunkline::AcquireOptions::default();
        options.origin = Some(trunkline::Scope::Project);
        session.acquire("s", Some(&spec), &options).await.err().unwrap();
        let pending = why(&rig.pool, "s");
        assert_eq!(pending["reason"], "pending_approval");
        assert!(pending["remedy"].as_str().unwrap().contains("`approve`"));
        assert_eq!(pending["from"], json!({ "source": "project" }));
        let own = explained(session.explain("s"));
        assert_eq!((&own["reason"], &own["from"]), (&pending["reason"], &pending["from"]));
        let tool = why(&rig.pool, "mcp__s__echo");
        assert_eq!((&tool["reason"], &tool["server"]), (&json!("pending_approval"), &json!("s")));
        rig.pool.set_trusted(WorkspaceTrust::Untrusted).await.unwrap();
        assert_eq!(why(&rig.pool, "s")["reason"], "untrusted");
        rig.pool.set_trusted(WorkspaceTrust::Trusted).await.unwrap();
        let approvals = rig.pool.approvals().await.unwrap();
        let hash = approvals["requests"][0]["hash"].as_str().unwrap();
        rig.pool.reject("s", hash).await.unwrap();
        assert_eq!(why(&rig.pool, "s")["reason"], "rejected");
        rig.pool.approve("s", hash).await.unwrap();
        assert_eq!(why(&rig.pool, "s")["reason"], "unused");
        rig::acquire(&session, "s").await;
        assert_eq!(explained(session.explain("s"))["reason"], "unused");
        session.close(None);
        until(|| why(&rig.pool, "s")["reason"] == "not_configured");
    });
}

/// SPEC 9.4, 11.6: of a name that two sessions brought, the status and the explanation say where
/// the newest is from that is still there.
#[test]
fn a_name_that_two_sessions_bring_is_that_of_the_newest() {
    use trunkline::Scope::{Project, Workspace};
    let rig = rig(json!({ "trusted": true }));
    let origin = || {
        let (shown, why) = (row(&rig.pool, "s")["origin"].clone(), why(&rig.pool, "s"));
        (shown, why["from"]["source"].clone())
    };
    let both = |word: &str| (json!(word), json!(word));
    host(async {
        let bring = async |id: &str, args: &[&str], scope| {
            let (session, server) = (rig.session(id), rig.server(args));
            let spec = trunkline::ServerSpec::from_value("s", &server).unwrap();
            let mut options = trunkline::AcquireOptions::default();
            options.origin = Some(scope);
            let error = session.acquire("s", Some(&spec), &options).await.err().unwrap();
            assert_eq!(error.detail()["reason"], "pending_approval");
            session
        };
        let older = bring("a", &[], Project).await;
        let approvals = rig.pool.approvals().await.unwrap();
        let hash = approvals["requests"][0]["hash"].as_str().unwrap();
        rig.pool.approve("s", hash).await.unwrap();
        let _lease = rig::acquire(&older, "s").await;
        assert_eq!(origin(), both("project"));
        let newer = bring("b", &["--tools", "3"], Workspace).await;
        assert_eq!(origin(), both("workspace"));
        newer.close(None);
        assert_eq!(origin(), both("project"));
    });
}

/// SPEC 10.7, 11.6, I-27: an entry that becomes wrong leaves what runs; every look says what is
/// wrong with it, and what ends the server then is told.
#[test]
fn an_entry_that_becomes_wrong_says_so_wherever_one_looks() {
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        let other = ("t", rig.server(&[]));
        set(&rig.pool, "user", json!({ "s": rig.server(&[]), other.0: other.1 }));
        settled(&rig).await;
        let wrong = json!({ "command": rig::testserver(), "args": "no list" });
        set(&rig.pool, "user", json!({ "s": wrong, other.0: other.1 }));
        let state = settled(&rig).await["s"].clone();
        let says =
            |error: &Value| error["message"].as_str().is_some_and(|says| says.contains("`args`"));
        assert_eq!(
            (&state["state"], &state["reason"]),
            (&json!("failed"), &json!("invalid_config"))
        );
        assert!(says(&state["error"]), "{state}");
        let shown = row(&rig.pool, "s");
        assert_eq!((&shown["state"], &shown["reason"]), (&json!("connected"), &Value::Null));
        assert_eq!(shown["error_code"], "invalid_config");
        assert!(says(&shown["last_error"]), "{shown}");
        for explanation in [why(&rig.pool, "s"), explained(session.explain("s"))] {
            assert_eq!(explanation["available"], true);
            assert!(says(&explanation), "{explanation}");
        }
        assert_eq!(why(&rig.pool, "mcp__s__echo")["message"], "the tool is there");
        let out = GateLists::new(None, vec!["s".into()], Vec::new());
        rig.pool.set_gates(out).unwrap();
        assert_eq!(why(&rig.pool, "s")["reason"], "invalid_config");
        assert_eq!(explained(session.explain("s"))["reason"], "invalid_config");
        rig.pool.set_gates(GateLists::default()).unwrap();
        settled(&rig).await;
        let events = news(&rig.pool);
        let report = rig.pool.set_trusted(WorkspaceTrust::Untrusted).await.unwrap();
        let ended = json!({ "s": "invalid", "t": "refused" });
        assert_eq!(actions(&report["servers"]), ended);
        let told: Value = serde_json::from_str(events.try_next().unwrap().json()).unwrap();
        assert_eq!(actions(&told["servers"]), ended);
        assert_eq!(why(&rig.pool, "s")["reason"], "invalid_config");
    });
}

/// SPEC 11.6: a server that a session brought itself and that failed is one record: `status`, the
/// pool and the session say the same.
#[test]
fn a_sessions_own_server_that_failed_is_told_alike() {
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        let spec = json!({ "command": "trunkline-no-such-program" });
        let spec = trunkline::ServerSpec::from_value("own", &spec).unwrap();
        let refused = session.acquire("own", Some(&spec), &Default::default()).await.err().unwrap();
        assert_eq!(refused.code(), ErrorCode::SpawnFailed, "{refused}");
        let status = row(&rig.pool, "own");
        let of_pool = why(&rig.pool, "own");
        let of_session = explained(session.explain("own"));
        assert_eq!(status["last_error"]["code"], "spawn_failed", "{status}");
        assert_eq!(of_pool["reason"], "failed", "{of_pool}");
        assert_eq!(of_session["reason"], "failed", "{of_session}");
        assert_eq!(of_pool["error"], of_session["error"]);
    });
}
