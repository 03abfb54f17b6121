//! A host that gives credentials itself: its handler `credentials`, asked when a server refuses
//! what it was sent.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rig::person::{self, assert_shows_no_secret, call, guarded, refusal, sign_in};
use rig::remote::Remote;
use rig::{Rig, acquire, host, until, until_it_holds};
use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, ErrorCode, HandlerKind, HandlerResult, Handlers, Lease, PoolOptions, Refusal,
    ServerRequest, Session, SessionOptions,
};

/// Longer than anything takes that ends at all.
const LONG: Duration = rig::HANG;

/// What a host was asked, oldest first.
type Asked = Arc<Mutex<Vec<Value>>>;

/// A handler that notes what it is asked, and answers the n-th time as `answer` says.
fn answering(answer: impl Fn(usize) -> HandlerResult + Send + Sync + 'static) -> (Handlers, Asked) {
    let asked = Asked::default();
    let noted = asked.clone();
    let handlers = Handlers::new().with(HandlerKind::Credentials, move |request| {
        let request: Value = serde_json::from_str(&request.to_json()).unwrap();
        let number = {
            let mut noted = noted.lock().unwrap();
            noted.push(request);
            noted.len() - 1
        };
        std::future::ready(answer(number))
    });
    (handlers, asked)
}

/// A host that has these tokens, one after another, and the last one from then on.
fn with_tokens(tokens: &'static [&'static str]) -> (Handlers, Asked) {
    answering(|number| Ok(json!({ "token": tokens[number.min(tokens.len() - 1)] }).to_string()))
}

fn reasons(asked: &Asked) -> Vec<String> {
    let reason = |request: &Value| request["params"]["reason"].as_str().unwrap().to_owned();
    asked.lock().unwrap().iter().map(reason).collect()
}

fn rig(handlers: Handlers, options: Value) -> Rig {
    let mut options = PoolOptions::from_json(&options.to_string()).unwrap();
    options.handlers = handlers;
    Rig::with(options)
}

/// A session that wants nothing unasked, with handlers of its own.
fn session(rig: &Rig, id: &str, handlers: Handlers) -> Session {
    let options = json!({ "id": id, "servers": [] }).to_string();
    let mut options = SessionOptions::from_json(&options).unwrap();
    options.handlers = handlers;
    rig.pool.session(options).unwrap()
}

/// One such server as `s`, and a session without handlers of its own.
async fn start(rig: &Rig, ways: Value) -> (Remote, Session) {
    person::start(rig, guarded(rig, &ways, json!({}))).await
}

/// What was sent to the server to be let in, each once.
fn sent(remote: &Remote) -> Vec<Value> {
    let requests = remote.requests();
    let of_message = requests.iter().filter(|request| request["path"] == "/mcp");
    let mut sent: Vec<Value> = of_message.map(|r| r["headers"]["authorization"].clone()).collect();
    sent.dedup();
    sent
}

/// SPEC 15.3: a host is asked once, with what the server says, and what it gives is sent from then
/// on.
#[test]
fn a_host_gives_what_the_server_asks_for() {
    let (handlers, asked) = with_tokens(&["token-canary-a"]);
    let rig = rig(handlers, json!({}));
    host(async {
        let challenge = "Bearer scope=\"files:read files:list\"";
        let ways = json!({ "accepts": { "token-canary-a": "" }, "challenge": challenge });
        let (remote, session) = start(&rig, ways).await;
        call(&acquire(&session, "s").await).await.unwrap();
        assert_eq!(sent(&remote), [Value::Null, json!("Bearer token-canary-a")]);
        let expected = json!([{
            "kind": "credentials", "server": "s", "entry_index": null, "generation": null, "session": null,
            "method": "credentials",
            "params": { "url": remote.url, "reason": "missing", "scopes": ["files:read", "files:list"], "challenge": challenge },
        }]);
        assert_eq!(json!(*asked.lock().unwrap()), expected);
        assert_shows_no_secret(&rig, None);
    });
}

