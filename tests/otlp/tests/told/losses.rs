//! Receivers that are gone, refuse or never answer: what is told is lost, and no call notices.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::rig::{Answers, Receiver, Rig, call, host};
use serde_json::json;
use trunkline::ErrorCode;
use trunkline::otlp::{Export, Telemetry};

/// More spans than one batch.
const CALLS: usize = 600;

/// Calls, and then a shutdown that is given little time. Whether everything was told in it.
fn calls(to: &Export, between: impl FnOnce()) -> bool {
    host(async {
        let rig = Rig::with(to);
        let session = rig.session("a").await;
        let lease = rig.lease(&session).await;
        for _ in 0..CALLS {
            assert!(call(&lease, "echo", json!({ "message": "hi" })).await.is_ok());
        }
        between();
        assert!(call(&lease, "echo", json!({ "message": "hi" })).await.is_ok());
        drop(lease);
        rig.pool.close().await.unwrap();
        let began = Instant::now();
        let ended = rig.telemetry.shutdown(Duration::from_millis(200));
        assert!(began.elapsed() < Telemetry::SHUTDOWN_MAX);
        assert!(rig.telemetry.shutdown(Duration::ZERO).is_ok());
        ended.map_err(|error| assert_eq!(error.code(), ErrorCode::Timeout)).is_ok()
    })
}

#[test]
fn a_receiver_that_is_gone_is_not_waited_for() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(!calls(&Export::to(format!("http://{gone}")), || {}));
}

#[test]
fn a_receiver_that_refuses_is_not_asked_again() {
    let receiver = Receiver::start(Answers::Refused);
    let first = || drop(receiver.told_once(|told| !told.raw.is_empty()));
    assert!(!calls(&Export::to(receiver.endpoint()), first));
    let requests = receiver.told().raw;
    // Two batches of spans at least, and the metrics.
    assert!(requests.len() >= 3, "{}", requests.len());
    assert_eq!(requests.iter().collect::<BTreeSet<_>>().len(), requests.len());
}

#[test]
fn a_receiver_that_never_answers_keeps_neither_calls_nor_a_shutdown() {
    let receiver = Receiver::start(Answers::Silent);
    let first = || drop(receiver.told_once(|told| !told.raw.is_empty()));
    assert!(!calls(&Export::to(receiver.endpoint()), first));
}

/// What came after the receiver's time is told to it again: the next batch.
#[test]
fn a_receiver_that_takes_too_long_loses_what_it_was_told_alone() {
    let receiver = Receiver::start(Answers::Silent);
    let mut to = Export::to(receiver.endpoint());
    to.timeout = Duration::from_millis(20);
    to.metrics_every = Duration::from_millis(20);
    let telemetry = Telemetry::export(&to).unwrap();
    let rig = Rig::watched(telemetry);
    receiver.told_once(|told| told.raw.len() > 2);
    host(rig.pool.close()).unwrap();
    let _ = rig.telemetry.shutdown(Duration::from_millis(100));
}

#[test]
fn an_exporter_that_cannot_be_is_refused() {
    let code = |to: &Export| {
        Telemetry::export(to).map(drop).map_err(|error| {
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
            error.detail()["path"].as_str().map(str::to_owned)
        })
    };
    for endpoint in
        ["", "localhost:4318", "ftp://h", "http://user:secret@h", "http://h/?key=secret"]
    {
        assert_eq!(code(&Export::to(endpoint)), Err(Some("endpoint".into())), "{endpoint}");
    }
    let mut to = Export::to("http://127.0.0.1:1/collector/");
    to.headers = vec![("x-key".into(), "secret\r\nx: y".into())];
    assert_eq!(code(&to), Err(Some("headers".into())));
    assert!(!format!("{to:?}").contains("secret"));
    to.headers.clear();
    assert_eq!(code(&to), Ok(()));
}
