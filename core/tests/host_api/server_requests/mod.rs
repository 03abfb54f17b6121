//! Requests that servers make of hosts, through the public API with real processes.

mod modern;
mod roots;

use std::sync::Arc;

use rig::{HANG, Rig, acquire, host, text};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use trunkline::{
    CallOptions, ErrorCode, EventMask, HandlerKind, HandlerResult, Handlers, Lease, Refusal,
    ServerRequest, Session, SessionOptions, Subscription,
};

/// The answer of a person who agrees.
const ACCEPTED: &str = r#"{"action":"accept","content":{"name":"Ada"}}"#;

fn options(id: &str, handlers: Handlers) -> SessionOptions {
    let mut options = SessionOptions::from_json(&json!({"id": id, "servers": []}).to_string());
    let options = options.as_mut().unwrap();
    options.handlers = handlers;
    options.clone()
}

fn session(rig: &Rig, id: &str, handlers: Handlers) -> Session {
    rig.pool.session(options(id, handlers)).unwrap()
}

/// Answers every form at once.
fn agrees() -> Handlers {
    Handlers::new().with(HandlerKind::Elicitation, |_| async { Ok(ACCEPTED.to_owned()) })
}

/// Tells what becomes of the one handler that never answers.
struct Silent {
    news: UnboundedReceiver<&'static str>,
}

