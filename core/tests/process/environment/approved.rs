//! What runs is what was approved, although the environment has changed in between.

use std::fs;

use rig::{HANG, Rig};
use serde_json::{Value, json};
use trunkline::SourceName;

use crate::environment::set;

const WHERE: &str = "TRUNKLINE_TEST_WHERE";

/// SPEC 10.5, 12.2, S-05, S-07: a variable that has another value when the server is expanded than
/// in the request makes another request.
#[test]
fn another_value_of_a_variable_asks_for_approval_again() {
    rig::alone!();
    let rig = Rig::in_workspace(json!({ "trusted": true, "approvals": "memory" }));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for folder in ["one", "two"] {
        fs::create_dir(rig.path(folder)).unwrap();
    }
    point_to(&rig, "one");
    let mut server = rig.server(&[]);
    server["cwd"] = format!("${WHERE}").into();
    let text = json!({ "mcpServers": { "s": server } }).to_string();
    let project: SourceName = "project".parse().unwrap();
    let _session = rig.session_with(json!({ "id": "a" }));
    rig.pool.set_source(&project, Some(&text)).unwrap();
    runtime.block_on(async {
        let shown = hash(&rig).await;
        point_to(&rig, "two");
        rig.pool.approve("s", &shown).await.unwrap();
        let state =
            || async { rig.pool.settled(Some(HANG)).await.unwrap()["servers"]["s"].clone() };
        assert_eq!(state().await["reason"], "pending_approval");
        assert_eq!(rig.starts(), [0; 0]);
        let anew = hash(&rig).await;
        assert_ne!(anew, shown);
        rig.pool.approve("s", &anew).await.unwrap();
        assert_eq!(state().await["state"], "ready");
        let cwd = fs::read_link(format!("/proc/{}/cwd", rig.starts()[0])).unwrap();
        assert_eq!(cwd, rig.path("two").canonicalize().unwrap());
    });
}

fn point_to(rig: &Rig, folder: &str) {
    set(&[(WHERE, rig.path(folder).to_str().unwrap())]);
}

async fn hash(rig: &Rig) -> String {
    let approvals: Value = rig.pool.approvals().await.unwrap();
    approvals["requests"][0]["hash"].as_str().unwrap().to_owned()
}
