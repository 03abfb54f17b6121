//! Subscriptions that a server does not answer, or refuses: they are nobody else's matter, and
//! nothing is left of them.

mod times;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::renew;
use crate::folder::Folder;
use crate::{
    AcquireOptions, DrainOptions, ErrorCode, EventKind, EventMask, Lease, Pool, PoolOptions,
    Servers, Session, SessionOptions,
};

/// What waits so long hangs.
const HANG: Duration = Duration::from_secs(90);

/// A pool with a server whose script finds `$HERE`, a folder of the test.
async fn pool_with(script: &str, here: &Path, mut server: Value) -> Pool {
    let options = json!({
        "cache": "off", "exit_grace_ms": 50, "kill_grace_ms": 9_000,
        "reconnect": { "delays_ms": { "local": [0] } },
    });
    let pool = Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap();
    (server["command"], server["args"]) = (json!("/bin/sh"), json!(["-c", script]));
    server["env"] = json!({ "HERE": here });
    let servers = json!({ "s": server }).to_string();
    pool.reconcile(Servers::from_json(&servers).unwrap()).await.unwrap();
    pool
}

fn session(pool: &Pool, id: &str) -> Session {
    let options = json!({ "id": id, "servers": [] }).to_string();
    pool.session(SessionOptions::from_json(&options).unwrap()).unwrap()
}

async fn acquire(session: &Session) -> Lease {
    session.acquire("s", None, &AcquireOptions::default()).await.unwrap()
}

/// How often the server has read a frame with these words.
fn heard(here: &Path, words: &[&str]) -> usize {
    let log = std::fs::read_to_string(here.join("log")).unwrap_or_default();
    log.lines().filter(|line| words.iter().all(|word| line.contains(word))).count()
}

async fn until(holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < HANG, "it never came");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Closes the pool; how many servers had to be killed.
async fn forced(pool: &Pool) -> Value {
    pool.drain_all(&DrainOptions::default()).await.unwrap()["forced"].clone()
}

/// SPEC 5.5, 7.7: it is taken back, and neither another resource nor the end of the pool waits for
/// it.
#[tokio::test]
async fn a_subscription_that_is_not_answered_holds_up_nobody_once_it_is_dropped() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let (a, b) = (session(&pool, "a"), session(&pool, "b"));
    let (of_a, of_b) = (acquire(&a).await, acquire(&b).await);
    {
        let mut silent = std::pin::pin!(of_a.subscribe_resource("test://silent"));
        tokio::select! {
            _ = &mut silent => panic!("nobody answers it"),
            () = until(|| heard(&folder.join(""), &["resources/subscribe", "silent"]) == 1) => {}
        }
        let other = of_b.subscribe_resource("test://other");
        tokio::time::timeout(HANG, other).await.expect("it waits for nobody").unwrap();
    }
    until(|| heard(&folder.join(""), &["notifications/cancelled"]) == 1).await;
    until(|| heard(&folder.join(""), &["resources/unsubscribe", "silent"]) == 1).await;
    assert_eq!(forced(&pool).await, 0);
}

/// SPEC 5.5: the end of the session is the end of its requests.
#[tokio::test]
async fn a_subscription_that_is_not_answered_ends_with_its_session() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let a = session(&pool, "a");
    let lease = acquire(&a).await;
    let close = async {
        until(|| heard(&folder.join(""), &["resources/subscribe", "silent"]) == 1).await;
        a.close(None);
    };
    let (silent, ()) = tokio::join!(lease.subscribe_resource("test://silent"), close);
    assert_eq!(silent.unwrap_err().code(), ErrorCode::Closed);
    until(|| heard(&folder.join(""), &["notifications/cancelled"]) == 1).await;
    assert_eq!(forced(&pool).await, 0);
}

/// One asks for what is not answered, the other for the same, and the first gives up.
async fn ask_behind_one_that_is_given_up(folder: &Folder, one: &Lease, other: &Lease) {
    let mut given_up = Box::pin(one.subscribe_resource("test://second"));
    tokio::select! {
        _ = &mut given_up => panic!("nobody answers the first"),
        () = until(|| heard(&folder.join(""), &["resources/subscribe", "second"]) == 1) => {}
    }
    let mut same = Box::pin(other.subscribe_resource("test://second"));
    assert!((&mut same).now_or_never().is_none());
    drop(given_up);
    tokio::time::timeout(HANG, same).await.expect("it is answered").unwrap();
}

