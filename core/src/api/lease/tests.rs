//! Requests that a lease refuses, or that are given up.

use std::sync::mpsc;

use serde_json::json;

use crate::api::scripted::{pool_with, server};
use crate::{
    AcquireOptions, CallOptions, CallResult, ErrorCode, Operation, Outcome, Result, SessionOptions,
};

fn refused(result: Result<CallResult>, code: ErrorCode) {
    let error = result.unwrap_err();
    assert_eq!((error.code(), error.outcome()), (code, Some(Outcome::NotSent)), "{error}");
}

/// SPEC 5.12: of requests as of calls, whether the method, the arguments or the lease is the
/// reason.
#[tokio::test]
async fn a_request_that_is_refused_was_not_sent() {
    let pool = pool_with(json!({}), json!({ "s": server("") })).await;
    let options = json!({ "id": "a", "servers": [], "exclude": { "s": ["hidden"] } });
    let options = SessionOptions::from_json(&options.to_string()).unwrap();
    let session = pool.session(options).unwrap();
    let lease = session.acquire("s", None, &AcquireOptions::default()).await.unwrap();
    let options = CallOptions::default();
    let wrong = ErrorCode::InvalidArgument;
    for method in ["", "initialize", "tools/call", "resources/subscribe"] {
        refused(lease.request(method, "{}", &options).await, wrong);
    }
    refused(lease.request("prompts/get", r#"{"name":"a","name":"b"}"#, &options).await, wrong);
    refused(lease.get_prompt("hidden", "", &options).await, wrong);
    refused(lease.get_prompt("shown", "[]", &options).await, wrong);
    lease.release();
    refused(lease.request("prompts/get", r#"{"name":"shown"}"#, &options).await, ErrorCode::Closed);
    refused(lease.get_prompt("shown", "", &options).await, ErrorCode::Closed);
    pool.close().await.unwrap();
}

/// SPEC 5.1, 5.12: of each kind of request, where the server is silent.
#[tokio::test]
async fn a_request_that_is_cancelled_says_what_became_of_it() {
    let pool = pool_with(json!({}), json!({ "s": server("") })).await;
    let session = pool.session(SessionOptions::new("a")).unwrap();
    let lease = session.acquire("s", None, &AcquireOptions::default()).await.unwrap();
    let options = CallOptions::default();
    let (ended, ends) = mpsc::channel();
    let done = || {
        let ended = ended.clone();
        move |result: Result<CallResult>| ended.send(result).unwrap()
    };
    let begun: [(&str, Operation); 4] = [
        ("request", lease.start_request("ping", "", &options, done())),
        ("read_resource", lease.start_read_resource("test://one", &options, done())),
        ("get_prompt", lease.start_get_prompt("shown", "", &options, done())),
        ("complete", lease.start_complete("{}", &options, done())),
    ];
    for (what, operation) in begun {
        assert!(operation.call_number().is_some(), "{what} has ended");
        operation.cancel();
        let error = ends.try_recv().expect("it ends before `cancel` returns").unwrap_err();
        assert_eq!(error.code(), ErrorCode::Cancelled, "{what}");
        assert_eq!(
            (error.outcome(), error.server()),
            (Some(Outcome::Unknown), Some("s")),
            "{what}"
        );
    }
    pool.close().await.unwrap();
}
