//! What becomes of a renewal.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use trunkline_pool::options::{HandlerKind, Handlers};

use super::super::issuer::{self, Issuer};
use super::*;
use crate::auth::Context;
use crate::folder::Folder;

/// A token that lives for so many seconds.
fn token(token: &str, seconds: u64) -> Value {
    json!({ "access_token": token, "token_type": "bearer", "expires_in": seconds, "refresh_token": "r" })
}

fn file(folder: &Folder) -> Arc<Store> {
    Store::open(folder.join("tokens.json").to_str().unwrap()).unwrap()
}

/// The credentials of a pool that begins.
fn of_pool(issuer: &Issuer, handlers: &Handlers, store: Option<Arc<Store>>) -> Arc<Credentials> {
    let context = Context::of_pool(handlers, Duration::from_secs(5), store);
    context.of(&"s".into(), &issuer.spec()).unwrap()
}

async fn signed_in(credentials: &Credentials, token: Value) {
    let (grant, kept) = issuer::granted(credentials, &[], token).await;
    credentials.signed_in(Ordinal::default(), grant, Token::of_kept(&kept).unwrap());
    credentials.keep_grant().await.unwrap();
}

/// Whether there is another token than the one that is sent, which the server refuses.
async fn has_other(credentials: &Arc<Credentials>) -> bool {
    let sent = credentials.header();
    let refused =
        Refused { sent: sent.as_ref(), challenge: None, is_unknown: true, turn: Turn::First };
    credentials.has_other(refused).await
}

/// Messages go out, each a while after the one before.
async fn send(credentials: &Arc<Credentials>) {
    for _ in 0..4 {
        credentials.prepare().await;
        credentials.state().renewed = None;
    }
}

/// SPEC 15.3: an authorization server that lets a token live on issues no other. It is asked once for that, not for ever; a server that
/// refuses the token has another reason for it.
#[tokio::test]
async fn a_token_that_lives_on_is_renewed_once() {
    let issuer = Issuer::new(token("same", 3600)).await;
    let credentials = of_pool(&issuer, &Handlers::new(), None);
    signed_in(&credentials, token("same", 20)).await;
    send(&credentials).await;
    assert_eq!(issuer.asked(), 1);
    assert!(!has_other(&credentials).await);
    assert_eq!(
        (issuer.asked(), credentials.header().unwrap()),
        (2, "Bearer same".parse().unwrap())
    );
}

/// SPEC 15.3: nor for each of the processes that have it.
#[tokio::test]
async fn a_token_that_lives_on_is_renewed_for_all_who_share_the_file() {
    let issuer = Issuer::new(token("same", 3600)).await;
    let folder = Folder::new();
    let [first, second] = [(); 2].map(|()| of_pool(&issuer, &Handlers::new(), Some(file(&folder))));
    signed_in(&first, token("same", 20)).await;
    assert!(has_other(&second).await, "its grant is in the file");
    assert_eq!(issuer.asked(), 1);
    for credentials in [&first, &second] {
        send(credentials).await;
    }
    assert_eq!(issuer.asked(), 1);
}

/// I-26: what is in the file of a token that is about to expire is no other, though it seems to live on after a clock was set back.
#[tokio::test]
async fn a_clock_that_was_set_back_lets_no_token_live_on() {
    let issuer = Issuer::new(token("other", 3600)).await;
    let folder = Folder::new();
    let credentials = of_pool(&issuer, &Handlers::new(), Some(file(&folder)));
    signed_in(&credentials, token("same", 3600)).await;
    let expiring = Token::new("same", Some(Duration::from_secs(20))).unwrap();
    credentials.state().token = Some(expiring);
    send(&credentials).await;
    assert_eq!(
        (issuer.asked(), credentials.header().unwrap()),
        (1, "Bearer other".parse().unwrap())
    );
}

/// SPEC 15.3: the host is asked once too.
#[tokio::test]
async fn a_token_that_the_host_lets_live_on_is_asked_for_once() {
    let issuer = Issuer::new(Value::Null).await;
    for longer in [json!(3_600_000), Value::Null] {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let host = Handlers::new().with(HandlerKind::Credentials, move |_| {
            let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
            let lives = if is_first { json!(20_000) } else { longer.clone() };
            let answer = json!({ "token": "same", "expires_in_ms": lives });
            std::future::ready(Ok(answer.to_string()))
        });
        let credentials = of_pool(&issuer, &host, None);
        assert!(has_other(&credentials).await);
        send(&credentials).await;
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }
}