/// SPEC 7.7: who wants the same is not content with what another did not wait for.
#[tokio::test]
async fn a_subscription_that_another_gave_up_is_asked_for_again() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let (a, b) = (session(&pool, "a"), session(&pool, "b"));
    let (of_a, of_b) = (acquire(&a).await, acquire(&b).await);
    ask_behind_one_that_is_given_up(&folder, &of_a, &of_b).await;
    assert_eq!(heard(&folder.join(""), &["resources/subscribe", "second"]), 2);
    assert_eq!(forced(&pool).await, 0);
}

/// SPEC 5.4: a subscription has the time that the server's configuration gives its calls.
#[tokio::test]
async fn a_subscription_has_the_times_of_its_server() {
    let folder = Folder::new();
    let times = json!({ "call_timeout_ms": 200 });
    let pool = pool_with(SERVER, &folder.join(""), times).await;
    let lease = acquire(&session(&pool, "a")).await;
    let silent = tokio::time::timeout(HANG, lease.subscribe_resource("test://silent")).await;
    assert_eq!(silent.expect("it has an end").unwrap_err().code(), ErrorCode::Timeout);
    pool.close().await.unwrap();
}

/// The first update that a session hears of once its server was lost.
async fn first_update_after_a_loss(pool: &Pool, session: &Session) -> Value {
    let events = session.subscribe(EventMask(1 << EventKind::ResourceUpdated as u8)).unwrap();
    let (_, cell) = pool.driver().entries().remove(0);
    cell.kill_task();
    let event = tokio::time::timeout(HANG, events.next()).await.expect("it is told").unwrap();
    serde_json::from_str(event.json()).unwrap()
}

/// SPEC 7.7: what changed before a new connection knew of the subscription was told to nobody, and
/// may have been an update.
#[tokio::test]
async fn a_renewal_that_is_granted_is_told_as_an_update() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let a = session(&pool, "a");
    let lease = acquire(&a).await;
    lease.subscribe_resource("test://one").await.unwrap();
    let event = first_update_after_a_loss(&pool, &a).await;
    assert_eq!((&event["uri"], &event["generation"]), (&json!("test://one"), &json!(2)));
    pool.close().await.unwrap();
}

/// SPEC 7.7: a new connection that refuses at first is asked again.
#[tokio::test]
async fn a_renewal_that_is_refused_is_tried_again() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let a = session(&pool, "a");
    let lease = acquire(&a).await;
    lease.subscribe_resource("test://moody").await.unwrap();
    let event = first_update_after_a_loss(&pool, &a).await;
    assert_eq!((&event["uri"], &event["generation"]), (&json!("test://moody"), &json!(2)));
    pool.close().await.unwrap();
}

/// SPEC 7.7, 8.5: who wants what a new connection goes on refusing is told that there will be no
/// updates.
#[tokio::test]
async fn a_renewal_that_is_refused_to_the_end_is_warned_of() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let (a, b) = (session(&pool, "a"), session(&pool, "b"));
    let (lease, _other) = (acquire(&a).await, acquire(&b).await);
    lease.subscribe_resource("test://never").await.unwrap();
    let mask = EventMask(1 << EventKind::Warning as u8);
    let (of_a, of_b) = (a.subscribe(mask).unwrap(), b.subscribe(mask).unwrap());
    let cell = pool.driver().entries().remove(0).1;
    cell.kill_task();
    until(|| heard(&folder.join(""), &["resources/subscribe", "never"]) == 2).await;
    let (driver, generation) = (Arc::downgrade(pool.driver()), cell.load().slot.generation);
    let when = (&Semaphore::new(1), &[Duration::ZERO; 2][..]);
    renew(&driver, (&cell, generation), "test://never".into(), when).await;
    let event = tokio::time::timeout(HANG, of_a.next()).await.expect("it is told").unwrap();
    let event: Value = serde_json::from_str(event.json()).unwrap();
    assert_eq!(event["code"], "subscription");
    assert!(event["message"].as_str().unwrap().contains("test://never"), "{event}");
    assert!(of_b.next().now_or_never().is_none(), "the other session hears nothing");
    assert!(heard(&folder.join(""), &["resources/subscribe", "never"]) >= 4);
    pool.close().await.unwrap();
}

