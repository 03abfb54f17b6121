//! The end of a process tree, whatever it does about it (I-01, SPEC 9.8).

use super::*;

/// The processes of a server, from its start log: `(pid, role)`.
fn family(folder: &Folder) -> Vec<u32> {
    let log = std::fs::read_to_string(folder.join("starts")).unwrap();
    log.lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect()
}

/// Connects the reference server with these flags, closes it with these graces, and says how it
/// went. Nothing takes as long as a patient grace: a close that waits for one hangs.
async fn closed(flags: &[&str], members: usize, graces: [Duration; 2]) -> (CloseExit, Duration) {
    let folder = Folder::new();
    let log = folder.join("starts").to_str().unwrap().to_owned();
    let server = test_server(&[flags, &["--start-log", &log]].concat());
    let server = server.options(|it| [it.exit_grace, it.kill_grace] = graces);
    let open = server.connect().await;
    let family = family(&folder);
    assert_eq!(family.len(), members, "{family:?}");
    assert!(family.iter().all(|pid| lives(*pid)));
    let begun = Instant::now();
    let exit = open.close().await;
    let took = begun.elapsed();
    let left: Vec<_> = family.into_iter().filter(|pid| lives(*pid)).collect();
    assert_eq!(left, [0; 0], "{flags:?} left processes");
    (exit, took)
}

const GRACE: Duration = Duration::from_millis(300);
const PATIENT: Duration = HANG.saturating_mul(10);

/// I-01.
#[tokio::test]
async fn a_polite_server_is_gone_at_once() {
    assert_eq!(closed(&[], 1, [PATIENT; 2]).await.0, CloseExit::Clean);
}

/// I-01.
#[tokio::test]
async fn a_server_deaf_to_the_end_of_its_input_is_terminated() {
    let (exit, took) = closed(&["--ignore-eof"], 1, [GRACE, PATIENT]).await;
    assert_eq!(exit, CloseExit::Forced);
    assert!(took >= GRACE, "{took:?}");
}

/// I-01.
#[tokio::test]
async fn a_server_deaf_to_everything_is_killed() {
    let (exit, took) = closed(&["--ignore-eof", "--ignore-term"], 1, [GRACE; 2]).await;
    assert_eq!(exit, CloseExit::Forced);
    assert!(took >= 2 * GRACE, "{took:?}");
}

/// SPEC 9.8: a grace that no clock reaches is a long one.
#[tokio::test]
async fn an_eternal_grace_holds_up_no_end() {
    assert_eq!(closed(&[], 1, [Duration::MAX; 2]).await.0, CloseExit::Clean);
    assert_eq!(closed(&["--ignore-eof"], 1, [GRACE, Duration::MAX]).await.0, CloseExit::Forced);
}

/// I-01: a child in the group, also after the clean exit of its leader.
#[tokio::test]
async fn children_in_the_group_do_not_outlive_a_clean_exit() {
    assert_eq!(closed(&["--fork-child"], 2, [GRACE; 2]).await.0, CloseExit::Forced);
}

/// I-01.
#[tokio::test]
async fn children_in_a_session_of_their_own_are_ended_too() {
    let deaf = ["--setsid-child", "--ignore-eof"];
    assert_eq!(closed(&deaf, 2, [GRACE; 2]).await.0, CloseExit::Forced);
    assert_eq!(closed(&["--setsid-child"], 2, [GRACE; 2]).await.0, CloseExit::Forced);
}

/// I-01, SPEC 9.8: package runners.
#[tokio::test]
async fn wrappers_and_what_they_wrap_are_ended() {
    assert_eq!(closed(&["--wrapped"], 2, [PATIENT; 2]).await.0, CloseExit::Clean);
    let deaf = ["--wrapped", "--ignore-eof", "--ignore-term"];
    assert_eq!(closed(&deaf, 2, [GRACE; 2]).await.0, CloseExit::Forced);
}

/// I-01.
#[tokio::test]
async fn a_stopped_server_is_killed() {
    let open = test_server(&[]).connect().await;
    let stop = std::process::Command::new("kill").args(["-STOP", &open.pid.to_string()]).status();
    assert!(stop.unwrap().success());
    assert_eq!(open.close().await, CloseExit::Forced);
    assert!(!lives(open.pid));
}

/// I-01: the leader is gone before anybody closes, and its child holds our pipes.
#[tokio::test]
async fn a_loss_is_seen_and_its_children_ended_when_they_hold_the_pipes() {
    let open = test_server(&["--fork-child"]).connect().await;
    let child = open.call("spawn_child", json!({})).await.unwrap();
    let child: Value = serde_json::from_str(&child).unwrap();
    let child: u32 = child["content"][0]["text"].as_str().unwrap().parse().unwrap();
    let (_, answer) = open.start("crash", json!({ "code": 1 }));
    assert_eq!(ended(answer).await.unwrap_err().code(), ErrorCode::CallInterrupted);
    open.recorder.wait_for("lost TransportClosed").await;
    open.close().await;
    assert!(!lives(child));
}

/// SPEC 9.7.
#[tokio::test]
async fn an_impatient_close_cuts_a_patient_one_short() {
    let open =
        test_server(&["--ignore-eof", "--ignore-term"]).options(|it| it.exit_grace = PATIENT);
    let open = open.connect().await;
    let (_, answer) = open.start("sleep", json!({ "ms": 60000 }));
    let both = async {
        tokio::join!(open.connection.close(Kill::AfterGraces), async {
            ended(answer).await.unwrap_err();
            open.connection.close(Kill::Now).await
        })
    };
    let exits = tokio::time::timeout(HANG, both).await.unwrap();
    assert_eq!(exits, (CloseExit::Forced, CloseExit::Forced));
    assert!(!lives(open.pid));
    assert_eq!(open.recorder.told(), [""; 0], "a close is no loss");
}

