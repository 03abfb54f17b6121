//! Hosts that treat signals and children in their own way (I-22, SPEC 16.4).

use super::*;
use crate::platform;

/// What a bug of this kind shows only now and then.
const REPETITIONS: usize = 30;

/// Runs in a process of its own, since what it changes is the process's own.
fn in_a_host(test: &str, prepare: fn(), serve: impl AsyncFn()) {
    platform::alone_in_a_process(&format!("client::tests::host::{test}"), || {
        // Built while this process can still wait for a compiler.
        test_server_path();
        prepare();
        // One thread, not one of ours: its writes are those of a host.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        (0..REPETITIONS).for_each(|_| runtime.block_on(serve()));
    });
}

/// I-22, SECURITY finding 4.
#[test]
fn a_write_to_a_closed_pipe_does_not_end_a_host_with_the_default_sigpipe() {
    in_a_host(
        "a_write_to_a_closed_pipe_does_not_end_a_host_with_the_default_sigpipe",
        platform::default_sigpipe,
        async || {
            let deaf = r#"reply '{}'; exec 0<&-; sleep 60"#;
            let open = script(&scripted(deaf)).connect().await;
            open.call("any", json!({})).await.unwrap();
            let error = loop {
                // One that is written before the server closes its end is never answered.
                let timeout = Duration::from_millis(50);
                let (_, answer) = open.request(OutgoingRequest { timeout, ..request() });
                match ended(answer).await {
                    Err(error) if error.code() == ErrorCode::CallInterrupted => break error,
                    _ => {}
                }
            };
            assert_eq!(error.outcome(), Some(crate::Outcome::NotSent));
            open.recorder.wait_for("lost TransportError").await;
            open.close().await;
        },
    );
}

async fn live_and_die() {
    let open = test_server(&["--fork-child"]).connect().await;
    open.call("echo", json!({ "message": "x" })).await.unwrap();
    open.close().await;
    assert!(!lives(open.pid));
    let open = test_server(&[]).connect().await;
    let (_, answer) = open.start("crash", json!({ "code": 5 }));
    ended(answer).await.unwrap_err();
    open.recorder.wait_for("lost TransportClosed exited").await;
    open.close().await;
    let error = test_server(&["--exit-at-start", "1"]).refused().await;
    assert_eq!(error.code(), ErrorCode::Exited);
    let error = Server::new(json!({ "command": "no-such-program" })).refused().await;
    assert_eq!(error.code(), ErrorCode::SpawnFailed);
    let folder = Folder::new();
    std::fs::write(folder.join("text"), "not a program").unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder.join("text"), PermissionsExt::from_mode(0o755)).unwrap();
    let error = Server::new(json!({ "command": folder.join("text") })).refused().await;
    assert_eq!(error.detail()["errno"], libc::ENOEXEC);
}

/// I-22, SECURITY finding 5.
#[test]
fn a_host_that_ignores_sigchld_sees_no_difference() {
    in_a_host(
        "a_host_that_ignores_sigchld_sees_no_difference",
        platform::ignored_sigchld,
        live_and_die,
    );
}

/// I-22.
#[test]
fn a_host_that_reaps_every_child_sees_no_difference() {
    in_a_host(
        "a_host_that_reaps_every_child_sees_no_difference",
        platform::reap_everything,
        live_and_die,
    );
}

/// SPEC 16.4, I-01.
#[test]
fn a_host_that_exits_without_closing_leaves_no_server() {
    let folder = Folder::new();
    let log = folder.join("starts");
    let outcome = platform::in_another_process(
        "client::tests::host::a_host_that_exits_without_closing_leaves_no_server",
        &log,
        |log| {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let deaf = ["--ignore-eof", "--ignore-term", "--fork-child", "--start-log"];
            let open = runtime.block_on(async {
                test_server(&[&deaf[..], &[log.to_str().unwrap()]].concat()).connect().await
            });
            std::mem::forget((open, runtime));
            std::process::exit(0);
        },
    );
    if outcome.is_none() {
        return;
    }
    let log = std::fs::read_to_string(&log).unwrap();
    let family: Vec<u32> =
        log.lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
    assert_eq!(family.len(), 2);
    let begun = Instant::now();
    while family.iter().any(|pid| lives(*pid)) {
        assert!(begun.elapsed() < HANG, "{family:?} outlive their host");
        std::thread::sleep(Duration::from_millis(1));
    }
}