/// SPEC 7.7: what a new connection does not answer holds up no other that it refused at first.
#[tokio::test]
async fn a_renewal_that_is_not_answered_holds_up_no_other() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let a = session(&pool, "a");
    let lease = acquire(&a).await;
    for uri in ["test://moody", "test://mute"] {
        lease.subscribe_resource(uri).await.unwrap();
    }
    let event = first_update_after_a_loss(&pool, &a).await;
    assert_eq!(event["uri"], "test://moody");
    assert_eq!(heard(&folder.join(""), &["resources/subscribe", "mute"]), 2);
    assert_eq!(forced(&pool).await, 0);
}

/// SPEC 7.7, 15.2: the server hears of an unsubscription that its host did not wait for, and
/// nothing is left of it here.
#[tokio::test]
async fn an_unsubscription_that_is_dropped_is_told_all_the_same() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let a = session(&pool, "a");
    let lease = acquire(&a).await;
    lease.subscribe_resource("test://one").await.unwrap();
    let cell = pool.driver().entries().remove(0).1;
    {
        // Somebody is at it, as a renewal is.
        let in_hand = cell.resources.told("test://one");
        let at_it = in_hand.told.lock().await;
        assert!(lease.unsubscribe_resource("test://one").now_or_never().is_none());
        drop(at_it);
    }
    until(|| heard(&folder.join(""), &["resources/unsubscribe", "one"]) == 1).await;
    until(|| cell.resources.lines().is_empty()).await;
    assert_eq!(forced(&pool).await, 0);
}

/// SPEC 15.2: nothing is left either of one that was dropped while the server was silent.
#[tokio::test]
async fn an_unsubscription_that_is_not_answered_leaves_nothing() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let lease = acquire(&session(&pool, "a")).await;
    lease.subscribe_resource("test://deaf").await.unwrap();
    let cell = pool.driver().entries().remove(0).1;
    {
        let mut deaf = std::pin::pin!(lease.unsubscribe_resource("test://deaf"));
        tokio::select! {
            _ = &mut deaf => panic!("nobody answers it"),
            () = until(|| heard(&folder.join(""), &["resources/unsubscribe", "deaf"]) == 1) => {}
        }
    }
    until(|| cell.resources.lines().is_empty()).await;
    assert_eq!(forced(&pool).await, 0);
}

/// SPEC 7.7, 5.12: of two subscriptions of one session at once, each is told what became of it.
#[tokio::test]
async fn two_subscriptions_of_a_session_at_once_are_both_refused() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let lease = acquire(&session(&pool, "a")).await;
    let uri = "test://refused";
    let both =
        futures_util::future::join(lease.subscribe_resource(uri), lease.subscribe_resource(uri));
    let (first, second) = tokio::time::timeout(HANG, both).await.expect("they are answered");
    let codes = [first.unwrap_err().code(), second.unwrap_err().code()];
    assert_eq!(codes, [ErrorCode::ServerError; 2]);
    let cell = pool.driver().entries().remove(0).1;
    assert!(cell.resources.uris().is_empty());
    assert_eq!(forced(&pool).await, 0);
}

/// SPEC 7.7: each subscription of a session needs its own end, whichever lease it was made by; with
/// the last one the server is told.
#[tokio::test]
async fn the_subscriptions_of_one_session_are_counted() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let a = session(&pool, "a");
    let (one, other) = (acquire(&a).await, acquire(&a).await);
    let cell = pool.driver().entries().remove(0).1;
    let subscribed = || cell.resources.subscribers("test://one").len();
    for lease in [&one, &other, &other] {
        lease.subscribe_resource("test://one").await.unwrap();
    }
    for lease in [&one, &one] {
        lease.unsubscribe_resource("test://one").await.unwrap();
        assert_eq!(subscribed(), 1);
    }
    one.subscribe_resource("test://other").await.unwrap();
    assert_eq!(heard(&folder.join(""), &["resources/unsubscribe"]), 0);
    other.unsubscribe_resource("test://one").await.unwrap();
    assert_eq!(subscribed(), 0);
    assert_eq!(heard(&folder.join(""), &["resources/unsubscribe", "one"]), 1);
    // One too many takes nothing from the next.
    other.unsubscribe_resource("test://one").await.unwrap();
    other.subscribe_resource("test://one").await.unwrap();
    assert_eq!(subscribed(), 1);
    assert_eq!(heard(&folder.join(""), &["resources/subscribe", "one"]), 2);
    assert_eq!(forced(&pool).await, 0);
}

