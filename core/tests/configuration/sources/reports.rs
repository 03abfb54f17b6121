//! What the pool tells of its configuration, in reports and events: all of it, however it came
//! about (SPEC 10.3, 10.7, 13.2, 13.6, 13.7).

use super::*;
use trunkline::{
    DrainOptions, EventKind, EventMask, LoadOptions, ReloadOptions, Subscription, WorkspaceTrust,
};

/// `kind path server what` of each finding, sorted.
fn found(report: &Value) -> Vec<String> {
    let row = |one: &Value| {
        let word = |member: &str| one[member].as_str().unwrap_or("-").to_owned();
        assert!(one["line"].is_u64() && one["column"].is_u64(), "{one}");
        ["kind", "path", "server", "what"].map(word).join(" ")
    };
    let mut rows: Vec<_> = report["findings"].as_array().unwrap().iter().map(row).collect();
    rows.sort();
    rows
}

/// The next event of the pool, which has to come.
async fn next(events: &Subscription) -> Value {
    let event = tokio::time::timeout(HANG, events.next()).await.unwrap().unwrap();
    serde_json::from_str(event.json()).unwrap()
}

/// Events of one kind.
fn of_kind(rig: &Rig, kind: EventKind) -> Subscription {
    rig.pool.subscribe(EventMask(kind.bit())).unwrap()
}

/// SPEC 10.3: an entry that is part of the product itself is reported, with what it is.
#[test]
fn an_entry_that_is_skipped_is_reported() {
    let rig = trusted();
    let text = "extensions:\n  dev:\n    type: builtin\n  s:\n    type: stdio\n    cmd: x\n";
    let goose = name("user:/srv/.config/goose/config.yaml");
    let report = rig.pool.set_source(&goose, Some(text)).unwrap();
    assert_eq!(found(&report), ["skipped  dev builtin"]);
    assert_eq!(report["findings"][0]["line"], 2);
    let text = r#"{ "context_servers": { "ext": { "settings": {} }, "s": { "command": "x" } } }"#;
    let zed = name("user:/srv/.config/zed/settings.json");
    let report = rig.pool.set_source(&zed, Some(text)).unwrap();
    assert_eq!(found(&report), ["skipped  ext extension"]);
}

/// SPEC 19.9: an entry that leads back to a pool is no server, whatever source names it, and nothing
/// of it is started.
#[test]
fn an_entry_that_leads_back_to_a_pool_is_never_started() {
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        let started = rig.path("started");
        let program = rig.path("trunkline");
        std::fs::write(&program, format!("#!/bin/sh\ntouch {}\n", started.display())).unwrap();
        let entry = json!({ "command": "/bin/sh", "args": [program, "connect", "s"] });
        let text = json!({ "mcpServers": { "s": entry } }).to_string();
        for source in
            ["user:/srv/.cursor/mcp.json", "managed:/etc/x.json", "project:/srv/.mcp.json"]
        {
            let report = rig.pool.set_source(&name(source), Some(&text)).unwrap();
            assert_eq!(found(&report), ["skipped  s trunkline connect"], "{source}");
            settled(&rig).await;
            let (code, reason) = refused(&session, "s").await;
            assert_eq!((code, reason), (ErrorCode::NotAdmitted, json!("not_configured")));
        }
        let servers = Servers::from_json(&json!({ "s": entry }).to_string()).unwrap();
        rig.pool.reconcile(servers).await.unwrap();
        settled(&rig).await;
        assert_eq!(refused(&session, "s").await.0, ErrorCode::InvalidConfig);
        assert!(!started.exists());
    });
}

