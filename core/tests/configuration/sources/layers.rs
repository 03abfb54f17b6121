//! Layers: whole replacement, precedence, switching off, run time (SPEC 10.1, 10.2, 10.7).

use super::*;

/// SPEC 10.1, 10.2, 13.1: of two sources the higher counts; without it the lower shows again, and
/// nothing else moves.
#[test]
fn the_higher_source_counts_until_it_is_removed() {
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        let rows = set(&rig.pool, "user", json!({ "s": rig.server(&[]), "t": rig.server(&[]) }));
        assert_eq!(actions(&rows), json!({ "s": "added", "t": "added" }));
        settled(&rig).await;
        let kept = row(&rig.pool, "t")["entries"][0]["pid"].clone();
        let rows = set(&rig.pool, "launch", json!({ "s": rig.server(&["--tools", "5"]) }));
        assert_eq!(actions(&rows), json!({ "s": "replaced" }));
        assert_eq!(rows["s"]["source"], "launch");
        assert_eq!(settled(&rig).await["s"], json!({ "state": "ready", "source": "launch" }));
        assert_eq!(row(&rig.pool, "s")["origin"], "launch");
        let rows = rig.pool.set_source(&name("launch"), None).unwrap()["servers"].clone();
        assert_eq!(actions(&rows), json!({ "s": "replaced" }));
        assert_eq!(settled(&rig).await["s"]["source"], "user");
        assert_eq!(row(&rig.pool, "t")["entries"][0]["pid"], kept);
        drop(session);
    });
}

/// SPEC 10.2: a source is replaced whole, so that removal works.
#[test]
fn what_a_replaced_source_no_longer_names_is_removed() {
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        set(&rig.pool, "user", json!({ "s": rig.server(&[]), "t": rig.server(&[]) }));
        settled(&rig).await;
        let rows = set(&rig.pool, "user", json!({ "t": rig.server(&[]) }));
        assert_eq!(actions(&rows), json!({ "s": "removed", "t": "unchanged" }));
        assert_eq!(refused(&session, "s").await, (ErrorCode::NotAdmitted, json!("removed")));
        assert!(session.tools().unwrap().iter().all(|tool| tool.name.starts_with("mcp__t__")));
    });
}

/// SPEC 10.2: any source can be switched off, and a whole scope.
#[test]
fn a_source_that_is_switched_off_counts_for_nothing() {
    use trunkline::Switch;
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        set(&rig.pool, "extension:x", json!({ "s": rig.server(&[]) }));
        settled(&rig).await;
        assert!(tools(&session) > 0);
        rig.pool.switch_source(&name("extension"), Switch::Off).unwrap();
        assert_eq!(tools(&session), 0);
        set(&rig.pool, "extension:y", json!({ "s": rig.server(&[]) }));
        assert_eq!(tools(&session), 0);
        rig.pool.switch_source(&name("extension"), Switch::On).unwrap();
        assert_eq!(settled(&rig).await["s"]["source"], "extension:x");
    });
}

/// SPEC 10.2: added and removed at run time, through the one reconcile.
#[test]
fn run_time_servers_beat_all_and_say_what_became_of_them() {
    let rig = rig(json!({ "excluded": ["no"] }));
    host(async {
        let spec =
            |flags: &[&str]| trunkline::ServerSpec::from_value("s", &rig.server(flags)).unwrap();
        set(&rig.pool, "launch", json!({ "s": rig.server(&["--tools", "7"]) }));
        let result = |report: Value| (report["result"].clone(), report["reason"].clone());
        let add =
            |name: &str, flags: &[&str]| result(rig.pool.add_server(name, &spec(flags)).unwrap());
        assert_eq!(add("s", &[]), (json!("replaced"), Value::Null));
        assert_eq!(add("s", &[]), (json!("unchanged"), Value::Null));
        assert_eq!(add("t", &[]), (json!("added"), Value::Null));
        assert_eq!(add("no", &[]), (json!("refused"), json!("excluded")));
        assert_eq!(row(&rig.pool, "s")["origin"], "runtime");
        let remove = |name: &str| result(rig.pool.remove_server(name).unwrap()).0;
        assert_eq!(remove("s"), "removed");
        assert_eq!(row(&rig.pool, "s")["origin"], "launch");
        assert_eq!(remove("s"), "not_present");
        assert_eq!(rig.starts(), [0; 0], "nobody wanted any of them");
    });
}