/// SPEC 7.7: an end counts as well for a subscription that is still under way.
#[tokio::test]
async fn an_unsubscription_ends_a_subscription_under_way() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let lease = acquire(&session(&pool, "a")).await;
    let cell = pool.driver().entries().remove(0).1;
    let uri = "test://second";
    let mut first = Box::pin(lease.subscribe_resource(uri));
    tokio::select! {
        _ = &mut first => panic!("nobody answers the first"),
        () = until(|| heard(&folder.join(""), &["resources/subscribe", "second"]) == 1) => {}
    }
    let mut second = Box::pin(lease.subscribe_resource(uri));
    assert!((&mut second).now_or_never().is_none());
    let one_less = lease.unsubscribe_resource(uri).now_or_never();
    one_less.expect("another is left, so that there is nothing to tell").unwrap();
    drop(first);
    // Of two, one was ended, and the other given up.
    let second = tokio::time::timeout(HANG, second).await.expect("it is answered");
    assert_eq!(second.unwrap_err().code(), ErrorCode::Unavailable);
    assert!(cell.resources.subscribers(uri).is_empty());
    assert_eq!(forced(&pool).await, 0);
}

/// SPEC 7.7: one that is dropped takes nothing from another of its session.
#[tokio::test]
async fn a_subscription_that_is_dropped_leaves_another_of_its_session() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let lease = acquire(&session(&pool, "a")).await;
    ask_behind_one_that_is_given_up(&folder, &lease, &lease).await;
    let cell = pool.driver().entries().remove(0).1;
    assert_eq!(cell.resources.subscribers("test://second").len(), 1);
    lease.subscribe_resource("test://other").await.unwrap();
    assert_eq!(heard(&folder.join(""), &["resources/unsubscribe"]), 0);
    assert_eq!(forced(&pool).await, 0);
}

/// SPEC 7.7, 5.12, 6.5: what the session lost with its hold meanwhile is not told as had.
#[tokio::test]
async fn a_subscription_that_was_taken_away_meanwhile_is_an_error() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let (a, b) = (session(&pool, "a"), session(&pool, "b"));
    let (of_a, _of_b) = (acquire(&a).await, acquire(&b).await);
    let cell = pool.driver().entries().remove(0).1;
    let taken = {
        // Somebody is at it, as a renewal is.
        let in_hand = cell.resources.told("test://one");
        let at_it = in_hand.told.lock().await;
        let mut taken = Box::pin(of_a.subscribe_resource("test://one"));
        assert!((&mut taken).now_or_never().is_none());
        a.disable("s").unwrap();
        a.enable("s").unwrap();
        until(|| of_a.tools().is_ok()).await;
        drop(at_it);
        tokio::time::timeout(HANG, taken).await.expect("it has an end")
    };
    assert_eq!(taken.unwrap_err().code(), ErrorCode::Unavailable);
    assert!(cell.resources.subscribers("test://one").is_empty());
    of_a.subscribe_resource("test://one").await.unwrap();
    assert_eq!(forced(&pool).await, 0);
}

