//! Settings: files that are read, and read again.

use std::path::PathBuf;

use rig::{HANG, acquire, until};
use trunkline::{CallOptions, LoadOptions, ReloadOptions, WorkspaceTrust};

use super::*;

/// A pool with a watched file of the user's, whose one server does not run.
fn one_file() -> (Rig, Base, PathBuf) {
    let options = json!({ "trusted": true, "drain_delay_ms": 0, "limits": { "processes": 1 } });
    let rig = Rig::new(options);
    let file = rig.path("servers.json");
    let text = json!({ "mcpServers": { "s": rig.server(&[]) } });
    std::fs::write(&file, text.to_string()).unwrap();
    host(rig.pool.load(&file, &watched())).unwrap();
    let base = host(Base::new(&rig, "s"));
    (rig, base, file)
}

fn watched() -> LoadOptions {
    LoadOptions::from_json(r#"{"watch":true,"source":"user"}"#).unwrap()
}

/// SPEC 10.1, 13.1, I-04: the file is a source then, or none; nothing of it is left when it is
/// removed.
#[test]
fn a_load_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base, file) = one_file();
    let source = format!("user:{}", file.display()).parse().unwrap();
    at_every_poll("Pool::load", |cut| {
        rig.pool.set_source(&source, None).unwrap();
        let loaded = host(cut.of(rig.pool.load(&file, &watched()))).map(Result::unwrap);
        let report = host(rig.pool.load(&file, &watched())).unwrap();
        let rows = report["servers"].as_object().unwrap();
        assert!(rows.len() == 1 && rows.contains_key("s"), "{report}");
        assert_eq!(rig.pool.status()["servers"].as_object().unwrap().len(), 1);
        drop(host(acquire(&rig.session("a"), "s")));
        base.returns(&rig);
        loaded
    });
}

/// SPEC 13.3, I-04: what it has reconnected is reconnected, and its holders are the same.
#[test]
fn a_reload_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base, _) = one_file();
    let lease = host(acquire(&rig.session("a"), "s"));
    let wait = CallOptions::from_json(r#"{"wait":true}"#).unwrap();
    for options in ["{}", r#"{"reconnect":"all"}"#] {
        let options = ReloadOptions::from_json(options).unwrap();
        at_every_poll("Pool::reload", |cut| {
            let report = host(cut.of(rig.pool.reload(&options))).map(Result::unwrap);
            host(rig.pool.settled(Some(HANG))).unwrap();
            host(lease.call_tool("pid", "{}", &wait)).unwrap();
            until(|| rig.running().len() == 1);
            assert_eq!((&entry(&rig)["refs"], &entry(&rig)["in_flight"]), (&json!(1), &json!(0)));
            report
        });
    }
    drop(lease);
    base.returns(&rig);
}

/// SPEC 11.3: the word that was given last holds.
#[test]
fn a_word_of_trust_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base, _) = one_file();
    let session = rig.session("a");
    at_every_poll("Pool::set_trusted", |cut| {
        host(rig.pool.set_trusted(WorkspaceTrust::Untrusted)).unwrap();
        base.returns(&rig);
        let trusted = rig.pool.set_trusted(WorkspaceTrust::Trusted);
        let report = host(cut.of(trusted)).map(Result::unwrap);
        host(rig.pool.set_trusted(WorkspaceTrust::Trusted)).unwrap();
        drop(host(acquire(&session, "s")));
        base.returns(&rig);
        report
    });
}