/// SPEC 15.3: a token that the server refuses is asked for once more, and no third time.
#[test]
fn a_host_hears_once_that_what_it_gave_is_refused() {
    let (handlers, asked) = with_tokens(&["token-canary-old", "token-canary-new"]);
    let rig = rig(handlers, json!({}));
    host(async {
        let (_remote, session) =
            start(&rig, json!({ "accepts": { "token-canary-new": "" } })).await;
        call(&acquire(&session, "s").await).await.unwrap();
        assert_eq!(reasons(&asked), ["missing", "refused"]);
    });
    let (handlers, asked) = with_tokens(&["token-canary-1", "token-canary-2", "token-canary-3"]);
    let rig = self::rig(handlers, json!({}));
    host(async {
        let (_remote, session) = start(&rig, json!({})).await;
        let error = refusal(&session).await;
        assert_eq!((error.code(), error.detail().get("handler")), (ErrorCode::AuthRequired, None));
        assert_eq!(reasons(&asked), ["missing", "refused"]);
        assert_shows_no_secret(&rig, Some(&error));
    });
}

/// SPEC 15.3, 3.2: a host may have another token by the next acquire, though two of its own were
/// refused.
#[test]
fn a_host_whose_tokens_were_refused_is_asked_again_by_the_next_acquire() {
    let (handlers, asked) = with_tokens(&["token-canary-1", "token-canary-2", "token-canary-3"]);
    let rig = rig(handlers, json!({}));
    host(async {
        let (_remote, session) = start(&rig, json!({ "accepts": { "token-canary-3": "" } })).await;
        assert_eq!(refusal(&session).await.code(), ErrorCode::AuthRequired);
        call(&acquire(&session, "s").await).await.unwrap();
        assert_eq!(reasons(&asked), ["missing", "refused", "refused"]);
    });
}