/// SPEC 5.4: the time is that of the caller, also while another's request is under way.
#[tokio::test]
async fn who_waits_for_anothers_subscription_has_the_time_of_a_call() {
    let folder = Folder::new();
    let times = json!({ "call_timeout_ms": 200 });
    let pool = pool_with(SERVER, &folder.join(""), times).await;
    let lease = acquire(&session(&pool, "a")).await;
    lease.subscribe_resource("test://two").await.unwrap();
    let cell = pool.driver().entries().remove(0).1;
    for uri in ["test://one", "test://two"] {
        // Somebody is at it, as a renewal is.
        let in_hand = cell.resources.told(uri);
        let at_it = in_hand.told.lock().await;
        let waiting = async {
            match uri {
                "test://one" => lease.subscribe_resource(uri).await,
                _ => lease.unsubscribe_resource(uri).await,
            }
        };
        let waited = tokio::time::timeout(HANG, waiting).await.expect("it has an end");
        assert_eq!(waited.unwrap_err().code(), ErrorCode::Timeout, "{uri}");
        drop(at_it);
    }
    // What ends is told all the same.
    until(|| heard(&folder.join(""), &["resources/unsubscribe", "two"]) == 1).await;
    assert_eq!(heard(&folder.join(""), &["resources/subscribe", "one"]), 0);
    pool.close().await.unwrap();
}

/// SPEC 7.7: a session that wants the same waits until the end of the subscription before is
/// answered, also when its host does not.
#[tokio::test]
async fn an_unsubscription_that_is_dropped_is_not_overtaken() {
    let folder = Folder::new();
    let pool = pool_with(SERVER, &folder.join(""), json!({})).await;
    let (of_a, of_b) = (acquire(&session(&pool, "a")).await, acquire(&session(&pool, "b")).await);
    of_a.subscribe_resource("test://deaf").await.unwrap();
    {
        let mut deaf = std::pin::pin!(of_a.unsubscribe_resource("test://deaf"));
        tokio::select! {
            _ = &mut deaf => panic!("nobody answers it"),
            () = until(|| heard(&folder.join(""), &["resources/unsubscribe", "deaf"]) == 1) => {}
        }
    }
    let mut next = Box::pin(of_b.subscribe_resource("test://deaf"));
    assert!((&mut next).now_or_never().is_none());
    // Whatever was sent before this is read before it.
    of_b.subscribe_resource("test://other").await.unwrap();
    assert_eq!(heard(&folder.join(""), &["resources/subscribe", "deaf"]), 1);
    tokio::time::timeout(HANG, next).await.expect("it does not wait for ever").unwrap();
    assert_eq!(heard(&folder.join(""), &["resources/subscribe", "deaf"]), 2);
    assert_eq!(forced(&pool).await, 0);
}

/// A handshake, one tool, and subscriptions: never answered for `silent`, the first time not for
/// `second`, by the second process not for `mute`, an end of it not for `deaf`; refused for
/// `refused`, by the second process for `never`, and the first time for `moody`, whose update it
/// tells when it grants it.
const SERVER: &str = r#"
echo started >> "$HERE/starts"
starts=$(grep -c started "$HERE/starts")
while read -r line; do
    echo "$line" >> "$HERE/log"
    id=$(expr "$line" : '.*"id":\([0-9]*\)')
    result='{}'
    case "$line" in
        *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{"subscribe":true}},"serverInfo":{"name":"x","version":"1"}}' ;;
        *'"tools/list"'*) result='{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;
        *'"resources/list"'*) result='{"resources":[]}' ;;
        *'"resources/templates/list"'*) result='{"resourceTemplates":[]}' ;;
        *silent* | *'"resources/unsubscribe"'*deaf*) continue ;;
        *'"resources/subscribe"'*refused*)
            echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32603,\"message\":\"no\"}}"
            continue ;;
        *'"resources/subscribe"'*never*)
            [ "$starts" = 1 ] || echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32603,\"message\":\"no\"}}"
            [ "$starts" = 1 ] || continue ;;
        *'"resources/subscribe"'*mute*) if [ "$starts" = 2 ]; then continue; fi ;;
        *'"resources/subscribe"'*second*)
            if [ ! -e "$HERE/second" ]; then touch "$HERE/second"; continue; fi ;;
        *'"resources/subscribe"'*moody*)
            if [ "$starts" = 2 ] && [ ! -e "$HERE/moody" ]; then
                touch "$HERE/moody"
                echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32603,\"message\":\"not yet\"}}"
                continue
            fi
            if [ "$starts" = 2 ]; then
                echo '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://moody"}}'
            fi ;;
        *'"resources/'*) ;;
        *) continue ;;
    esac
    echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}"
done
"#;
