//! Servers of the modern era, which ask for input in their results.

use std::sync::Arc;

use rig::{HANG, Rig, acquire, host, text};
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;
use trunkline::{
    CallOptions, ErrorCode, HandlerKind, Handlers, Lease, Refusal, RelayedCall, ServerRequest,
};

use crate::server_requests::{ACCEPTED, Silent, session};

/// A server of the modern era, which asks for input in its results.
fn modern(options: Value) -> Rig {
    let rig = Rig::new(options);
    host(rig.configure(json!({ "s": rig.server(&["--era", "modern"]) })));
    rig
}

/// SPEC 15.4: the state goes back byte for byte, each round has an id of its own, and the same
/// handlers answer.
#[test]
fn a_modern_server_has_its_input_from_the_same_handlers() {
    let rig = modern(json!({ "roots": ["src"] }));
    host(async {
        let (tell, mut heard) = unbounded_channel::<ServerRequest>();
        let handlers = Handlers::new().with(HandlerKind::Elicitation, move |request| {
            tell.send(request).unwrap();
            async { Ok(ACCEPTED.to_owned()) }
        });
        let (chat, other) =
            (session(&rig, "chat", handlers.clone()), session(&rig, "other", handlers));
        let (lease, busy) = (acquire(&chat, "s").await, acquire(&other, "s").await);
        assert_eq!(lease.entry_index(), busy.entry_index());
        let slow = tokio::spawn(async move {
            busy.call_tool("sleep", r#"{"ms":60000}"#, &CallOptions::default()).await
        });
        let requests = json!({
            "form": { "method": "elicitation/create", "params": { "message": "name?" } },
            "folders": { "method": "roots/list" },
        });
        let state = r"a\u0041\/ b";
        let arguments = json!({ "requests": requests, "state": state, "rounds": 3 });
        let had: Value = serde_json::from_str(&text(&lease, "need", arguments).await).unwrap();
        assert_eq!(had["state"], format!("\"{state}#3\""));
        let responses: Value = serde_json::from_str(had["responses"].as_str().unwrap()).unwrap();
        assert_eq!(responses["form"]["content"]["name"], "Ada");
        assert_eq!(responses["folders"]["roots"][0]["name"], "src");
        for _ in 0..3 {
            let request = heard.recv().await.unwrap();
            assert_eq!((&*request.session, &*request.server), ("chat", "s"));
        }
        let again = text(&lease, "need", json!({ "rounds": 1, "state": "x" })).await;
        let had: Value = serde_json::from_str(&again).unwrap();
        assert_eq!((&had["responses"], &had["state"]), (&Value::Null, &json!("\"x#1\"")));
        slow.abort();
    });
}

/// SPEC 19.5: a client of an endpoint has what a server asks for as a result, and brings the answer
/// with a call of its own.
#[test]
fn a_relayed_call_ends_with_what_its_server_asks_for() {
    let rig = modern(json!({}));
    host(async {
        let never = |_| async { Err(Refusal::new(1, "nobody is asked")) };
        let handlers = Handlers::new().with(HandlerKind::Elicitation, never);
        let chat = session(&rig, "chat", handlers);
        let lease = acquire(&chat, "s").await;
        let mut options = CallOptions::default();
        options.relayed = Some(RelayedCall {
            capabilities: Some(r#"{"elicitation":{}}"#.to_owned()),
            takes_input_requests: true,
            ..RelayedCall::default()
        });
        let form = json!({ "method": "elicitation/create", "params": { "message": "name?" } });
        let arguments = json!({ "requests": { "form": form }, "state": "x", "rounds": 1 });
        let mut params = json!({ "name": "need", "arguments": arguments });
        let asked = lease.call_tool("need", &params.to_string(), &options).await.unwrap();
        let asked: Value = serde_json::from_str(asked.json()).unwrap();
        assert_eq!(asked["resultType"], "input_required");
        assert_eq!(asked["inputRequests"]["form"], form);
        params["inputResponses"] =
            json!({ "form": serde_json::from_str::<Value>(ACCEPTED).unwrap() });
        params["requestState"] = asked["requestState"].clone();
        let done = lease.call_tool("need", &params.to_string(), &options).await.unwrap();
        assert!(done.json().contains("Ada"), "{}", done.json());
        // What the members of the request are cannot be told.
        let twice = r#"{"name":"need","name":"need"}"#;
        let error = lease.call_tool("need", twice, &options).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument);
    });
}

/// Calls a tool that needs this, beside whatever else is done.
fn asking(
    lease: &Arc<Lease>,
    arguments: Value,
) -> tokio::task::JoinHandle<Result<(), trunkline::Error>> {
    let lease = lease.clone();
    tokio::spawn(async move {
        lease.call_tool("need", &arguments.to_string(), &CallOptions::default()).await.map(drop)
    })
}

/// SPEC 15.4, I-07: nobody's answer is waited for longer than a handler has.
#[test]
fn a_call_ends_when_nobody_answers_what_it_needs() {
    let rig = modern(json!({ "handler_timeout_ms": 200 }));
    host(async {
        let (handlers, mut silent) = Silent::new();
        let chat = session(&rig, "chat", handlers);
        let lease = Arc::new(acquire(&chat, "s").await);
        let form = json!({ "method": "elicitation/create", "params": {} });
        let late = asking(&lease, json!({ "requests": { "f": form } })).await.unwrap().unwrap_err();
        assert_eq!(
            (late.code(), &late.detail()["reason"]),
            (ErrorCode::Declined, &json!("nobody answered in time"))
        );
        silent.hears("asked").await;
        silent.hears("dropped").await;
    });
}

/// SPEC 15.4, 5.5: between two rounds a call can be cancelled, and ends with its session; rounds
/// are bounded.
#[test]
fn a_call_between_two_rounds_is_still_a_call() {
    let rig = modern(json!({}));
    host(async {
        let (handlers, mut silent) = Silent::new();
        let chat = session(&rig, "chat", handlers);
        let lease = Arc::new(acquire(&chat, "s").await);
        let form = json!({ "method": "elicitation/create", "params": {} });
        let asking = |arguments| asking(&lease, arguments);
        let sampling = json!({ "requests": { "s": { "method": "sampling/createMessage" } } });
        let refused = asking(sampling).await.unwrap().unwrap_err();
        assert_eq!(
            (refused.code(), &refused.detail()["code"]),
            (ErrorCode::Declined, &json!(-32601))
        );
        let endless = asking(json!({ "rounds": 100 })).await.unwrap().unwrap_err();
        assert_eq!(endless.code(), ErrorCode::Declined);
        let call = asking(json!({ "requests": { "f": form } }));
        silent.hears("asked").await;
        call.abort();
        silent.hears("dropped").await;
        let call = asking(json!({ "requests": { "f": form } }));
        silent.hears("asked").await;
        chat.close(None);
        silent.hears("dropped").await;
        assert_eq!(call.await.unwrap().unwrap_err().code(), ErrorCode::Cancelled);
    });
}

/// SPEC 15.1, S-43: what all calls of a server ask for together is bounded, and each handler has
/// the whole deadline.
#[test]
fn the_input_that_calls_ask_for_is_bounded_like_all_that_a_server_asks() {
    let rig = modern(json!({ "handler_timeout_ms": 60000 }));
    host(async {
        let (tell, mut asked) = unbounded_channel();
        let handlers = Handlers::new().with(HandlerKind::Elicitation, move |_| {
            let (answer, answered) = tokio::sync::oneshot::channel::<()>();
            tell.send(answer).unwrap();
            async move {
                answered.await.map_err(|_| Refusal::new(-1, "nobody"))?;
                Ok(ACCEPTED.to_owned())
            }
        });
        let chat = session(&rig, "chat", handlers);
        let lease = Arc::new(acquire(&chat, "s").await);
        let form = json!({ "method": "elicitation/create", "params": {} });
        let forms: Value = (0..16).map(|number| (format!("f{number}"), form.clone())).collect();
        let arguments = json!({ "requests": forms }).to_string();
        let waiting = tokio::spawn({
            let (lease, arguments) = (lease.clone(), arguments.clone());
            async move { lease.call_tool("need", &arguments, &CallOptions::default()).await }
        });
        let mut open = Vec::new();
        for _ in 0..16 {
            open.push(asked.recv().await.unwrap());
        }
        let one = json!({ "requests": { "one": form } }).to_string();
        let error = lease.call_tool("need", &one, &CallOptions::default()).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Declined);
        assert!(error.detail()["reason"].as_str().unwrap().contains("too many"), "{error}");
        // The last that was asked answers first: none waits for another.
        open.into_iter().rev().for_each(|answer| answer.send(()).unwrap());
        waiting.await.unwrap().unwrap();
        assert!(asked.try_recv().is_err());
    });
}

/// SPEC 15.4, I-07: what is refused ends the call at once, however long somebody thinks about
/// something else that it asks for.
#[test]
fn a_refusal_waits_for_no_other_input() {
    let rig = modern(json!({ "handler_timeout_ms": 60000 }));
    host(async {
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let handlers = Handlers::new().with(HandlerKind::Elicitation, move |_| {
            let is_first = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
            async move {
                if is_first {
                    std::future::pending::<()>().await;
                }
                Err(Refusal::new(-1, "not now"))
            }
        });
        let chat = session(&rig, "chat", handlers);
        let lease = acquire(&chat, "s").await;
        let form = json!({ "method": "elicitation/create", "params": {} });
        let arguments = json!({ "requests": { "a": form, "b": form } }).to_string();
        let options = CallOptions::default();
        let called =
            tokio::time::timeout(HANG, lease.call_tool("need", &arguments, &options)).await;
        let error = called.expect("the refusal ends it").unwrap_err();
        assert_eq!((error.code(), &error.detail()["code"]), (ErrorCode::Declined, &json!(-1)));
    });
}