/// SPEC 10.3, 11.7, 13.7: a reload reports what files say without effect, by source; subscribers
/// hear of it where that is new.
#[test]
fn a_reload_reports_what_has_no_effect() {
    let rig = trusted();
    host(async {
        let path = rig.path("ws/.mcp.json");
        let write = |more: Value| {
            let mut server = rig.server(&[]);
            server.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let text = json!({ "mcpServers": { "s": server } });
            std::fs::write(&path, serde_json::to_string_pretty(&text).unwrap()).unwrap();
        };
        write(json!({}));
        let loaded = rig.pool.load(&path, &LoadOptions::default()).await.unwrap();
        assert_eq!(loaded["findings"], json!([]));
        let events = of_kind(&rig, EventKind::SourceChanged);
        write(json!({ "shine": 1, "share": "pool", "alwaysAllow": ["all"] }));
        let report = rig.pool.reload(&ReloadOptions::default()).await.unwrap();
        let expected = ["approval alwaysAllow s -", "no_effect share s -", "unknown shine s -"];
        assert_eq!(found(&report), expected, "{report}");
        let sources = report["findings"].as_array().unwrap().iter().map(|row| &row["source"]);
        assert!(sources.into_iter().all(|source| *source == loaded["source"]), "{report}");
        let event = next(&events).await;
        assert_eq!((&event["source"], &event["accepted"]), (&loaded["source"], &json!(true)));
        assert_eq!(found(&event), expected, "{event}");
        // The report tells them each time, the event once.
        let again = rig.pool.reload(&ReloadOptions::default()).await.unwrap();
        assert_eq!(found(&again), expected);
        assert!(events.try_next().is_none());
    });
}

