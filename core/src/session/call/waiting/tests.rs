//! Calls that end before their server is there.

use std::sync::mpsc;

use serde_json::json;

use super::*;
use crate::api::scripted::SERVER;
use crate::session::demand::DemandState;
use crate::{GateLists, Pool, PoolOptions, Servers, Session, SessionOptions};

/// What waits so long hangs.
const HANG: Duration = Duration::from_secs(90);

/// A session in which a server sleeps.
async fn asleep() -> (Pool, Session) {
    let options =
        json!({ "cache": "off", "start": "lazy", "exit_grace_ms": 50, "kill_grace_ms": 50 });
    let pool = Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap();
    let servers = json!({ "s": { "command": "/bin/sh", "args": ["-c", SERVER] } });
    pool.reconcile(Servers::from_json(&servers.to_string()).unwrap()).await.unwrap();
    let session = pool.session(SessionOptions::new("a")).unwrap();
    tokio::time::timeout(HANG, session.ready(None, None)).await.unwrap().unwrap();
    assert!(sleeps(session.core()));
    (pool, session)
}

/// Whether no call needs the server, nor is it asked for.
fn sleeps(session: &SessionCore) -> bool {
    let wants = session.wants();
    let want = &wants.servers["s"];
    want.lazy.as_ref().unwrap().users == 0 && matches!(want.state, DemandState::Asleep(None))
}

/// A call that has not begun, and how it ends.
fn call(session: &Arc<SessionCore>) -> (Arc<WaitingCall>, mpsc::Receiver<ErrorCode>) {
    call_within(HANG, session)
}

fn call_within(
    timeout: Duration,
    session: &Arc<SessionCore>,
) -> (Arc<WaitingCall>, mpsc::Receiver<ErrorCode>) {
    let (send, ended) = mpsc::channel();
    let done: ResultCallback =
        Box::new(move |result| send.send(result.unwrap_err().code()).unwrap());
    let call = WaitingCall {
        session: session.clone(),
        number: session.begin_call().unwrap(),
        tool: Tool { exposed: "mcp__s__t".into(), server: "s".into(), own: "t".into() },
        owed: None,
        options: CallOptions::default(),
        arguments: "{}".into(),
        began: Instant::now(),
        timeout,
        state: Mutex::new(State::of(done)),
    };
    (Arc::new(call), ended)
}

/// SPEC 14.1: the server may be begun for a call that ends at that moment.
#[tokio::test]
async fn a_call_that_ends_while_its_server_is_begun_needs_it_no_more() {
    let (pool, session) = asleep().await;
    let (call, ended) = call(session.core());
    let need = session.core().need("s").expect("it is wanted");
    assert!(!sleeps(session.core()));
    call.cancel();
    assert_eq!(ended.recv(), Ok(ErrorCode::Cancelled));
    call.keep(need);
    assert!(sleeps(session.core()));
    pool.close().await.unwrap();
}

/// SPEC 5.4, 16.2: a time that no clock reaches is a long one.
#[tokio::test]
async fn a_call_may_have_all_the_time_there_is() {
    let (pool, session) = asleep().await;
    let (call, ended) = call_within(Duration::MAX, session.core());
    call.begin();
    assert!(!sleeps(session.core()));
    call.cancel();
    assert_eq!(ended.recv(), Ok(ErrorCode::Cancelled));
    assert!(sleeps(session.core()));
    pool.close().await.unwrap();
}

/// SPEC 14.1: its task may look once more after the call has ended.
#[tokio::test]
async fn a_call_that_ended_begins_no_server() {
    let (pool, session) = asleep().await;
    let (call, ended) = call(session.core());
    call.cancel();
    assert_eq!(ended.recv(), Ok(ErrorCode::Cancelled));
    assert!(call.look().is_none());
    assert!(sleeps(session.core()));
    call.begin();
    assert!(sleeps(session.core()));
    pool.close().await.unwrap();
}

/// SPEC 14.1, 14.2: whatever ends it, the server is needed no more before the host hears of it.
#[tokio::test]
async fn a_call_that_ends_while_it_waits_needs_its_server_no_more() {
    let (pool, session) = asleep().await;
    let (call, ended) = call(session.core());
    let _ = call.look();
    assert!(!sleeps(session.core()));
    let (session_then, call_then) = (session.core().clone(), call.clone());
    let done = call.state().done.take().unwrap();
    let (send, slept) = mpsc::channel();
    call.state().done = Some(Box::new(move |result| {
        let has_need = call_then.state().need.is_some();
        let users = session_then.wants().servers["s"].lazy.as_ref().unwrap().users;
        send.send((has_need, users)).unwrap();
        done(result);
    }));
    call.cancel();
    assert_eq!(slept.recv(), Ok((false, 0)));
    assert_eq!(ended.recv(), Ok(ErrorCode::Cancelled));
    pool.close().await.unwrap();
}

/// SPEC 14.1, 11.5: a change takes the want away first, and then what is seen of the server. A call
/// that looks in between ends with the reason of the change.
#[tokio::test]
async fn a_call_that_looks_amid_a_change_ends_with_its_reason() {
    let (pool, session) = asleep().await;
    let (call, ended) = call(session.core());
    let _ = call.look();
    let want = session.core().wants().servers.remove("s").expect("it is wanted");
    assert!(call.look().is_none());
    session.core().wants().servers.insert("s".into(), want);
    pool.set_gates(GateLists::new(None, vec!["s".into()], Vec::new())).unwrap();
    let error = call.look().and_then(Result::err).expect("it is excluded");
    assert_eq!(
        (error.code(), &error.detail()["reason"]),
        (ErrorCode::ToolNotFound, &json!("excluded"))
    );
    call.cancel();
    assert_eq!(ended.recv(), Ok(ErrorCode::Cancelled));
    pool.close().await.unwrap();
}
