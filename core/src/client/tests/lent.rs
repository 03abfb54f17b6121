//! Threads that wait for an answer and read it themselves, and everybody who needs the reader
//! meanwhile.

use std::sync::mpsc::{Receiver, channel};
use std::thread::{ThreadId, spawn};

use super::*;

/// Lent after one wait, however long ago, and not looked after: what has to come back in time is
/// recalled.
fn kept(server: Server) -> Server {
    let lending = Lending { waits: 1, gap: HANG, look: HANG };
    server.options(|options| options.lending = lending)
}

/// Lent after one wait, and looked after as always.
fn eager(server: Server) -> Server {
    let lending = Lending { waits: 1, gap: HANG, ..Lending::default() };
    server.options(|options| options.lending = lending)
}

/// A call that is waited for where it was started.
struct Waited {
    id: RequestId,
    end: Receiver<(Result<String>, ThreadId)>,
}

impl Waited {
    fn start(connection: &Connection, tool: &str, arguments: Value, timeout: Duration) -> Waited {
        let (sender, end) = channel();
        let params = json!({ "name": tool, "arguments": arguments }).to_string();
        let request = OutgoingRequest { params: &params, timeout, reads_here: true, ..request() };
        let done = Box::new(move |result: Result<Reply>| {
            let result = result.map(|reply| reply.json.to_string());
            let _ = sender.send((result, std::thread::current().id()));
        });
        Waited { id: connection.start(request, done), end }
    }

    /// The end, and whether it was read here.
    fn end(self, connection: &Connection) -> (Result<String>, bool) {
        connection.read_here(self.id);
        let (result, thread) = self.end.recv_timeout(HANG).expect("the call ends");
        (result, thread == std::thread::current().id())
    }
}

fn wait(connection: &Connection, tool: &str, arguments: Value) -> (Result<String>, bool) {
    Waited::start(connection, tool, arguments, HANG).end(connection)
}

/// Waits for one call after another until one is read here: the stream is lent then, and nobody
/// reads.
fn until_lent(connection: &Connection) {
    let begun = Instant::now();
    loop {
        let (result, here) = wait(connection, "echo", json!({ "message": "x" }));
        result.unwrap();
        if here {
            return;
        }
        assert!(begun.elapsed() < HANG, "nothing is ever lent");
    }
}

/// Runs on a thread that may wait.
async fn apart<T: Send + 'static>(
    open: &Open,
    work: impl FnOnce(&Connection) -> T + Send + 'static,
) -> T {
    let connection = open.connection.clone();
    let work = tokio::task::spawn_blocking(move || work(&connection));
    tokio::time::timeout(HANG, work).await.expect("it ends").unwrap()
}

/// DESIGN 6.
#[tokio::test]
async fn whoever_waits_alone_again_and_again_reads_the_answers() {
    let lending = Lending { gap: HANG, ..Lending::default() };
    let server = test_server(&[]).options(|options| options.lending = lending);
    let open = server.connect().await;
    apart(&open, until_lent).await;
    open.close().await;
}

#[tokio::test]
async fn a_call_that_nobody_reads_for_brings_the_reader_back() {
    let open = kept(test_server(&[])).connect().await;
    for _ in 0..20 {
        apart(&open, until_lent).await;
        let answer = open.call("echo", json!({ "message": "beside" })).await.unwrap();
        assert!(answer.contains("beside"), "{answer}");
    }
    open.close().await;
}

#[tokio::test]
async fn a_call_that_begins_while_another_is_read_for_is_answered() {
    let open = kept(test_server(&[])).connect().await;
    for _ in 0..20 {
        apart(&open, until_lent).await;
        let waits = apart(&open, |connection| wait(connection, "sleep", json!({ "ms": 1 })));
        let beside = open.call("echo", json!({ "message": "beside" }));
        let (waited, beside) = tokio::join!(waits, beside);
        waited.0.unwrap();
        assert!(beside.unwrap().contains("beside"));
    }
    open.close().await;
}

