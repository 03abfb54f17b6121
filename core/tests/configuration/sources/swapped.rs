//! What is another by the time that somebody decides, or that it is to start (S-05).

use super::decisions::approve;
use super::*;
use trunkline::LoadOptions;

/// SPEC 12.7, S-05: what was read is what is shown, decided about and started, whatever the file
/// says by then; what it says is asked about once it is read, and the decision about what was there
/// before is stale for it.
#[test]
fn a_file_that_is_written_over_before_the_decision_starts_nothing_else() {
    let rig = rig(json!({ "trusted": true, "drain_delay_ms": 0 }));
    let (file, evil) = (rig.path("ws/.mcp.json"), rig.path("evil"));
    let write = |server: &Value| {
        std::fs::write(&file, json!({ "mcpServers": { "s": server } }).to_string()).unwrap();
    };
    std::fs::write(&evil, format!("#!/bin/sh\ntouch {}\n", rig.path("ran").display())).unwrap();
    std::fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    host(async {
        let session = wanting(&rig, "a");
        let shown = rig.server(&["--label", "one"]);
        write(&shown);
        rig.pool.load(&file, &LoadOptions::default()).await.unwrap();
        let request = rig.pool.approvals().await.unwrap()["requests"][0].clone();
        write(&json!({ "command": evil }));
        let hash = approve(&rig.pool, "s").await;
        assert_eq!(request["hash"], hash.as_str());
        assert_eq!(settled(&rig).await["s"]["state"], "ready");
        let line = std::fs::read(format!("/proc/{}/cmdline", rig.starts()[0])).unwrap();
        let line: Vec<&[u8]> = line.strip_suffix(b"\0").unwrap().split(|it| *it == 0).collect();
        let argv = request["exact"]["argv"].as_array().unwrap().iter();
        assert_eq!(line, argv.map(|it| it.as_str().unwrap().as_bytes()).collect::<Vec<_>>());
        rig.pool.reload(&Default::default()).await.unwrap();
        assert_eq!(refused(&session, "s").await.1, "pending_approval");
        let stale = rig.pool.approve("s", &hash).await.unwrap_err();
        assert_eq!(stale.code(), ErrorCode::StaleApproval);
        rig.wait_for_no_process();
        assert_eq!(rig.starts().len(), 1);
        assert!(!rig.path("ran").exists());
    });
}
