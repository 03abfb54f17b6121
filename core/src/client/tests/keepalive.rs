//! Servers that fall silent, and servers that only seem to.

use super::*;

const INTERVAL: Duration = Duration::from_millis(250);

fn kept_alive(server: Server) -> Server {
    server.options(|options| options.keepalive = INTERVAL)
}

/// The same of a server that is never to be lost, however long a busy machine keeps it from an
/// answer.
fn spared(server: Server) -> Server {
    kept_alive(server).options(|options| options.keepalive_misses = 100)
}

/// Waits until a server was asked for a sign of life at least so often.
async fn until_asked(open: &Open, times: u32) {
    let begun = Instant::now();
    loop {
        let asked = open.call("seen", json!({ "method": "ping" })).await.unwrap();
        let asked: Value = serde_json::from_str(&asked).unwrap();
        let asked: u32 = asked["content"][0]["text"].as_str().unwrap().parse().unwrap();
        if asked >= times {
            return;
        }
        assert!(begun.elapsed() < HANG, "asked {asked} times");
        tokio::time::sleep(INTERVAL * 3).await;
    }
}

/// SPEC 8.3.
#[tokio::test]
async fn a_silent_server_is_asked_and_lives_as_long_as_it_answers() {
    let open = spared(test_server(&[])).connect().await;
    until_asked(&open, 2).await;
    assert_eq!(open.recorder.told(), [""; 0]);
    open.close().await;
}

/// SPEC 5.4, 8.3: the timer of a connection that is asked in an eternity ends its calls in time.
#[tokio::test]
async fn an_interval_that_no_clock_reaches_holds_up_no_deadline() {
    let server = test_server(&[]).options(|options| options.keepalive = Duration::MAX);
    let open = server.connect().await;
    let params = r#"{"name":"sleep","arguments":{"ms":20000}}"#;
    let timeout = Duration::from_millis(50);
    let (_, answer) = open.request(OutgoingRequest { params, timeout, ..request() });
    assert_eq!(ended(answer).await.unwrap_err().code(), ErrorCode::Timeout);
    open.close().await;
}

/// SPEC 8.3, 5.6.
#[tokio::test]
async fn a_server_that_answers_nothing_is_lost_after_its_misses() {
    let open = kept_alive(test_server(&[])).connect().await;
    let begun = Instant::now();
    open.call("stop_reading", json!({ "ms": 60000 })).await.unwrap();
    let lost = open.recorder.wait_for("lost").await;
    assert!(lost.starts_with("lost Keepalive timeout s: the server sent nothing"), "{lost}");
    // The silence, and then each of the three questions, last an interval.
    assert!(begun.elapsed() >= INTERVAL * 4, "{:?}", begun.elapsed());
    open.close().await;
    assert!(!lives(open.pid));
}

/// SPEC 5.4, 5.6, 8.3: a call has its time, also one that met the server's death; those that came
/// later have no say.
#[tokio::test]
async fn a_silent_server_is_lost_when_the_calls_that_met_its_silence_are_over() {
    let open = kept_alive(test_server(&[])).connect().await;
    open.call("stop_reading", json!({ "ms": 60000 })).await.unwrap();
    let timeout = INTERVAL * 24;
    let params = r#"{"name":"echo","arguments":{"message":"x"}}"#;
    let (_, first) = open.request(OutgoingRequest { params, timeout, ..request() });
    tokio::time::sleep(INTERVAL * 6).await;
    assert_eq!(open.recorder.told(), [""; 0]);
    let (_, later) = open.start("echo", json!({ "message": "y" }));
    assert_eq!(ended(first).await.unwrap_err().code(), ErrorCode::Timeout);
    let lost = open.recorder.wait_for("lost").await;
    assert!(lost.starts_with("lost Keepalive timeout"), "{lost}");
    let error = ended(later).await.unwrap_err();
    assert_eq!(
        (error.code(), error.outcome()),
        (ErrorCode::CallInterrupted, Some(crate::Outcome::Unknown))
    );
    open.close().await;
}

/// SPEC 5.4, 8.3: the time that a caller gives its call is not the time that a dead connection has
/// for everybody.
#[tokio::test]
async fn a_silent_server_is_lost_though_a_call_would_wait_longer() {
    let server = kept_alive(test_server(&[]));
    let open = server.options(|options| options.call_idle_timeout = INTERVAL * 6).connect().await;
    open.call("stop_reading", json!({ "ms": 60000 })).await.unwrap();
    let begun = Instant::now();
    let (_, answer) = open.start("echo", json!({ "message": "x" }));
    let error = ended(answer).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::CallInterrupted);
    assert!(begun.elapsed() < HANG, "{:?}", begun.elapsed());
    open.recorder.wait_for("lost Keepalive").await;
    open.close().await;
}

