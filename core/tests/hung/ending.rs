//! The end of a pool that something of a file system is awaited for.

use super::*;

/// SPEC 9.7, 16.2: the file of its status, which is written each second; it goes once it can.
#[test]
fn a_status_file_that_is_away_does_not_hold_up_the_end_of_the_pool() {
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
