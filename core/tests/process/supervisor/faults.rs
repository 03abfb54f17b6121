//! The supervisor or a keeper is killed, or cannot start what it is told to.

use std::time::Instant;

use rig::traces::{self, Family, kill, parent};
use rig::{HANG, Rig, acquire, host, text, until};
use serde_json::json;
use trunkline::{CallOptions, ErrorCode, EventKind, EventMask};

use crate::supervisor::behaviours::BEHAVIOURS;
use crate::supervisor::established;

/// Who is killed.
#[derive(Clone, Copy)]
enum Holder {
    Keeper,
    Supervisor,
}

/// The one behaviour whose server is gone before anybody can look for its keeper.
const LEADER_DIES_FIRST: &str = "leader dies first";

/// Kills who holds the server of each behaviour: nothing of it is left.
fn nothing_survives_the_loss_of(holder: Holder) {
    for behaviour in BEHAVIOURS.iter() {
        let family = Family::new(&behaviour.name);
        let rig = Rig::new(json!({}));
        host(async {
            let (_session, _lease, pid) = established(&rig, behaviour, &family).await;
            let Some(keeper) = parent(pid).filter(|keeper| traces::is_ours(*keeper)) else {
                // It took the way to its keeper along.
                assert_eq!(behaviour.name, LEADER_DIES_FIRST);
                return;
            };
            let members = family.members();
            let begun = Instant::now();
            match holder {
                Holder::Keeper => kill("KILL", keeper),
                Holder::Supervisor => kill("KILL", parent(keeper).unwrap()),
            }
            until(|| !members.iter().any(|pid| rig::runs(*pid)));
            println!("holder killed {:38} {:?}", behaviour.name, begun.elapsed());
        });
        drop(rig);
        assert_eq!(family.members(), [0; 0], "{}", behaviour.name);
    }
}

/// SECURITY row 1, the twelfth behaviour: the keeper of a server is killed.
#[test]
fn nothing_survives_a_killed_keeper() {
    rig::alone!();
    nothing_survives_the_loss_of(Holder::Keeper);
}

/// SECURITY row 1, the twelfth behaviour: the supervisor is killed.
#[test]
fn nothing_survives_a_killed_supervisor() {
    rig::alone!();
    nothing_survives_the_loss_of(Holder::Supervisor);
}

/// A server loses its supervisor: the loss is told with its reason, and the lease works again under
/// a new one.
#[test]
fn the_loss_of_the_supervisor_is_reported_and_the_next_start_has_a_new_one() {
    rig::alone!();
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session("a");
        let events = session.subscribe(EventMask::ALL).unwrap();
        let lease = acquire(&session, "s").await;
        let pid = text(&lease, "pid", json!({})).await.parse().unwrap();
        let supervisor = parent(pid).and_then(parent).unwrap();
        kill("KILL", supervisor);
        let disconnected = async {
            loop {
                let event = events.next().await.expect("it does not end");
                if event.kind() == EventKind::Disconnected {
                    return event.json().to_owned();
                }
            }
        };
        let disconnected = tokio::time::timeout(HANG, disconnected).await.unwrap();
        assert!(disconnected.contains("transport_closed"), "{disconnected}");
        let lease = acquire(&session, "s").await;
        let pid = text(&lease, "pid", json!({})).await.parse().unwrap();
        let next = parent(pid).and_then(parent).unwrap();
        assert_ne!(next, supervisor);
        assert_eq!(rig.pool.status()["supervision"], "supervisor");
    });
}

/// SPEC 4.6: what cannot be started is told as it is, and leaves nothing.
#[test]
fn what_cannot_be_started_is_told_with_its_reason() {
    rig::alone!();
    let rig = Rig::new(json!({}));
    let text = rig.path("text");
    std::fs::write(&text, "not a program").unwrap();
    std::fs::set_permissions(&text, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    host(async {
        let servers = json!({
            "missing": { "command": "no-such-program" },
            "text": { "command": text },
            "folder": { "command": "/bin/sh", "cwd": "/no/such/folder" },
            "huge": { "command": "/bin/sh", "args": ["-c", ":", "x".repeat(4 << 20)] },
            "early": { "command": "/bin/sh", "args": ["-c", "exit 3"] },
        });
        rig.configure(servers).await;
        let session = rig.session("a");
        let options = trunkline::AcquireOptions::default();
        for (server, code, errno) in [
            ("missing", ErrorCode::SpawnFailed, Some(2)),
            ("text", ErrorCode::SpawnFailed, Some(8)),
            ("folder", ErrorCode::SpawnFailed, Some(2)),
            ("huge", ErrorCode::SpawnFailed, Some(7)),
            ("early", ErrorCode::Exited, None),
        ] {
            let error = session.acquire(server, None, &options).await.err().unwrap();
            assert_eq!(error.code(), code, "{server}: {error}");
            let found = error.detail().get("errno").and_then(|it| it.as_i64());
            assert_eq!(found, errno, "{server}: {error}");
        }
        assert_eq!(rig.pool.status()["supervision"], "supervisor");
    });
}

/// I-20: a fork of the host ends without a word to its parent's supervisor.
#[test]
fn a_fork_of_the_host_leaves_its_servers_alone() {
    rig::alone!();
    let rig = Rig::new(json!({}));
    let session = rig.session("a");
    let lease = host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        acquire(&session, "s").await
    });
    // SAFETY: the child ends at once, by the ordinary exit, which runs what the host has arranged
    // for it.
    let child = unsafe { libc::fork() };
    if child == 0 {
        std::process::exit(0);
    }
    let mut status = -1;
    // SAFETY: waits for the child of the line above.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    host(async {
        lease.call_tool("pid", "{}", &CallOptions::default()).await.unwrap();
    });
    drop(lease);
}