/// SPEC 8.3: a busy server that still sends anything is alive, even if it answers no question.
#[tokio::test]
async fn a_server_that_answers_no_question_but_says_something_is_alive() {
    // For longer than a server has that is silent, with the question that it does not answer.
    let babble = "i=0; while [ $i -lt 70 ]; do echo noise; sleep 0.1; i=$((i+1)); done; reply '{}'";
    let server = kept_alive(script(&scripted(babble)));
    let open = server.options(|options| options.keepalive_misses = 20).connect().await;
    open.call("any", json!({})).await.unwrap();
    assert_eq!(open.recorder.told(), [""; 0]);
    open.close().await;
}

/// SPEC 8.3: an error is an answer too.
#[tokio::test]
async fn a_server_that_does_not_know_ping_is_alive() {
    let refuse = scripted("reply '{}'").replace(
        "*'\"method\":\"initialize\"'*)",
        r#"*'"method":"ping"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"?"}}\n' "$id";;
           *'"method":"initialize"'*)"#,
    );
    let open = spared(script(&refuse)).connect().await;
    tokio::time::sleep(INTERVAL * 6).await;
    open.call("any", json!({})).await.unwrap();
    assert_eq!(open.recorder.told(), [""; 0]);
    open.close().await;
}

/// SPEC 7.8.
#[tokio::test]
async fn a_server_that_may_change_and_never_said_so_is_listed_at_the_keepalive() {
    let open = spared(test_server(&["--list-changes"])).connect().await;
    open.recorder.wait_for("list_changed Tools").await;
    open.close().await;
}

/// SPEC 7.8: who announces is believed.
#[tokio::test]
async fn a_server_that_announces_its_changes_is_not_listed_at_the_keepalive() {
    let open = spared(test_server(&["--list-changes"])).connect().await;
    open.call("change_list", json!({ "add": ["new"] })).await.unwrap();
    open.recorder.wait_for("list_changed Tools").await;
    let announced = open.recorder.told().len();
    until_asked(&open, 2).await;
    assert_eq!(open.recorder.told().len(), announced);
    open.close().await;
}

/// Lists whenever a connection says so, for so many silences, or until it said it so often; how
/// often it did.
async fn listings(flags: &[&str], silences: u32, most: usize) -> usize {
    let server = spared(test_server(&[&["--era", "modern"], flags].concat()));
    let open = server.connect().await;
    let (mut told, end) = (0, Instant::now() + INTERVAL * silences);
    while Instant::now() < end && told < most {
        tokio::time::sleep(INTERVAL / 10).await;
        if open.recorder.told().len() > told {
            told += 1;
            open.connection.list().await.unwrap();
        }
    }
    open.close().await;
    told
}

/// SPEC 7.8: lists are read again when they are no longer fresh, and ever more seldom while they
/// stay the same.
#[tokio::test]
async fn lists_of_a_modern_server_are_read_again_when_they_are_stale() {
    for ttl in ["0", "1"] {
        assert_eq!(listings(&["--ttl-ms", ttl], WAITED_FOR, 1).await, 1);
        let told = listings(&["--ttl-ms", ttl], 12, usize::MAX).await;
        assert!(told <= 4, "{told}");
    }
    assert_eq!(listings(&[], 4, usize::MAX).await, 0);
}

/// SPEC 7.8: what a server holds for fresh is not read again because it announces nothing.
#[tokio::test]
async fn lists_that_are_fresh_are_not_read_again_in_silence() {
    let mute = ["--list-changes", "--listen", "nothing"];
    assert_eq!(listings(&mute, WAITED_FOR, 2).await, 2);
    let fresh = [&mute[..], &["--ttl-ms", "60000"]].concat();
    assert_eq!(listings(&fresh, 6, usize::MAX).await, 0);
}

/// Silences in which what has to be said is said, whatever else the machine does.
const WAITED_FOR: u32 = 400;

/// SPEC 7.8: a listing that fails is made up for, also where something is always said, in either
/// era.
#[tokio::test]
async fn a_listing_that_failed_is_made_up_for_on_a_busy_connection() {
    for flags in [&["--era", "modern", "--ttl-ms", "1"][..], &["--list-changes"]] {
        let open = spared(test_server(flags)).connect().await;
        // What is stale is told once for each listing.
        open.recorder.wait_for("list_changed Tools").await;
        let (before, begun) = (open.recorder.told().len(), Instant::now());
        open.call("fail_lists", json!({ "count": 1 })).await.unwrap();
        let listed = open.connection.list().await.unwrap();
        assert_eq!(listed.catalog.unlisted.len(), 1, "{flags:?}");
        while open.recorder.told().len() == before {
            assert!(begun.elapsed() < HANG, "{flags:?}: nothing has it listed again");
            open.call("echo", json!({ "message": "x" })).await.unwrap();
            tokio::time::sleep(INTERVAL / 10).await;
        }
        assert!(begun.elapsed() >= INTERVAL, "{:?}", begun.elapsed());
        open.close().await;
    }
}
