//! SIGTERM reaches everything below a server (SPEC 9.8): whatever it misses is there until it is
//! killed.

use rig::traces::Family;
use rig::{HANG, Rig, acquire, host, testserver, until};
use serde_json::{Value, json};

use crate::supervisor::behaviours::faultserver;
use crate::supervisor::ends_in_order;

/// Ends a server, of so many processes at least, that the end of its input does not end: SIGTERM
/// does.
fn ends_by_sigterm(server: Value, family: &Family, members: usize) {
    let rig = Rig::new(json!({ "exit_grace_ms": 20, "kill_grace_ms": 200_000 }));
    let took = host(async {
        rig.configure(json!({ "s": server })).await;
        assert_eq!(rig.pool.status()["supervision"], "supervisor");
        let session = rig.session("a");
        let _lease = acquire(&session, "s").await;
        until(|| family.members().len() >= members);
        ends_in_order(&rig).await
    });
    assert_eq!(family.members(), [0; 0]);
    assert!(took < HANG, "something was to be killed");
}

/// The leader is gone before the last of its children is looked for.
#[test]
fn every_child_of_a_leader_that_sigterm_ends_gets_it_too() {
    const CHILDREN: usize = 40;
    let family = Family::new("children");
    let children = std::iter::repeat_n(["--helper", "group"], CHILDREN);
    let flags: Vec<&str> = children.flatten().chain(["--ignore-eof"]).collect();
    ends_by_sigterm(faultserver(&flags, &family), &family, CHILDREN + 1);
}

/// What begins in the meantime is told as well, and nothing begins after that.
#[test]
fn what_is_forked_while_it_is_looked_for_gets_it_too() {
    // SIGTERM comes amid them.
    const SCRIPT: &str = "\
        { i=0; while [ $i -lt 200 ]; do \"$0\" --hold --mark \"$1\" & i=$((i+1)); done; wait; } & \
        exec \"$0\" --ignore-eof --mark \"$1\"";
    let family = Family::new("forks");
    let program = testserver().with_file_name("trunkline-faultserver");
    let args = json!(["-c", SCRIPT, program, family.mark()]);
    ends_by_sigterm(json!({ "command": "/bin/sh", "args": args }), &family, 5);
}
