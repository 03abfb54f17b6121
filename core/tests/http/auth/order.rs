//! Sign-ins and sign-outs at one time: what was asked for last stands (SPEC 15.3).

use futures_util::future::join;
use rig::person::{guarded, options, refusal, sign_in, start, visit};
use rig::remote::Remote;
use rig::{Rig, acquire, host};
use serde_json::{Value, json};
use trunkline::{ErrorCode, Session, SignInOptions};

fn signal(remote: &Remote, name: &str) {
    let pid = remote.pid().to_string();
    let sent = std::process::Command::new("kill").args([&format!("-{name}"), &pid]).status();
    assert!(sent.unwrap().success());
}

/// Signs out while a future waits for the server, which goes on then.
async fn signed_out_meanwhile<T>(
    rig: &Rig,
    remote: &Remote,
    waiting: impl Future<Output = T>,
) -> T {
    signal(remote, "STOP");
    let sign_out = async {
        tokio::task::yield_now().await;
        rig.pool.sign_out("s").await.unwrap();
        signal(remote, "CONT");
    };
    join(waiting, sign_out).await.0
}

/// Nothing lets the session in, until somebody signs in again.
async fn stays_signed_out(rig: &Rig, session: &Session) {
    assert_eq!(refusal(session).await.code(), ErrorCode::AuthRequired);
    sign_in(rig, "s").await.unwrap();
    acquire(session, "s").await;
}

/// SPEC 15.3: who signed out has no token a moment later.
#[test]
fn a_sign_in_that_ends_after_a_sign_out_changes_nothing() {
    let rig = Rig::new(json!({}));
    host(async {
        let (remote, session) = start(&rig, guarded(&rig, &json!({}), json!({}))).await;
        let begun = rig.pool.sign_in("s", &options()).await.unwrap();
        let back = visit(begun["url"].as_str().unwrap());
        let finished = signed_out_meanwhile(&rig, &remote, rig.pool.finish_sign_in(&back)).await;
        assert_eq!(finished.unwrap_err().code(), ErrorCode::InvalidArgument);
        stays_signed_out(&rig, &session).await;
    });
}

/// SPEC 15.3: nor can one be finished that was asked for before.
#[test]
fn a_sign_in_that_begins_after_a_sign_out_that_came_later_is_over() {
    let rig = Rig::new(json!({}));
    host(async {
        let (remote, session) = start(&rig, guarded(&rig, &json!({}), json!({}))).await;
        let begun = signed_out_meanwhile(&rig, &remote, rig.pool.sign_in("s", &options())).await;
        let back = visit(begun.unwrap()["url"].as_str().unwrap());
        let finished = rig.pool.finish_sign_in(&back).await;
        assert_eq!(finished.unwrap_err().code(), ErrorCode::InvalidArgument);
        stays_signed_out(&rig, &session).await;
    });
}

/// One whose client is known to the authorization server, so that it takes an exchange less.
fn known() -> SignInOptions {
    let known = json!({ "redirect_uri": "http://localhost:3000/known" });
    SignInOptions::from_json(&known.to_string()).unwrap()
}

/// SPEC 15.3: a sign-in that takes longer, and that nobody may wait for any more, does not end one
/// that was asked for after it.
#[test]
fn of_two_sign_ins_the_one_that_was_asked_for_last_stands() {
    let rig = Rig::new(json!({}));
    host(async {
        let (_remote, session) = start(&rig, guarded(&rig, &json!({}), json!({}))).await;
        let known = known();
        let begun = rig.pool.sign_in("s", &known).await.unwrap();
        rig.pool.finish_sign_in(&visit(begun["url"].as_str().unwrap())).await.unwrap();
        // The first makes its client known to the authorization server, which is one exchange more.
        let both = join(rig.pool.sign_in("s", &options()), rig.pool.sign_in("s", &known)).await;
        let (first, last) = (both.0.unwrap(), both.1.unwrap());
        let last = rig.pool.finish_sign_in(&visit(last["url"].as_str().unwrap())).await;
        assert_eq!(last.unwrap()["server"], "s");
        let first = rig.pool.finish_sign_in(&visit(first["url"].as_str().unwrap())).await;
        assert_eq!(first.unwrap_err().code(), ErrorCode::InvalidArgument);
        acquire(&session, "s").await;
    });
}

/// SPEC 15.3: nor when that one is finished before it is ready.
#[test]
fn a_sign_in_that_is_ready_after_a_later_one_was_finished_is_over() {
    let rig = Rig::new(json!({}));
    host(async {
        let ways = json!({ "registration_ms": 300 });
        let (_remote, session) = start(&rig, guarded(&rig, &ways, json!({}))).await;
        let finish = async |begun: Value| {
            rig.pool.finish_sign_in(&visit(begun["url"].as_str().unwrap())).await
        };
        finish(rig.pool.sign_in("s", &known()).await.unwrap()).await.unwrap();
        let (slow, known) = (options(), known());
        let last = async { finish(rig.pool.sign_in("s", &known).await.unwrap()).await };
        let (first, last) = join(rig.pool.sign_in("s", &slow), last).await;
        last.unwrap();
        let first = finish(first.unwrap()).await;
        assert_eq!(first.unwrap_err().code(), ErrorCode::InvalidArgument);
        acquire(&session, "s").await;
    });
}
