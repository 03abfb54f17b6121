//! The end of a pool that something of a file system is awaited for.

use super::*;

/// SPEC 9.7, 16.2: the file of its status, which is written each second; it goes once it can.
#[test]
fn a_status_file_that_is_away_does_not_hold_up_the_end_of_the_pool() {
    rig::alone!();
    intercept();
    let rig = Rig::in_workspace_with(|workspace| {
        let file = workspace.parent().unwrap().join("share/status.json");
        let options = json!({ "workspace": workspace, "status_file": file });
        PoolOptions::from_json(&options.to_string()).unwrap()
    });
    let events = rig.pool.subscribe(EventMask::ALL).unwrap();
    let (share, file) = (rig.path("share"), rig.path("share/status.json"));
    let away = Away::new(&share);
    away.until_asked();
    calls_go_on(&rig);
    closes(&rig);
    closes(&rig);
    while events.try_next().is_some() {}
    assert!(events.is_ended());
    drop(away);
    until(|| !file.exists());
}

/// SPEC 9.7, 16.4: the look-up of a program, which a callback of the host began.
#[test]
fn a_pool_is_over_with_its_last_handle_while_a_program_is_looked_up() {
    rig::alone!();
    is_over_when_dropped(|pool, share| {
        std::fs::write(share.join("program"), "").unwrap();
        let server = json!({ "command": share.join("program") });
        let text = json!({ "mcpServers": { "p": server } }).to_string();
        let away = Away::new(share);
        let sets = pool.clone();
        let verb = async move { sets.set_source(&name("project"), Some(&text)) };
        let (send, told) = channel();
        drop(pool.start(verb, move |told| send.send(told).unwrap()));
        assert_eq!(done(&told).unwrap()["servers"]["p"]["action"], "waiting");
        away
    });
}

/// The same of a file whose load was given up.
#[test]
fn a_pool_is_over_with_its_last_handle_while_a_load_that_was_given_up_waits() {
    rig::alone!();
    is_over_when_dropped(|pool, share| {
        let (loads, file) = (pool.clone(), share.join("away.json"));
        std::fs::write(&file, r#"{"mcpServers": {}}"#).unwrap();
        let away = Away::new(share);
        let load = async move { loads.load(file, &LoadOptions::default()).await };
        let operation = pool.start(load, drop);
        away.until_asked();
        operation.cancel();
        away
    });
}

/// That a pool ends when its host lets it go while something waits for a share: its servers, and
/// its events.
fn is_over_when_dropped(wait: impl FnOnce(&Pool, &Path) -> Away) {
    let (rig, share) = rig();
    let options = json!({
        "workspace": rig.path("ws"), "trusted": true, "approvals": "memory", "cache": "off",
        "drain_delay_ms": 600_000,
    });
    let pool = Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap();
    let session = pool.session(trunkline::SessionOptions::new("a")).unwrap();
    set(&pool, "user", json!({ "u": rig.server(&[]) }));
    until(|| row(&pool, "u")["state"] == "connected");
    let events = pool.subscribe(EventMask::ALL).unwrap();
    let away = wait(&pool, &share);
    away.until_asked();
    drop((session, pool));
    until(|| events.try_next().is_none() && events.is_ended());
    rig.wait_for_no_process();
    drop(away);
}