#[tokio::test]
async fn threads_that_wait_side_by_side_get_their_own_answers() {
    let open = kept(test_server(&[])).connect().await;
    apart(&open, |connection| {
        let caller = |number: u32| {
            let connection = connection.clone();
            spawn(move || {
                for call in 0..300 {
                    let text = format!("<{number}.{call}>");
                    let answer = wait(&connection, "echo", json!({ "message": &text })).0.unwrap();
                    assert!(answer.contains(&text), "{answer}");
                }
            })
        };
        let callers = [0, 1, 2].map(caller);
        callers.into_iter().for_each(|caller| caller.join().unwrap());
    })
    .await;
    assert_eq!(open.connection.in_flight(), 0);
    open.close().await;
}

/// A thread that reads leaves the answers of others to the task, also of those who would read for
/// themselves.
#[tokio::test]
async fn a_thread_that_reads_ends_no_other_call() {
    let open = kept(test_server(&[])).connect().await;
    for _ in 0..10 {
        apart(&open, until_lent).await;
        let slow = Waited::start(&open.connection, "sleep", json!({ "ms": 5 }), HANG);
        let reads = open.connection.clone();
        let reads = spawn(move || slow.end(&reads).0);
        let reader = reads.thread().id();
        let beside = Waited::start(&open.connection, "echo", json!({ "message": "x" }), HANG);
        let (result, thread) = apart(&open, move |connection| {
            // It reads when the slow one has ended by now: nobody else does for a call that says
            // that it reads.
            connection.read_here(beside.id);
            beside.end.recv_timeout(HANG).expect("the call ends")
        })
        .await;
        result.unwrap();
        assert_ne!(thread, reader);
        apart(&open, |_| reads.join().unwrap()).await.unwrap();
    }
    open.close().await;
}

#[tokio::test]
async fn what_comes_while_nobody_waits_is_read_soon() {
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let server = script(&scripted(&format!("reply '{{}}'; (sleep 0.02; printf '{changed}\\n') &")));
    let open = eager(server).connect().await;
    apart(&open, until_lent).await;
    open.recorder.wait_for("list_changed Tools").await;
    open.close().await;
}

