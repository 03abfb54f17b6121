//! Hosts that end without closing their pools, amid calls: they end at once, and nothing of theirs
//! is left (SPEC 16.4, 9.8).

use std::process::{Child, Stdio};
use std::sync::Arc;

use rig::{Folder, Rig, acquire, apart, runs, text, until};
use serde_json::{Value, json};
use trunkline::CallOptions;

/// What a bug of this kind shows only now and then.
const REPETITIONS: usize = 30;

/// Hosts at one time: a little more than the cores of a small machine, so that they get into each
/// other's way.
const LANES: usize = 3;

/// Calls under way at the exit, more than the library has threads.
const CALLS: usize = 32;

/// SPEC 16.4, I-19: 30 hosts, each with calls whose closures the library still holds.
#[test]
fn a_host_that_exits_amid_calls_ends_well_and_leaves_no_server() {
    let test = rig::this_test!();
    if apart::given(test).is_some() {
        exit_amid_calls();
    }
    for _ in 0..REPETITIONS / LANES {
        let hosts: Vec<(Folder, Child)> = (0..LANES).map(|_| host(test)).collect();
        hosts.into_iter().for_each(ends_well);
    }
}

/// A host, and the folder that its own are in: it drops nothing at its exit.
fn host(test: &str) -> (Folder, Child) {
    let folder = Folder::new();
    let mut again = apart::again(test, &Value::Null);
    again.env("TMPDIR", &*folder);
    let host = again.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    (folder, host)
}

fn ends_well((folder, host): (Folder, Child)) {
    let ended = host.wait_with_output().unwrap();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
    let of_rig = std::fs::read_dir(&*folder).unwrap().next().unwrap().unwrap().path();
    let log = std::fs::read_to_string(of_rig.join("starts")).unwrap();
    let pid = |line: &str| line.split(' ').next().unwrap().parse().unwrap();
    let family: Vec<u32> = log.lines().map(pid).collect();
    assert_eq!(family.len(), 2, "a server and its helper");
    until(|| !family.iter().any(|pid| runs(*pid)));
}

/// The host: half of its calls are awaited on threads of its own, half end in a closure.
fn exit_amid_calls() -> ! {
    let rig = Rig::new(json!({}));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        rig.configure(json!({ "s": rig.server(&["--fork-child"]) })).await;
        let lease = Arc::new(acquire(&rig.session("a"), "s").await);
        let minute = r#"{"ms":60000}"#;
        for _ in 0..CALLS / 2 {
            lease.start_call_tool("sleep", minute, &CallOptions::default(), |_| ());
            let lease = lease.clone();
            tokio::spawn(async move {
                lease.call_tool("sleep", minute, &CallOptions::default()).await.map(drop)
            });
        }
        while text(&lease, "under_way", json!({})).await != CALLS.to_string() {}
    });
    std::process::exit(0);
}