/// SPEC 15.3, 3.2: a host that has nothing leaves the server `auth_required`; an acquire asks it
/// again.
#[test]
fn a_host_that_refuses_is_asked_again_by_the_next_acquire() {
    let (handlers, asked) = answering(|number| match number {
        0 => Err(Refusal::new(Refusal::REJECTED, "nobody is at home")),
        1 => Ok("{}".to_owned()),
        _ => Ok(r#"{"token":"token-canary-a"}"#.to_owned()),
    });
    let rig = rig(handlers, json!({}));
    host(async {
        let (_remote, session) = start(&rig, json!({ "accepts": { "token-canary-a": "" } })).await;
        for times in 1..3 {
            let error = refusal(&session).await;
            assert_eq!(error.code(), ErrorCode::AuthRequired);
            assert_eq!(
                (&error.detail()["missing"], &error.detail()["handler"]),
                (&json!("token"), &json!("refused"))
            );
            assert_eq!(reasons(&asked).len(), times);
            assert_eq!(rig.pool.status()["servers"]["s"]["entries"][0]["state"], "auth_required");
        }
        call(&acquire(&session, "s").await).await.unwrap();
        assert_eq!(reasons(&asked), ["missing"; 3]);
        assert_eq!(rig.pool.status()["servers"]["s"]["auth_need"], Value::Null);
    });
}

/// SPEC 15.3, 16.2, I-18: a handler that panics, or gives something that is no token, is a refusal,
/// which names what was wrong.
#[test]
fn a_host_that_gives_no_token_gives_nothing() {
    let bad = [
        ("[]", "answer"),
        ("7", "answer"),
        ("no JSON", "answer"),
        (r#"{"token":1}"#, "token"),
        (r#"{"token":"a b"}"#, "token"),
        (r#"{"token":"a\r\nx: b"}"#, "token"),
        (r#"{"token":""}"#, "token"),
        (r#"{"token":"token-canary-a","expires_in_ms":-1}"#, "expires_in_ms"),
        (r#"{"token":"token-canary-a","expires_in_ms":1.5}"#, "expires_in_ms"),
        (r#"{"token":"token-canary-a","expires_in_ms":"60000"}"#, "expires_in_ms"),
        (r#"{"token":"token-canary-a","expires_in_ms":true}"#, "expires_in_ms"),
        (r#"{"token":"token-canary-a","expires_in_ms":1e400}"#, "answer"),
        (r#"{"token":"token-canary-a","expires_in_ms":1000000000000}"#, "expires_in_ms"),
    ];
    let (handlers, asked) = answering(move |number| match bad.get(number) {
        Some((bad, _)) => Ok((*bad).to_owned()),
        None => panic!("a handler of the host's"),
    });
    let rig = rig(handlers, json!({}));
    host(async {
        let (remote, session) = start(&rig, json!({})).await;
        for path in bad.map(|(_, path)| Some(path)).into_iter().chain([None]) {
            let error = refusal(&session).await;
            assert_eq!(
                (error.code(), &error.detail()["handler"]),
                (ErrorCode::AuthRequired, &json!("failed"))
            );
            let cause = error.cause().map(|cause| (cause.code(), cause.detail()["path"].clone()));
            assert_eq!(cause, path.map(|path| (ErrorCode::InvalidArgument, json!(path))));
            assert_shows_no_secret(&rig, Some(&error));
        }
        assert_eq!(reasons(&asked).len(), bad.len() + 1);
        assert_eq!(sent(&remote), [Value::Null]);
    });
}

/// SPEC 15.3, I-07: its own deadline; what it does then is dropped.
#[test]
fn a_host_that_does_not_answer_is_not_waited_for() {
    let (tell, dropped) = std::sync::mpsc::channel();
    let handlers = Handlers::new().with(HandlerKind::Credentials, move |_: ServerRequest| {
        let told = Told(tell.clone());
        async move {
            let _told = told;
            std::future::pending().await
        }
    });
    let rig = rig(handlers, json!({ "handler_timeout_ms": 50 }));
    host(async {
        let (_remote, session) = start(&rig, json!({})).await;
        let error = refusal(&session).await;
        assert_eq!(
            (error.code(), &error.detail()["handler"]),
            (ErrorCode::AuthRequired, &json!("timeout"))
        );
        dropped.recv().unwrap();
    });
}

/// Tells when it is dropped.
struct Told(std::sync::mpsc::Sender<()>);

impl Drop for Told {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

/// SPEC 15.3: a token is asked for before it expires, and for a call that needs more.
#[test]
fn a_host_is_asked_before_a_token_expires_and_for_more() {
    let (handlers, asked) = answering(|number| {
        let token = ["token-canary-1", "token-canary-2", "token-canary-more"][number.min(2)];
        let lives = if number == 0 { 20_000 } else { 3_600_000 };
        Ok(json!({ "token": token, "expires_in_ms": lives }).to_string())
    });
    let rig = rig(handlers, json!({}));
    host(async {
        let accepts =
            json!({ "token-canary-1": "", "token-canary-2": "", "token-canary-more": "more" });
        let ways = json!({ "accepts": accepts, "call_scope": "more" });
        let (_remote, session) = start(&rig, ways).await;
        let lease = acquire(&session, "s").await;
        assert_eq!(reasons(&asked), ["missing", "expired"]);
        call(&lease).await.unwrap();
        assert_eq!(reasons(&asked), ["missing", "expired", "scope"]);
        assert_eq!(asked.lock().unwrap()[2]["params"]["scopes"], json!(["more"]));
    });
}

/// SPEC 15.3: many messages that are refused at one time ask once.
#[test]
fn many_refusals_ask_a_host_once() {
    let (handlers, asked) = with_tokens(&["token-canary-1", "token-canary-2"]);
    let rig = rig(handlers, json!({}));
    host(async {
        let ways = json!({ "accepts": { "token-canary-1": "", "token-canary-2": "" }, "uses": 12 });
        let (_remote, session) = start(&rig, ways).await;
        let lease = Arc::new(acquire(&session, "s").await);
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..16 {
            let lease = lease.clone();
            calls.spawn(async move { call(&lease).await });
        }
        let done = calls.join_all().await;
        assert!(done.iter().filter(|done| done.is_ok()).count() >= 12, "{done:?}");
        assert!(reasons(&asked).len() <= 4, "{:?}", reasons(&asked));
    });
}

/// SPEC 16.2, I-18: a handler may use the pool.
#[test]
fn a_host_may_use_the_pool_while_it_is_asked() {
    let pool = Arc::new(Mutex::new(None::<trunkline::Pool>));
    let within = pool.clone();
    let handlers = Handlers::new().with(HandlerKind::Credentials, move |_: ServerRequest| {
        let pool = within.lock().unwrap().clone().unwrap();
        async move {
            assert_eq!(pool.status()["servers"]["s"]["auth_need"], Value::Null);
            let session = pool.session(SessionOptions::new("inside")).unwrap();
            let lease = session.acquire("local", None, &AcquireOptions::default()).await.unwrap();
            call(&lease).await.unwrap();
            pool.sign_out("s").await.unwrap();
            Ok(r#"{"token":"token-canary-a"}"#.to_owned())
        }
    });
    let rig = rig(handlers, json!({ "connect_timeout_ms": 20_000 }));
    *pool.lock().unwrap() = Some(rig.pool.clone());
    host(async {
        let (_remote, config) =
            guarded(&rig, &json!({ "accepts": { "token-canary-a": "" } }), json!({}));
        rig.configure(json!({ "s": config, "local": rig.server(&[]) })).await;
        let session = rig.session("a");
        call(&acquire(&session, "s").await).await.unwrap();
    });
    pool.lock().unwrap().take();
}

/// S-34, S-47, SPEC 1.2, 2.3: a session that brings a source of its own has connections of its own,
/// and tokens never mix, although others hold the server by the same configuration.
#[test]
fn the_credentials_of_a_session_reach_no_other() {
    let (pools, of_pool) = with_tokens(&["token-canary-pool"]);
    let rig = rig(pools, json!({ "shared_transports": ["http", "stdio"] }));
    host(async {
        let accepts =
            json!({ "token-canary-pool": "", "token-canary-a": "", "token-canary-b": "" });
        let (remote, config) = guarded(&rig, &json!({ "accepts": accepts }), json!({}));
        rig.configure(json!({ "s": config, "local": rig.server(&[]) })).await;
        let ((for_a, of_a), (for_b, of_b)) =
            (with_tokens(&["token-canary-a"]), with_tokens(&["token-canary-b"]));
        let (a, b) = (session(&rig, "a", for_a), session(&rig, "b", for_b));
        let (c, d) = (rig.session("c"), rig.session("d"));
        let mut leases = Vec::new();
        for session in [&a, &b, &c, &d] {
            leases.push(acquire(session, "s").await);
        }
        for lease in &leases {
            call(lease).await.unwrap();
        }
        let places: Vec<u32> = leases.iter().map(Lease::entry_index).collect();
        assert_eq!(places[2], places[3], "the pool's own are shared");
        assert!(places[0] != places[1] && places[1] != places[2] && places[0] != places[2]);
        let counts = [&of_pool, &of_a, &of_b].map(|asked| reasons(asked).len());
        assert_eq!(counts, [1, 1, 1]);
        assert_eq!(of_a.lock().unwrap()[0]["session"], "a");
        // One connection each: whatever names a session of the server names one token.
        let mut named = std::collections::BTreeMap::new();
        for request in remote.requests() {
            let headers = &request["headers"];
            if let Some(id) = headers["mcp-session-id"].as_str() {
                let token = headers["authorization"].to_string();
                assert_eq!(named.entry(id.to_owned()).or_insert_with(|| token.clone()), &token);
            }
        }
        assert_eq!(named.len(), 3, "{named:?}");
        // What needs no credentials is shared all the same.
        let mut local = Vec::new();
        for session in [&a, &b, &c] {
            local.push(acquire(session, "local").await.entry_index());
        }
        assert!(local.iter().all(|place| *place == local[0]));
        // A sign-in is the pool's, and changes nothing for the others.
        let other = rig.pool.sign_out("s").await.unwrap();
        assert_eq!(other["signed_out"], true);
        call(&leases[0]).await.unwrap();
        assert_shows_no_secret(&rig, None);
    });
}

/// SPEC 3.13, 1.2: a session that is resumed is the same one, with the connections that it left;
/// the source that it brings is asked from then on.
#[test]
fn a_resumed_session_has_the_connections_that_its_credentials_made() {
    let rig = rig(Handlers::new(), json!({}));
    host(async {
        let ways = json!({ "accepts": { "token-canary-a": "", "token-canary-b": "" }, "uses": 12 });
        let (remote, config) = guarded(&rig, &ways, json!({}));
        rig.configure(json!({ "s": config })).await;
        let (first, of_first) = with_tokens(&["token-canary-a"]);
        let left = session(&rig, "a", first);
        let lease = acquire(&left, "s").await;
        let place = (lease.entry_index(), lease.generation());
        left.close(Some(LONG));
        drop(lease);
        let (second, of_second) = with_tokens(&["token-canary-b"]);
        let resumed = session(&rig, "a", second);
        let lease = acquire(&resumed, "s").await;
        call(&lease).await.unwrap();
        assert_eq!((lease.entry_index(), lease.generation()), place);
        assert_eq!((reasons(&of_first), reasons(&of_second)), (vec!["missing".into()], vec![]));
        while reasons(&of_second).is_empty() {
            call(&lease).await.unwrap();
        }
        assert_eq!((reasons(&of_first).len(), reasons(&of_second)), (1, vec!["refused".into()]));
        assert_eq!(of_second.lock().unwrap()[0]["session"], "a");
        let tokens =
            ["token-canary-a", "token-canary-b"].map(|token| json!(format!("Bearer {token}")));
        assert_eq!(sent(&remote)[1..], tokens);
        // What nobody resumes in time is another one.
        resumed.close(None);
        drop(lease);
        let (third, of_third) = with_tokens(&["token-canary-b"]);
        let other = session(&rig, "a", third);
        acquire(&other, "s").await;
        assert_eq!(reasons(&of_third), ["missing"]);
    });
}

/// SPEC 3.13, I-16: a closed session is not asked any more.
#[test]
fn a_closed_session_gives_nothing() {
    let (handlers, asked) = with_tokens(&["token-canary-a"]);
    // The keep-alive asks; it is not to lose a server that a busy machine keeps from an answer.
    let rig = rig(Handlers::new(), json!({ "keepalive_ms": 50, "keepalive_misses": 100 }));
    host(async {
        let (remote, config) =
            guarded(&rig, &json!({ "accepts": { "token-canary-a": "" }, "uses": 8 }), json!({}));
        rig.configure(json!({ "s": config })).await;
        let session = session(&rig, "a", handlers);
        acquire(&session, "s").await;
        session.close(None);
        let before = reasons(&asked).len();
        until(|| remote.requests().iter().filter(|request| request["path"] == "/mcp").count() > 9);
        assert_eq!(reasons(&asked).len(), before);
    });
}

/// SPEC 3.13, I-16: what a host does for a pool is dropped when the pool is closed.
#[test]
fn a_closed_pool_waits_for_no_host() {
    let (tell, dropped) = std::sync::mpsc::channel();
    let (begin, begun) = std::sync::mpsc::channel();
    let handlers = Handlers::new().with(HandlerKind::Credentials, move |_: ServerRequest| {
        let told = Told(tell.clone());
        begin.send(()).unwrap();
        async move {
            let _told = told;
            std::future::pending().await
        }
    });
    let rig = rig(handlers, json!({ "connect_timeout_ms": 60_000 }));
    host(async {
        let (_remote, session) = start(&rig, json!({})).await;
        let acquiring = tokio::spawn(async move { refusal(&session).await });
        tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
        rig.pool.close().await.unwrap();
        dropped.recv_timeout(LONG).expect("the host is left alone");
        acquiring.await.unwrap();
    });
}

/// SPEC 3.13, I-16: a closed pool asks nobody, not by a renewal that was under way either.
#[test]
fn a_closed_pool_asks_no_host() {
    let (tell, gone) = std::sync::mpsc::channel();
    let told = Told(tell);
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let handlers = Handlers::new().with(HandlerKind::Credentials, move |_: ServerRequest| {
        let _ = &told;
        counted.fetch_add(1, Ordering::SeqCst);
        std::future::ready(Ok("{}".to_owned()))
    });
    let rig = rig(handlers, json!({}));
    let remote = host(async {
        let ways = json!({ "uses": 8, "refresh": false, "renewal_ms": 5_000 });
        let (remote, session) = start(&rig, ways).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        let lease = acquire(&session, "s").await;
        let is_renewed = || remote.requests().iter().filter(|r| r["path"] == "/token").count() > 1;
        let calling = tokio::spawn(async move { while call(&lease).await.is_ok() {} });
        until_it_holds(is_renewed).await;
        calling.abort();
        rig.pool.close().await.unwrap();
        assert_eq!(asked.load(Ordering::SeqCst), 1, "only for the sign-in");
        remote
    });
    // Anything that could still ask would keep the handler.
    drop(rig);
    gone.recv_timeout(LONG).expect("the handler goes with the pool");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    drop(remote);
}

/// SPEC 15.3: what was signed in goes before what the host gives.
#[test]
fn a_sign_in_goes_before_the_host() {
    let (handlers, asked) = answering(|_| Ok("{}".to_owned()));
    let rig = rig(handlers, json!({}));
    host(async {
        let (_remote, session) = start(&rig, json!({ "uses": 12 })).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        let lease = acquire(&session, "s").await;
        for _ in 0..12 {
            call(&lease).await.unwrap();
        }
        assert_eq!(reasons(&asked), ["missing"]);
    });
}