/// Tells when it is dropped.
struct Told(UnboundedSender<&'static str>);

impl Drop for Told {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

impl Silent {
    fn new() -> (Handlers, Silent) {
        let (tell, news) = unbounded_channel();
        let handlers = Handlers::new().with(HandlerKind::Elicitation, move |_| {
            tell.send("asked").unwrap();
            let told = Told(tell.clone());
            async move {
                std::future::pending::<()>().await;
                drop(told);
                Ok(String::new())
            }
        });
        (handlers, Silent { news })
    }

    async fn hears(&mut self, word: &str) {
        let news = tokio::time::timeout(HANG, self.news.recv()).await;
        assert_eq!(news.expect("it is told"), Some(word));
    }
}

/// What the server makes of the answer to a form.
async fn ask(lease: &Lease) -> Value {
    ask_for(lease, json!({ "method": "elicitation/create", "params": { "message": "name?" } }))
        .await
}

async fn ask_for(lease: &Lease, arguments: Value) -> Value {
    serde_json::from_str(&text(lease, "ask", arguments).await).unwrap()
}

async fn next(events: &Subscription, kind: &str) -> Value {
    let found = async {
        loop {
            let event = events.next().await.expect("the stream goes on");
            if event.kind().name() == kind {
                return serde_json::from_str(event.json()).unwrap();
            }
        }
    };
    tokio::time::timeout(HANG, found).await.expect("the event comes")
}

fn rig_with_server(options: Value) -> Rig {
    let rig = Rig::new(options);
    host(rig.configure(json!({ "s": rig.server(&[]) })));
    rig
}

/// SPEC 15.1: a handler gets the request as the server sent it, and the server the handler's
/// answer.
#[test]
fn a_handler_answers_for_its_session() {
    let rig = rig_with_server(json!({}));
    host(async {
        let (tell, mut heard) = unbounded_channel::<ServerRequest>();
        let handlers = Handlers::new().with(HandlerKind::Sampling, move |request| {
            tell.send(request).unwrap();
            async { Ok("{\"role\":\"assistant\",\n\"n\":1.50}".to_owned()) }
        });
        let chat = session(&rig, "chat", handlers);
        let lease = acquire(&chat, "s").await;
        let params = json!({ "messages": [], "maxTokens": 5 });
        let request = json!({ "method": "sampling/createMessage", "params": params });
        assert!(text(&lease, "ask", request).await.contains("assistant"));
        let request = heard.recv().await.unwrap();
        assert_eq!((&*request.server, &*request.session), ("s", "chat"));
        assert_eq!((request.entry_index, request.generation), (0, 1));
        assert_eq!(&*request.method, "sampling/createMessage");
        assert_eq!(serde_json::from_str::<Value>(&request.params).unwrap(), params);
    });
}

/// SPEC 15.1, S-43, SPEC 1.2: what is offered depends on the session's handlers, and sessions that
/// offer different things share no connection.
#[test]
fn capabilities_are_offered_only_when_a_handler_exists() {
    let rig = rig_with_server(json!({}));
    host(async {
        let (with, without) = (session(&rig, "a", agrees()), session(&rig, "b", Handlers::new()));
        let (also, none) = (session(&rig, "c", agrees()), acquire(&without, "s").await);
        let (one, two) = (acquire(&with, "s").await, acquire(&also, "s").await);
        assert_eq!(one.entry_index(), two.entry_index());
        assert_eq!(rig.starts().len(), 2);
        let offered = async |lease: &Lease| -> Value {
            let client: Value =
                serde_json::from_str(&text(lease, "client", json!({})).await).unwrap();
            client["capabilities"].clone()
        };
        let roots = json!({ "listChanged": true });
        assert_eq!(offered(&one).await, json!({ "roots": roots, "elicitation": { "form": {} } }));
        assert_eq!(offered(&none).await, json!({ "roots": roots }));
        assert_eq!(ask(&one).await["result"]["action"], "accept");
        assert_eq!(ask(&none).await["error"]["code"], -32601);
        let url = json!({ "mode": "url", "url": "https://a.example/", "message": "m" });
        let url = ask_for(&one, json!({ "method": "elicitation/create", "params": url })).await;
        assert_eq!(url["error"]["code"], -32602);
    });
}

/// SPEC 15.1, 16.2: whatever a handler does, the server gets one clear answer.
#[test]
fn a_handler_that_fails_is_a_clean_error() {
    let rig = rig_with_server(json!({}));
    host(async {
        let handlers = Handlers::new()
            .with(HandlerKind::Elicitation, |request| async move {
                match &*request.params {
                    params if params.contains("refuse") => Err(Refusal::new(-1, "not \"now\"\n")),
                    params if params.contains("rubbish") => Ok("[]".to_owned()),
                    _ => panic!("a secret of the host"),
                }
            })
            .with(HandlerKind::Sampling, |_| -> std::future::Ready<HandlerResult> {
                panic!("a secret of the host")
            });
        let chat = session(&rig, "chat", handlers);
        let lease = acquire(&chat, "s").await;
        let ask = async |method: &str, message: &str| {
            ask_for(&lease, json!({ "method": method, "params": { "message": message } })).await
        };
        let failed = json!({ "error": { "code": -32603, "message": "the handler failed" } });
        assert_eq!(ask("elicitation/create", "panic").await, failed);
        assert_eq!(ask("elicitation/create", "rubbish").await, failed);
        assert_eq!(ask("sampling/createMessage", "").await, failed);
        let refused = json!({ "error": { "code": -1, "message": "not \"now\"\n" } });
        assert_eq!(ask("elicitation/create", "refuse").await, refused);
        assert_eq!(ask("unheard/of", "").await["error"]["code"], -32601);
        assert_eq!(ask("ping", "").await, json!({ "result": {} }));
    });
}

/// SPEC 15.1, I-07: a handler has a deadline of its own, and is dropped at it.
#[test]
fn a_handler_that_never_answers_is_given_up() {
    let rig = rig_with_server(json!({ "handler_timeout_ms": 100 }));
    host(async {
        let (handlers, mut silent) = Silent::new();
        let chat = session(&rig, "chat", handlers);
        let lease = acquire(&chat, "s").await;
        let late = json!({ "error": { "code": -32603, "message": "nobody answered in time" } });
        assert_eq!(ask(&lease).await, late);
        silent.hears("asked").await;
        silent.hears("dropped").await;
    });
}

/// SPEC 5.4: the time that a person takes is not the call's.
#[test]
fn the_wait_for_a_person_is_no_time_of_the_call() {
    let rig = Rig::new(json!({}));
    host(async {
        let other = rig.server(&["--label", "other"]);
        rig.configure(json!({ "s": rig.server(&[]), "other": other })).await;
        let other = Arc::new(acquire(&rig.session("other"), "other").await);
        // The person answers once another call with as much time has none left.
        let handlers = Handlers::new().with(HandlerKind::Elicitation, move |_| {
            let other = other.clone();
            async move {
                let times = CallOptions::from_json(r#"{"timeout_ms":4000}"#).unwrap();
                let over = other.call_tool("sleep", r#"{"ms":60000}"#, &times).await.unwrap_err();
                assert_eq!(over.detail()["which"], "total");
                Ok(ACCEPTED.to_owned())
            }
        });
        let chat = session(&rig, "chat", handlers);
        let lease = acquire(&chat, "s").await;
        let options =
            CallOptions::from_json(r#"{"timeout_ms":4000,"idle_timeout_ms":3000}"#).unwrap();
        let arguments = json!({ "method": "elicitation/create", "params": { "message": "m" } });
        let result = lease.call_tool("ask", &arguments.to_string(), &options).await.unwrap();
        assert!(result.json().contains("Ada"));
        let error = lease.call_tool("sleep", r#"{"ms":60000}"#, &options).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Timeout);
    });
}

/// SPEC 15.1, S-43: never guessed.
#[test]
fn what_can_be_of_two_sessions_is_declined() {
    let rig = rig_with_server(json!({}));
    host(async {
        let events = rig.pool.subscribe(EventMask::ALL).unwrap();
        let (one, other) = (session(&rig, "one", agrees()), session(&rig, "other", agrees()));
        let (lease, busy) = (acquire(&one, "s").await, Arc::new(acquire(&other, "s").await));
        assert_eq!(ask(&lease).await["result"]["action"], "accept");
        let slow = busy.clone();
        let call = tokio::spawn(async move {
            slow.call_tool("sleep", r#"{"ms":60000}"#, &CallOptions::default()).await
        });
        let under_way = async || text(&lease, "under_way", json!({})).await == "1";
        while !under_way().await {}
        let declined = ask(&lease).await;
        assert!(declined["error"]["message"].as_str().unwrap().contains("several sessions"));
        assert_eq!(next(&events, "warning").await["code"], "request_declined");
        // The server may still be at work on a call that was given up.
        call.abort();
        let _ = call.await;
        while under_way().await {}
        assert_eq!(ask(&lease).await["error"]["code"], -32603);
    });
}

/// SPEC 15.1, S-43: outside of every call a shared connection belongs to nobody, and a session's
/// own to that session.
#[test]
fn a_request_outside_of_calls_is_answered_where_the_connection_is_ones_own() {
    let rig = Rig::new(json!({}));
    host(async {
        let mut own = rig.server(&["--label", "own"]);
        own["share"] = "session".into();
        rig.configure(json!({ "shared": rig.server(&[]), "own": own })).await;
        let chat = session(&rig, "chat", agrees());
        let arguments = json!({ "method": "elicitation/create", "params": {}, "after": true });
        let shared = acquire(&chat, "shared").await;
        // A request that arrives when the next call has begun is taken to be that call's.
        let nobodys = async {
            loop {
                text(&shared, "ask", arguments.clone()).await;
                let answer = text(&shared, "last_answer", json!({})).await;
                if answer.contains("no session has a call in flight") {
                    return;
                }
                assert!(answer.contains("Ada"), "{answer}");
            }
        };
        tokio::time::timeout(HANG, nobodys).await.expect("one arrives between two calls");
        let own = acquire(&chat, "own").await;
        text(&own, "ask", arguments).await;
        assert!(text(&own, "last_answer", json!({})).await.contains("Ada"));
    });
}

/// SPEC 15.1: a handler ends with those who wait for its answer.
#[test]
fn a_handler_is_dropped_when_nobody_waits_for_it() {
    let rig = rig_with_server(json!({}));
    host(async {
        let (handlers, mut silent) = Silent::new();
        let chat = session(&rig, "chat", handlers);
        let lease = Arc::new(acquire(&chat, "s").await);
        let arguments =
            json!({ "method": "elicitation/create", "params": {}, "take_back_ms": 1000 });
        assert_eq!(text(&lease, "ask", arguments).await, "taken back");
        silent.hears("asked").await;
        silent.hears("dropped").await;
        let asking = |lease: &Arc<Lease>| {
            let lease = lease.clone();
            tokio::spawn(async move {
                let arguments = json!({ "method": "elicitation/create", "params": {} }).to_string();
                lease.call_tool("ask", &arguments, &CallOptions::default()).await.map(drop)
            })
        };
        let call = asking(&lease);
        silent.hears("asked").await;
        call.abort();
        silent.hears("dropped").await;
        let call = asking(&lease);
        silent.hears("asked").await;
        chat.close(None);
        silent.hears("dropped").await;
        assert_eq!(call.await.unwrap().unwrap_err().code(), ErrorCode::Cancelled);
    });
}

/// SPEC 15.1, 16.2: what a handler does at its end is its own time, and not that of the servers.
#[test]
fn a_handler_that_blocks_when_it_is_dropped_holds_up_no_server() {
    let rig = rig_with_server(json!({ "workers": 1 }));
    host(async {
        let (release, released) = std::sync::mpsc::channel::<()>();
        let (tell, mut told) = unbounded_channel();
        let parts = std::sync::Mutex::new(Some(Blocks { released, tell }));
        let handlers = Handlers::new().with(HandlerKind::Elicitation, move |_| {
            let blocks = parts.lock().unwrap().take().expect("one request is made");
            async move {
                std::future::pending::<()>().await;
                drop(blocks);
                Ok(String::new())
            }
        });
        let chat = session(&rig, "chat", handlers);
        let lease = acquire(&chat, "s").await;
        let arguments =
            json!({ "method": "elicitation/create", "params": {}, "take_back_ms": 1000 });
        assert_eq!(text(&lease, "ask", arguments).await, "taken back");
        assert_eq!(text(&lease, "echo", json!({ "message": "on" })).await, "on");
        release.send(()).unwrap();
        let released = tokio::time::timeout(HANG, told.recv()).await;
        assert_eq!(released.expect("it ends"), Some(true), "its end was waited for");
    });
}

/// Waits when it is dropped until it is released, and tells whether it was.
struct Blocks {
    released: std::sync::mpsc::Receiver<()>,
    tell: UnboundedSender<bool>,
}

impl Drop for Blocks {
    fn drop(&mut self) {
        let _ = self.tell.send(self.released.recv_timeout(HANG / 3).is_ok());
    }
}

/// SPEC 15.1: nor does it outlive its connection, and the next one is asked as before.
#[test]
fn a_handler_ends_with_its_connection() {
    let rig = rig_with_server(json!({ "reconnect": { "delays_ms": { "local": [0] } } }));
    host(async {
        let (handlers, mut silent) = Silent::new();
        let chat = session(&rig, "chat", handlers);
        let lease = Arc::new(acquire(&chat, "s").await);
        let events = chat.subscribe(EventMask::ALL).unwrap();
        let asking = lease.clone();
        let call = tokio::spawn(async move {
            let arguments = json!({ "method": "elicitation/create", "params": {} }).to_string();
            asking.call_tool("ask", &arguments, &CallOptions::default()).await.map(drop)
        });
        silent.hears("asked").await;
        rig.pool.restart("s", None).await.unwrap();
        silent.hears("dropped").await;
        assert_eq!(call.await.unwrap().unwrap_err().code(), ErrorCode::CallInterrupted);
        next(&events, "reconnected").await;
        assert_eq!(text(&lease, "echo", json!({ "message": "again" })).await, "again");
    });
}

/// SPEC 15.1, S-43: rate-limited; one of very many is refused, and the connection goes on.
#[test]
fn a_server_that_asks_too_often_is_refused() {
    let rig = rig_with_server(json!({}));
    host(async {
        let chat = session(&rig, "chat", agrees());
        let lease = acquire(&chat, "s").await;
        let mut refused = Value::Null;
        for _ in 0..100 {
            refused = ask(&lease).await["error"].clone();
            if !refused.is_null() {
                break;
            }
        }
        assert_eq!(refused["message"], "this server asks too often");
        assert_eq!(text(&lease, "echo", json!({ "message": "on" })).await, "on");
    });
}

/// SPEC 15.1: a log message is that of the session with a call in flight, and goes to its handler
/// in order.
#[test]
fn a_log_message_goes_to_the_session_that_calls() {
    let rig = rig_with_server(json!({}));
    host(async {
        let (tell, mut heard) = unbounded_channel();
        let logging = |tell: UnboundedSender<String>| {
            Handlers::new().with_logging(move |event| {
                tell.send(event.to_owned()).unwrap();
            })
        };
        let one = session(&rig, "one", logging(tell.clone()));
        let other = session(&rig, "other", logging(tell));
        let (lease, waits) = (acquire(&one, "s").await, acquire(&other, "s").await);
        assert_eq!(lease.entry_index(), waits.entry_index());
        for word in ["first", "second"] {
            text(&lease, "log", json!({ "level": "warning", "text": word })).await;
            let event: Value = serde_json::from_str(&heard.recv().await.unwrap()).unwrap();
            assert_eq!((&event["session"], &event["data"]), (&json!("one"), &json!(word)));
        }
    });
}