/// SPEC 10.7: a bad entry is one error for that server; a text that cannot be read changes nothing.
#[test]
fn a_bad_entry_spoils_itself_alone_and_keeps_what_it_had() {
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        set(&rig.pool, "user", json!({ "s": rig.server(&[]), "t": rig.server(&[]) }));
        settled(&rig).await;
        let starts = rig.starts();
        let rows =
            set(&rig.pool, "user", json!({ "s": { "command": 5 }, "t": rig.server(&[]), "u": {} }));
        assert_eq!(actions(&rows), json!({ "s": "invalid", "t": "unchanged", "u": "invalid" }));
        assert_eq!(rows["s"]["error"]["code"], "invalid_config");
        assert_eq!(rows["s"]["error"]["detail"]["path"], "command");
        assert_eq!(rows["s"]["error"]["detail"]["line"], 1);
        assert_eq!(refused(&session, "u").await.0, ErrorCode::InvalidConfig);
        let error = rig.pool.set_source(&name("user"), Some("{ nonsense")).unwrap_err();
        assert_eq!(
            (error.code(), &error.detail()["source"]),
            (ErrorCode::InvalidConfig, &json!("user"))
        );
        assert!(session.tools().unwrap().iter().any(|tool| tool.name.starts_with("mcp__s__")));
        assert_eq!(rig.starts(), starts);
    });
}

/// SPEC 13.2, 13.4: applying the same state twice does nothing and tells nothing.
#[test]
fn the_same_source_twice_does_nothing() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        set(&rig.pool, "user", json!({ "s": rig.server(&[]) }));
        settled(&rig).await;
        let events = news(&rig.pool);
        let rows = set(&rig.pool, "user", json!({ "s": rig.server(&[]) }));
        assert_eq!(actions(&rows), json!({ "s": "unchanged" }));
        assert!(events.try_next().is_none());
        assert_eq!(rig.starts().len(), 1);
    });
}

/// INTERFACE: the source of run time has verbs of its own.
#[test]
fn the_source_of_run_time_is_not_set_by_settings() {
    let rig = trusted();
    host(async {
        let error = rig.pool.set_source(&name("runtime"), None).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument);
    });
}

/// SPEC 2.1, 10.3, 11.7: what is kept without effect is reported, with its place.
#[test]
fn what_has_no_effect_is_reported() {
    let rig = trusted();
    host(async {
        let text = r#"{
          "mcpServers": {
            "s": { "command": "x", "share": "pool",
              "shine": 1 },
            "t": { "command": "x",
              "alwaysAllow": ["all"] } } }"#;
        let found = |source: &str| {
            let report = rig.pool.set_source(&name(source), Some(text)).unwrap();
            let findings = report["findings"].as_array().unwrap().iter();
            let row = |one: &Value| format!("{} {} {}", one["kind"], one["path"], one["line"]);
            findings.map(row).collect::<Vec<_>>().join(", ")
        };
        let common = r#""approval" "alwaysAllow" 6"#;
        let unknown = r#""unknown" "shine" 4"#;
        assert_eq!(found("user"), format!("{common}, {unknown}"));
        let share = r#""no_effect" "share" 3"#;
        assert_eq!(found("project"), format!("{common}, {share}, {unknown}"));
    });
}

/// SPEC 13.6: one that fails does not stop the others, and says why.
#[test]
fn one_server_that_fails_stops_no_other() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        let gone = json!({ "command": "/no/such/program" });
        set(&rig.pool, "user", json!({ "a": gone, "b": rig.server(&[]), "c": rig.server(&[]) }));
        let states = settled(&rig).await;
        assert_eq!(states["a"]["error"]["code"], "spawn_failed");
        assert_eq!([&states["b"]["state"], &states["c"]["state"]], ["ready", "ready"]);
    });
}

/// SPEC 13.4: lists alone reconcile; anything else in a text does nothing, and is told to nobody.
#[test]
fn lists_alone_reconcile_and_anything_else_does_nothing() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        let source = name("user:/srv/.gemini/settings.json");
        let put = |more: &str| {
            let servers = json!({ "s": rig.server(&[]), "t": rig.server(&[]) });
            let text = format!(r#"{{ {more} "mcpServers": {servers} }}"#);
            rig.pool.set_source(&source, Some(&text)).unwrap()["servers"].clone()
        };
        put("");
        settled(&rig).await;
        let events = news(&rig.pool);
        let rows = put("\n \"theme\": \"dark\", // a word\n");
        assert_eq!(actions(&rows), json!({ "s": "unchanged", "t": "unchanged" }));
        assert!(events.try_next().is_none());
        put(r#""mcp": { "excluded": ["t"] },"#);
        assert_eq!(row(&rig.pool, "t")["reason"], "excluded");
        until(|| rig.running().len() == 1);
    });
}