/// SPEC 3.4, I-04.
#[tokio::test]
async fn an_attempt_that_is_called_off_returns_when_nothing_is_left() {
    let folder = Folder::new();
    let log = folder.join("starts").to_str().unwrap().to_owned();
    let server = test_server(&["--silent", "--start-log", &log]);
    let server = server.options(|options| options.exit_grace = HANG);
    let spec = ServerSpec::from_value("s", &server.value).unwrap();
    let (wanted, cancel) = watch::channel(None);
    let events = Arc::<Recorder>::default();
    let attempt = Connection::connect(&spec, server.options.clone(), events.clone(), cancel);
    let give_up = async {
        // Before its start is told it is a launch, and one that is called off is killed.
        while events.pid.load(Ordering::SeqCst) == 0 || !folder.join("starts").exists() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        drop(wanted);
    };
    let (result, ()) =
        tokio::time::timeout(HANG, async { tokio::join!(attempt, give_up) }).await.unwrap();
    let failed = result.err().unwrap();
    assert_eq!(failed.error.code(), ErrorCode::Cancelled);
    assert_eq!(failed.exit, CloseExit::Clean, "it needed no signal");
    assert!(!family(&folder).into_iter().any(lives));
}

/// SPEC 3.3, 8.5: a write into a closed pipe marks the connection as lost at once. The event comes
/// later, with the cause.
#[tokio::test]
async fn a_broken_pipe_is_a_loss_at_once() {
    let open = script(&scripted(r#"reply '{}'; exec 0<&-; sleep 60"#)).connect().await;
    open.call("any", json!({})).await.unwrap();
    loop {
        // One that is written before the server closes its end is never answered.
        let timeout = Duration::from_millis(50);
        let (_, answer) = open.request(OutgoingRequest { timeout, ..request() });
        let is_lost = open.connection.is_lost();
        match ended(answer).await {
            Err(error) if error.code() == ErrorCode::CallInterrupted => {
                assert!(is_lost, "the loss was hidden from who asked right after the write");
                break;
            }
            _ => {}
        }
    }
    open.recorder.wait_for("lost TransportError").await;
    open.close().await;
}

/// SPEC 8.6, FAULTS H12: the word on how a process ended may come late, on a busy machine.
#[tokio::test]
async fn the_status_is_told_where_the_process_ended_however_late_that_is_heard() {
    let open = script(&scripted("reply '{}'")).connect().await;
    let Some(parent) = supervisor_of(&open) else { return };
    send("-STOP", &parent);
    send("-KILL", &open.pid.to_string());
    tokio::time::sleep(Duration::from_millis(400)).await;
    send("-CONT", &parent);
    let told = open.recorder.wait_for("lost").await;
    assert!(told.contains("signal 9"), "{told}");
    open.close().await;
    assert!(!open.recorder.told().iter().any(|told| told.contains("late")), "it was told once");
}

/// The supervisor of a server that has one.
fn supervisor_of(open: &Open) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", open.pid)).unwrap();
    let parent = stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap();
    (parent != std::process::id().to_string()).then(|| parent.to_owned())
}

fn send(signal: &str, pid: &str) {
    assert!(Command::new("kill").args([signal, pid]).status().unwrap().success());
}

/// SPEC 5.6, 8.6, FAULTS H12: the loss event does not wait for an exit status that does not come.
/// When the status comes, a warning follows.
#[tokio::test]
async fn a_loss_is_told_soon_and_the_status_that_is_heard_later_after_it() {
    let open = script(&scripted("reply '{}'")).connect().await;
    let Some(parent) = supervisor_of(&open) else { return };
    send("-STOP", &parent);
    let begun = Instant::now();
    send("-KILL", &open.pid.to_string());
    let told = open.recorder.wait_for("lost").await;
    let took = begun.elapsed();
    send("-CONT", &parent);
    assert!(took < Duration::from_secs(4), "{took:?}");
    assert!(told.starts_with("lost TransportClosed exited "), "{told}");
    assert!(told.ends_with("the server exited"), "{told}");
    open.recorder.wait_for("late the server was ended by signal 9").await;
    open.close().await;
}

/// The same for a server that closed its output alone: nobody waits for an end that is not to come.
#[tokio::test]
async fn a_server_that_closed_its_output_alone_is_lost_soon() {
    let server = script(&scripted("exec 1>&-; sleep 60"));
    let open = server.options(|options| options.exit_grace = HANG).connect().await;
    let begun = Instant::now();
    drop(open.call("any", json!({})).await.unwrap_err());
    let told = open.recorder.wait_for("lost").await;
    assert!(told.contains("closed its standard output"), "{told}");
    assert!(begun.elapsed() < Duration::from_secs(3));
}

/// SPEC 4.2: an attempt has one time, which what came before the connect is a part of.
#[tokio::test]
async fn what_was_spent_before_the_connect_is_not_had_again() {
    let server = test_server(&["--silent"]).options(|options| {
        options.timeout = HANG;
        options.spent = HANG - Duration::from_secs(1);
    });
    let begun = Instant::now();
    let refused = server.refused().await;
    assert_eq!(
        (refused.code(), &refused.detail()["which"]),
        (ErrorCode::Timeout, &"connect".into())
    );
    assert!(begun.elapsed() < HANG / 2, "{:?}", begun.elapsed());
}
