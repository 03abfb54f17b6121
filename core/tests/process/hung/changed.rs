//! Files that change while nobody is to read them.

use super::*;

/// SPEC 13.5, 11.4: what a file said before it changed does not start when trust that waited for
/// another file comes.
#[test]
fn a_file_that_changes_while_trust_waits_for_another_is_read_once_more() {
    rig::alone!();
    let (rig, share) = rig_with(json!({
        "approvals": "memory", "untrusted_sources": ["launch", "session", "runtime"],
    }));
    let write = |file: &Path, servers: Value| {
        std::fs::write(file, json!({ "mcpServers": servers }).to_string()).unwrap();
    };
    let slow = share.join("away.json");
    let [changes, marker] = ["changes.json", "marker.json"].map(|name| rig.path(name));
    write(&slow, json!({}));
    write(&changes, json!({ "s": rig.server(&[]) }));
    write(&marker, json!({}));
    host(async {
        rig.pool.load(&slow, &LoadOptions::default()).await.unwrap();
        let mut options = LoadOptions::default();
        options.watch = true;
        rig.pool.load(&changes, &options).await.unwrap();
        // What needs no trust tells when the watcher has seen both.
        options.source = Some(trunkline::Scope::Launch);
        rig.pool.load(&marker, &options).await.unwrap();
    });
    let session = rig.session_with(json!({ "id": "a", "servers": ["s"] }));
    let news = rig.pool.subscribe(EventMask(EventKind::SourceChanged.bit())).unwrap();
    let away = Away::new(&share);
    let (send, waits) = channel();
    let trust = rig.pool.set_trusted(WorkspaceTrust::Trusted);
    let operation = rig.pool.start(trust, move |told| send.send(told).unwrap());
    away.until_asked();
    write(&changes, json!({}));
    write(&marker, json!({ "m": { "command": "never" } }));
    until(|| news.try_next().is_some());
    drop(away);
    done(&waits).unwrap();
    drop(operation);
    host(rig.pool.settled(Some(HANG))).unwrap();
    assert_eq!((row(&rig.pool, "s"), rig.starts()), (Value::Null, vec![]));
    drop(session);
    closes(&rig);
}