/// SPEC 10.3, 11.7, 13.5: what a watched file says without effect is told, also where nothing else
/// of it is another; at another place it is the same.
#[test]
fn what_a_watched_file_says_without_effect_is_told() {
    let rig = trusted();
    host(async {
        let path = rig.path("own/mcp.json");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let options = LoadOptions::from_json(r#"{"watch":true}"#).unwrap();
        let write = |text: String| {
            std::fs::write(rig.path("own/next"), text).unwrap();
            std::fs::rename(rig.path("own/next"), &path).unwrap();
        };
        let server = rig.server(&[]);
        write(json!({ "mcpServers": { "s": server } }).to_string());
        rig.pool.load(&path, &options).await.unwrap();
        let events = news(&rig.pool);
        let said = json!({ "mcpServers": { "s": server }, "mcpServerz": {} });
        write(said.to_string());
        let event = next(&events).await;
        assert_eq!((&event["type"], &event["accepted"]), (&json!("source_changed"), &json!(true)));
        assert_eq!(found(&event), ["unknown mcpServerz - -"]);
        write(serde_json::to_string_pretty(&said).unwrap());
        // Then something that is news.
        write(json!({ "mcpServers": {} }).to_string());
        loop {
            let event = next(&events).await;
            if event["type"] == "source_changed" {
                assert_eq!(event.get("findings"), None, "{event}");
                break;
            }
        }
    });
}

/// SPEC 10.3, 11.4: so is what a file says that is read when trust returns.
#[test]
fn what_a_file_says_without_effect_is_told_when_trust_returns() {
    let rig = trusted();
    host(async {
        let path = rig.path("ws/.mcp.json");
        let write = |said: Value| std::fs::write(&path, said.to_string()).unwrap();
        write(json!({ "mcpServers": {} }));
        rig.pool.load(&path, &LoadOptions::default()).await.unwrap();
        rig.pool.set_trusted(WorkspaceTrust::Untrusted).await.unwrap();
        let events = of_kind(&rig, EventKind::SourceChanged);
        write(json!({ "mcpServers": { "s": { "command": "x", "share": "pool" } } }));
        rig.pool.set_trusted(WorkspaceTrust::Trusted).await.unwrap();
        assert_eq!(found(&next(&events).await), ["no_effect share s -"]);
    });
}

/// SPEC 13.6, 13.7: a reconnect that cannot be begun is a row of its own, and takes nothing else
/// from the report.
#[test]
fn a_reload_is_reported_whatever_becomes_of_its_reconnects() {
    let rig = trusted();
    host(async {
        let path = rig.path("own.json");
        let padding = " ".repeat(1 << 20);
        let server = rig.server(&[]);
        let write = |names: &[&str]| {
            let servers = names.iter().map(|name| ((*name).to_owned(), server.clone()));
            let servers: serde_json::Map<_, _> = servers.collect();
            std::fs::write(&path, format!("{padding}{}", json!({ "mcpServers": servers })))
                .unwrap();
        };
        write(&["s"]);
        let session = wanting(&rig, "a");
        rig.pool.load(&path, &LoadOptions::default()).await.unwrap();
        session.ready(None, Some(HANG)).await.unwrap();
        write(&["s", "t"]);
        // It waits for its turn to read, and the pool begins to close meanwhile.
        let other = rig.path("other.json");
        std::fs::write(&other, format!("{padding}{{}}")).unwrap();
        let options = ReloadOptions::from_json(r#"{"reconnect":["s","t"]}"#).unwrap();
        let (default, drained) = (LoadOptions::default(), DrainOptions::default());
        let (_, reloaded, _) = tokio::join!(
            rig.pool.load(&other, &default),
            rig.pool.reload(&options),
            rig.pool.drain_all(&drained)
        );
        let report = reloaded.unwrap();
        assert_eq!(actions(&report["servers"]), json!({ "t": "added" }));
        for server in ["s", "t"] {
            let row = &report["reconnected"][server][0];
            assert_eq!((&row["restarted"], &row["reason"]), (&json!(false), &json!("closing")));
            assert_eq!(row["error"]["code"], "closing", "{row}");
        }
    });
}

/// SPEC 13.2, 13.4: what lists keep out and let in again is told, whichever way they come.
#[test]
fn what_other_lists_keep_out_or_let_in_is_told() {
    let rig = trusted();
    host(async {
        let source = name("user:/srv/.gemini/settings.json");
        let server = json!({ "command": "x" });
        let set = |lists: Value| {
            let text = json!({ "mcpServers": { "a": server, "b": server }, "mcp": lists });
            rig.pool.set_source(&source, Some(&text.to_string())).unwrap()["servers"].clone()
        };
        set(json!({}));
        let events = of_kind(&rig, EventKind::Reconciled);
        let steps = [
            (json!({ "excluded": ["a"] }), ["refused", "unchanged"], true),
            (json!({ "excluded": ["a", "c"] }), ["refused", "unchanged"], false),
            (json!({ "allowed": ["a"] }), ["added", "refused"], true),
            (json!({}), ["unchanged", "added"], true),
        ];
        for (lists, [a, b], is_news) in steps {
            let rows = set(lists.clone());
            assert_eq!(actions(&rows), json!({ "a": a, "b": b }), "{lists}");
            assert_eq!(rows["a"]["reason"].as_str(), (a == "refused").then_some("excluded"));
            assert_eq!(rows["b"]["reason"].as_str(), (b == "refused").then_some("not_allowed"));
            if is_news {
                assert_eq!(actions(&next(&events).await["servers"]), actions(&rows), "{lists}");
            }
            assert!(events.try_next().is_none(), "{lists}");
        }
        let excluded = trunkline::GateLists::new(None, vec!["a".into()], Vec::new());
        rig.pool.set_gates(excluded).unwrap();
        assert_eq!(actions(&next(&events).await["servers"]), json!({ "a": "refused" }));
        assert!(events.try_next().is_none());
    });
}

/// SPEC 10.2, 13.2, 11.6: so is what its own configuration switches off and on.
#[test]
fn what_is_switched_off_or_on_is_told() {
    let rig = trusted();
    host(async {
        let config = |disabled: bool| json!({ "command": "x", "disabled": disabled });
        let events = of_kind(&rig, EventKind::Reconciled);
        let steps = [
            (true, "refused"),
            (false, "added"),
            (false, "unchanged"),
            (true, "refused"),
            (true, "refused"),
        ];
        let mut was_told = None;
        for (disabled, action) in steps {
            let servers = json!({ "s": config(disabled) }).to_string();
            let servers = trunkline::Servers::from_json(&servers).unwrap();
            let rows = rig.pool.reconcile(servers).await.unwrap()["servers"].clone();
            assert_eq!(rows["s"]["action"], action, "{rows}");
            assert_eq!(rows["s"]["reason"].as_str(), disabled.then_some("disabled"), "{rows}");
            if was_told.replace(disabled) != Some(disabled) {
                assert_eq!(next(&events).await["servers"], rows);
            }
            assert!(events.try_next().is_none());
        }
        let add = |name: &str, disabled: bool| {
            let spec = trunkline::ServerSpec::from_value(name, &config(disabled)).unwrap();
            let report = rig.pool.add_server(name, &spec).unwrap();
            (report["result"].clone(), report.get("reason").cloned())
        };
        let refused = (json!("refused"), Some(json!("disabled")));
        assert_eq!(add("s", true), refused);
        assert_eq!(add("s", false), (json!("added"), None));
        assert_eq!(add("s", true), refused);
        assert_eq!(add("t", true), refused);
    });
}