/// SPEC 5.10: order and counts are those of the task, which takes all that is no answer.
#[tokio::test]
async fn what_comes_before_the_answer_is_handled_first_and_elsewhere() {
    let open = kept(test_server(&[])).connect().await;
    let told =
        json!({ "line": r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"# });
    let noise = json!({ "line": "noise" });
    for (number, line) in [told, noise].into_iter().enumerate() {
        apart(&open, until_lent).await;
        let (result, here) = apart(&open, |connection| wait(connection, "write", line)).await;
        result.unwrap();
        assert!(!here);
        assert_eq!(open.recorder.told(), ["list_changed Tools"]);
        let noises = open.connection.0.ignored.noise.load(Ordering::Relaxed);
        assert_eq!(noises, u64::try_from(number).unwrap());
    }
    open.close().await;
}

#[tokio::test]
async fn what_comes_after_the_answer_is_not_left_lying() {
    let open = kept(test_server(&[])).connect().await;
    for times in 1..20 {
        apart(&open, until_lent).await;
        apart(&open, |connection| wait(connection, "reply_twice", json!({})).0.unwrap()).await;
        // The second answer is nobody's, and was read before this one.
        open.call("echo", json!({ "message": "x" })).await.unwrap();
        assert_eq!(open.connection.0.ignored.replies.load(Ordering::Relaxed), times);
    }
    open.close().await;
}

/// SPEC 5.11.
#[tokio::test]
async fn large_answers_are_read_and_larger_ones_than_allowed_refused() {
    let server = test_server(&[]).options(|options| options.frame_bytes = 400_000);
    let open = kept(server).connect().await;
    for bytes in [100_000, 300_000] {
        apart(&open, until_lent).await;
        let big = apart(&open, move |it| wait(it, "big", json!({ "bytes": bytes })).0.unwrap());
        assert!(big.await.len() > bytes);
    }
    apart(&open, until_lent).await;
    let result = apart(&open, |it| wait(it, "big", json!({ "bytes": 500_000 })).0).await;
    let error = result.unwrap_err();
    assert_eq!((error.code(), &error.detail()["limit"]), (ErrorCode::Limit, &json!("frame_bytes")));
    apart(&open, until_lent).await;
    open.close().await;
}

/// SPEC 5.2.
#[tokio::test]
async fn an_error_of_the_server_is_read_as_well() {
    let open = kept(test_server(&[])).connect().await;
    apart(&open, until_lent).await;
    let refusal = json!({ "code": -32099, "message": "no" });
    let (result, _) = apart(&open, |connection| wait(connection, "error", refusal)).await;
    assert_eq!(result.unwrap_err().detail()["code"], -32099);
    open.close().await;
}

/// SPEC 5.6: the loss is everybody's, no matter who reads.
#[tokio::test]
async fn a_server_that_dies_under_a_thread_that_reads_ends_its_call() {
    let open = kept(test_server(&[])).connect().await;
    apart(&open, until_lent).await;
    let (result, here) = apart(&open, |it| wait(it, "crash", json!({ "code": 3 }))).await;
    let error = result.unwrap_err();
    let outcome = (error.code(), error.outcome(), here);
    assert_eq!(outcome, (ErrorCode::CallInterrupted, Some(crate::Outcome::Unknown), false));
    let lost = open.recorder.wait_for("lost").await;
    assert!(lost.starts_with("lost TransportClosed exited"), "{lost}");
    open.close().await;
}

/// SPEC 5.6.
#[tokio::test]
async fn a_server_that_dies_while_nobody_reads_is_seen_soon() {
    let open = eager(test_server(&[])).connect().await;
    apart(&open, until_lent).await;
    let killed = Command::new("kill").args(["-9", &open.pid.to_string()]).status();
    assert!(killed.unwrap().success());
    open.recorder.wait_for("lost").await;
    let (result, _) = apart(&open, |connection| wait(connection, "echo", json!({}))).await;
    let error = result.unwrap_err();
    let outcome = (error.code(), error.outcome());
    assert_eq!(outcome, (ErrorCode::CallInterrupted, Some(crate::Outcome::NotSent)));
    open.close().await;
}

/// The process that was started is the server, whatever goes on to answer in its place: threads
/// that read one after another do not keep its end from being seen.
#[tokio::test]
async fn an_exit_amid_answers_of_a_descendant_is_seen_while_threads_read() {
    /// Some seconds of calls, amid which the task is not given the stream by a silence.
    const CALLS_MAX: u32 = 100_000;
    let server = test_server_path().display();
    let open = kept(script(&format!("exec 3<&0; {server} <&3 & wait"))).connect().await;
    apart(&open, until_lent).await;
    let killed = Command::new("kill").args(["-9", &open.pid.to_string()]).status();
    assert!(killed.unwrap().success());
    let error = apart(&open, |connection| {
        let wait = |_| wait(connection, "echo", json!({ "message": "x" })).0.err();
        (0..CALLS_MAX).find_map(wait).expect("the end is seen")
    });
    assert_eq!(error.await.code(), ErrorCode::CallInterrupted);
    let lost = open.recorder.wait_for("lost").await;
    assert!(lost.starts_with("lost TransportClosed exited"), "{lost}");
    open.close().await;
}

/// Nobody waits for the end of a stream of changes: it keeps no thread from reading.
#[tokio::test]
async fn a_modern_server_that_is_listened_to_is_lent_as_well() {
    let open = kept(test_server(&["--era", "modern", "--list-changes"])).connect().await;
    apart(&open, until_lent).await;
    open.close().await;
}

/// SPEC 5.5.
#[tokio::test]
async fn another_thread_cancels_a_call_that_is_read_for() {
    let open = kept(test_server(&[])).connect().await;
    for _ in 0..20 {
        apart(&open, until_lent).await;
        let call = Waited::start(&open.connection, "sleep", json!({ "ms": 60000 }), HANG);
        let id = call.id;
        let waits = apart(&open, move |connection| call.end(connection));
        let cancels = apart(&open, move |connection| connection.cancel(id));
        let ((result, _), ()) = tokio::join!(waits, cancels);
        assert_eq!(result.unwrap_err().code(), ErrorCode::Cancelled);
    }
    open.close().await;
}

/// SPEC 5.4.
#[tokio::test]
async fn a_deadline_ends_a_call_that_is_read_for() {
    let open = kept(test_server(&[])).connect().await;
    for ms in [1, 20] {
        apart(&open, until_lent).await;
        let timeout = Duration::from_millis(ms);
        let waits = move |connection: &Connection| {
            Waited::start(connection, "sleep", json!({ "ms": 60000 }), timeout).end(connection)
        };
        let (result, _) = apart(&open, waits).await;
        assert_eq!(result.unwrap_err().code(), ErrorCode::Timeout);
    }
    // The late answers would be nobody's; the connection goes on.
    apart(&open, until_lent).await;
    open.close().await;
}

/// I-01.
#[tokio::test]
async fn a_connection_closes_while_nobody_reads() {
    let open = eager(test_server(&[])).connect().await;
    apart(&open, until_lent).await;
    assert_eq!(open.close().await, CloseExit::Clean);
    assert!(!lives(open.pid));
}

/// I-01, SPEC 5.6.
#[tokio::test]
async fn a_connection_closes_under_a_thread_that_reads() {
    let open = kept(test_server(&[])).connect().await;
    apart(&open, until_lent).await;
    let call = Waited::start(&open.connection, "sleep", json!({ "ms": 60000 }), HANG);
    let waits = apart(&open, move |connection| call.end(connection));
    let ((result, _), _) = tokio::join!(waits, open.close());
    assert_eq!(result.unwrap_err().code(), ErrorCode::CallInterrupted);
    assert!(!lives(open.pid));
}

/// SPEC 8.3: the questions of the keep-alive are asked of a server whose reader is lent, and
/// answered.
#[tokio::test]
async fn a_server_whose_reader_is_lent_is_kept_alive() {
    let server = kept(test_server(&[])).options(|options| {
        (options.keepalive, options.keepalive_misses) = (Duration::from_millis(100), 100);
    });
    let open = server.connect().await;
    apart(&open, until_lent).await;
    let asked = || {
        apart(&open, |connection| {
            let seen = wait(connection, "seen", json!({ "method": "ping" })).0.unwrap();
            let seen: Value = serde_json::from_str(&seen).unwrap();
            seen["content"][0]["text"].as_str().unwrap().parse::<u32>().unwrap()
        })
    };
    let begun = Instant::now();
    while asked().await < 3 {
        assert!(begun.elapsed() < HANG);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert_eq!(open.recorder.told(), [""; 0]);
    open.close().await;
}

/// PROTOCOL 1.1, SPEC 5.10: the task answers what a server asks amid a call that is read for. It
/// also answers what comes behind an answer, when nobody waits any more.
#[tokio::test]
async fn a_server_that_asks_a_thread_that_reads_is_answered() {
    let open = kept(test_server(&[])).connect().await;
    for (method, answer) in [("ping", "{}"), ("roots/list", "roots"), ("no/such", "-32601")] {
        apart(&open, until_lent).await;
        let asks = move |it: &Connection| wait(it, "ask", json!({ "method": method }));
        let (result, here) = apart(&open, asks).await;
        let text = result.unwrap();
        assert!(text.contains(answer) && !here, "{method}: {text}");
        apart(&open, until_lent).await;
        let asks = json!({ "method": method, "after": true });
        apart(&open, move |it| wait(it, "ask", asks).0.unwrap()).await;
        let text = apart(&open, |it| wait(it, "last_answer", json!({})).0.unwrap()).await;
        assert!(text.contains(answer), "{method}: {text}");
    }
    open.close().await;
}

/// SPEC 5.10: progress is told before the answer, and nobody who waits for it reads.
#[tokio::test]
async fn progress_beside_threads_that_read_comes_before_its_answer() {
    let open = kept(test_server(&[])).connect().await;
    for _ in 0..20 {
        apart(&open, until_lent).await;
        let (send, told) = channel();
        let progress = send.clone();
        let params = json!({ "name": "progress", "arguments": { "steps": 3 } }).to_string();
        let request = OutgoingRequest {
            params: &params,
            progress: Some(Box::new(move |_: &str| progress.send("progress").unwrap())),
            ..request()
        };
        open.connection.start(request, Box::new(move |_| send.send("end").unwrap()));
        let told: Vec<_> = apart(&open, move |_| told.into_iter().collect()).await;
        assert_eq!(told, ["progress", "progress", "progress", "end"]);
    }
    open.close().await;
}
