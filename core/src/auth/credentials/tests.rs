//! What becomes of a renewal.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use trunkline_pool::options::{HandlerKind, Handlers};

use super::*;
use crate::ErrorCode;
use crate::auth::tests::{Issuer, granted};
use crate::auth::{Author, Context, CredentialAttempt, Rejection};
use crate::folder::Folder;

/// A token that lives for so many seconds.
fn token(token: &str, seconds: u64) -> Value {
    let refresh = format!("{token}-refresh");
    json!({ "access_token": token, "token_type": "bearer", "expires_in": seconds, "refresh_token": refresh })
}

fn file(folder: &Folder) -> Arc<Store> {
    Store::open(folder.join("tokens.json").to_str().unwrap()).unwrap()
}

/// The credentials of a pool that begins.
fn of_pool(issuer: &Issuer, handlers: &Handlers, store: Option<Arc<Store>>) -> Arc<Credentials> {
    let context = Context::of_pool(handlers, Duration::from_secs(5), store);
    context.of(&"s".into(), &issuer.spec(), Author::Host).unwrap()
}

async fn signed_in(credentials: &Credentials, token: Value) {
    signed_in_apart(credentials, token).await;
    credentials.keep_grant().await.unwrap();
}

/// A person signed in, and nothing is in the file of it yet.
async fn signed_in_apart(credentials: &Credentials, token: Value) {
    let (grant, kept) = granted(credentials, &[], token).await;
    grant.mark_removed();
    credentials.comes_after_kept(&grant).await;
    credentials.signed_in(Ordinal::default(), grant, Token::of_kept(&kept).unwrap());
}

/// Whether there is another token than the one that is sent, which the server refuses.
async fn has_other(credentials: &Arc<Credentials>) -> bool {
    let sent = credentials.header();
    let refused = Rejection {
        sent: sent.as_ref(),
        challenge: None,
        is_unknown: true,
        turn: CredentialAttempt::First,
    };
    credentials.has_other(refused).await
}

/// Messages go out, each a while after the one before.
async fn send(credentials: &Arc<Credentials>) {
    for _ in 0..4 {
        credentials.prepare().await;
        credentials.state().renewed = None;
    }
}

/// SPEC 15.3: an authorization server that lets a token live on issues no other. It is asked once
/// for that, not for ever; a server that refuses the token has another reason for it.
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

/// I-26: a token in the file that is about to expire is no other, though it seems to live on after
/// a clock was set back.
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

/// A host that has this token.
fn with_token(token: &'static str) -> Handlers {
    Handlers::new().with(HandlerKind::Credentials, move |_| {
        std::future::ready(Ok(json!({ "token": token }).to_string()))
    })
}

/// What an authorization server says of a grant that is over.
fn refusal() -> Value {
    json!({ "status": 400, "error": "invalid_grant" })
}

/// Nobody can write the file, until this is dropped.
fn block(folder: &Folder) -> Blocked {
    Blocked::new(folder, "tokens.json.new")
}

/// A folder in the place of a file, which can be neither read nor replaced.
struct Blocked {
    place: PathBuf,
    aside: Option<PathBuf>,
}

impl Blocked {
    fn new(folder: &Folder, name: &str) -> Blocked {
        let (place, aside) = (folder.join(name), folder.join("aside"));
        let aside = std::fs::rename(&place, &aside).is_ok().then_some(aside);
        std::fs::create_dir(&place).unwrap();
        Blocked { place, aside }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        std::fs::remove_dir(&self.place).unwrap();
        self.aside.iter().for_each(|aside| std::fs::rename(aside, &self.place).unwrap());
    }
}

/// SPEC 14.2, S-47: what a sign-in lets in that could not be kept is not there for the next
/// process, until a renewal of it is kept.
#[tokio::test]
async fn what_is_listed_for_a_sign_in_that_was_not_kept_is_passing() {
    let issuer = Issuer::new(token("second", 3600)).await;
    let folder = Folder::new();
    let context = Context::of_pool(&Handlers::new(), Duration::ZERO, Some(file(&folder)));
    let spec = issuer.spec();
    let credentials = context.of(&"s".into(), &spec, Author::Host).unwrap();
    let is_passing = || context.is_passing(&"s".into(), &spec, Author::Host);
    assert!(!is_passing(), "it is let in by nothing");
    let blocked = block(&folder);
    let (grant, kept) = granted(&credentials, &[], token("first", 3600)).await;
    credentials.signed_in(Ordinal::default(), grant, Token::of_kept(&kept).unwrap());
    let kept = credentials.keep_grant().await;
    assert!(kept.is_err() && is_passing(), "{kept:?}");
    drop(blocked);
    signed_in(&credentials, token("first", 3600)).await;
    assert!(!is_passing());
    let blocked = block(&folder);
    assert!(has_other(&credentials).await && is_passing(), "its renewal was not kept");
    drop(blocked);
    issuer.answers(token("third", 3600));
    assert!(has_other(&credentials).await && !is_passing());
}

/// SPEC 14.2, S-47: nor is what the host gives in place of a sign-in that cannot be renewed any
/// more.
#[tokio::test]
async fn what_is_listed_for_a_token_of_the_host_is_passing_after_a_sign_in_too() {
    let issuer = Issuer::new(refusal()).await;
    let folder = Folder::new();
    let host = with_token("of-the-host");
    let context = Context::of_pool(&host, Duration::from_secs(5), Some(file(&folder)));
    let spec = issuer.spec();
    let credentials = context.of(&"s".into(), &spec, Author::Host).unwrap();
    let is_passing = || context.is_passing(&"s".into(), &spec, Author::Host);
    signed_in(&credentials, token("first", 3600)).await;
    assert!(!is_passing());
    assert!(has_other(&credentials).await);
    assert_eq!(credentials.header().unwrap(), "Bearer of-the-host");
    assert!(is_passing());
    signed_in(&credentials, token("second", 3600)).await;
    assert!(!is_passing());
}

/// SPEC 14.2: a client that is let in by its configuration is in every process that has it.
#[tokio::test]
async fn what_is_listed_for_a_client_of_the_configuration_is_not_passing() {
    let issuer = Issuer::new(token("own", 3600)).await;
    let folder = Folder::new();
    let context = Context::of_pool(&Handlers::new(), Duration::ZERO, Some(file(&folder)));
    let of_client =
        json!({ "grant_type": "client_credentials", "client_id": "c", "client_secret": "s" });
    let spec = issuer.spec_with(of_client);
    let credentials = context.of(&"s".into(), &spec, Author::Host).unwrap();
    assert!(has_other(&credentials).await);
    assert_eq!(credentials.header().unwrap(), "Bearer own");
    assert!(!context.is_passing(&"s".into(), &spec, Author::Host));
}

/// Two processes that share a file. The first signed in, and renewed that without being able to
/// keep it.
async fn unkept(issuer: &Issuer, folder: &Folder) -> [Arc<Credentials>; 2] {
    let both = [(); 2].map(|()| of_pool(issuer, &Handlers::new(), Some(file(folder))));
    signed_in(&both[0], token("first", 3600)).await;
    issuer.answers(token("second", 3600));
    let blocked = block(folder);
    assert!(has_other(&both[0]).await);
    drop(blocked);
    both
}

/// SPEC 13.7, 15.3: what was signed in for elsewhere takes the place of a grant that could not be
/// kept and is over.
#[tokio::test]
async fn a_sign_in_elsewhere_follows_a_grant_that_was_not_kept() {
    let issuer = Issuer::new(refusal()).await;
    // What is in the file may be about to expire as well.
    for lives in [3600, 20] {
        let folder = Folder::new();
        let [first, second] = unkept(&issuer, &folder).await;
        issuer.answers(refusal());
        assert!(!has_other(&first).await, "the file has what the renewal began with");
        signed_in(&second, token("elsewhere", lives)).await;
        let sent = if lives == 20 { "Bearer renewed" } else { "Bearer elsewhere" };
        if lives == 20 {
            issuer.answers_to("elsewhere-refresh", token("renewed", 3600));
        }
        assert!(has_other(&first).await);
        assert_eq!(first.header().unwrap(), sent);
        issuer.answers(token("next", 3600));
        assert!(has_other(&first).await && has_other(&second).await);
        assert_eq!([&first, &second].map(|one| one.header().unwrap()), ["Bearer next"; 2]);
    }
}

/// SPEC 15.3: an authorization server that is away, or has no time, says nothing of the grant, nor
/// does a proxy before it.
#[tokio::test]
async fn a_grant_that_was_not_kept_outlives_an_outage() {
    let (issuer, folder) = (Issuer::new(Value::Null).await, Folder::new());
    let [first, second] = unkept(&issuer, &folder).await;
    signed_in(&second, token("elsewhere", 3600)).await;
    for answer in [
        json!({ "status": 503 }),
        json!({ "status": 503, "error": "invalid_grant" }),
        json!({ "status": 429, "error": "too_many_requests" }),
        json!({ "status": 408 }),
        json!({ "status": 403, "error": "Forbidden" }),
        json!({ "status": 404 }),
    ] {
        issuer.answers(answer.clone());
        assert!(!has_other(&first).await, "{answer}");
    }
    issuer.answers(token("third", 3600));
    assert!(has_other(&first).await);
    assert_eq!(first.header().unwrap(), "Bearer third");
}

/// SPEC 15.3: what a sign-in was to replace does not follow it, nor what somebody signed out of,
/// though neither could be taken out of the file.
#[tokio::test]
async fn what_a_sign_in_replaced_does_not_follow_it() {
    let (issuer, folder) = (Issuer::new(refusal()).await, Folder::new());
    let credentials = of_pool(&issuer, &Handlers::new(), Some(file(&folder)));
    signed_in(&credentials, token("first", 3600)).await;
    for (name, signs_out) in
        [("tokens.json.new", false), ("tokens.json.new", true), ("tokens.json", true)]
    {
        let blocked = Blocked::new(&folder, name);
        if signs_out {
            credentials.sign_out();
            credentials.forget_kept().await.unwrap_err();
        }
        signed_in_apart(&credentials, token("second", 3600)).await;
        credentials.keep_grant().await.unwrap_err();
        drop(blocked);
        assert!(!has_other(&credentials).await, "{name}, {signs_out}");
        assert_eq!(credentials.header().unwrap(), "Bearer second");
    }
}

/// SPEC 15.3: nor does it where another process has renewed it since.
#[tokio::test]
async fn what_a_sign_in_replaced_does_not_follow_it_renewed() {
    let (issuer, folder) = (Issuer::new(token("renewed", 3600)).await, Folder::new());
    let [first, second] = [(); 2].map(|()| of_pool(&issuer, &Handlers::new(), Some(file(&folder))));
    signed_in(&first, token("replaced", 3600)).await;
    let blocked = block(&folder);
    signed_in_apart(&first, token("own", 3600)).await;
    first.keep_grant().await.unwrap_err();
    drop(blocked);
    assert!(has_other(&second).await && has_other(&second).await);
    assert_eq!(second.header().unwrap(), "Bearer renewed");
    issuer.answers(refusal());
    assert!(!has_other(&first).await);
    assert_eq!(first.header().unwrap(), "Bearer own");
}

/// SPEC 15.3: nor before it is kept, although the clock was set back by an hour, or the file could
/// not be read by then.
#[tokio::test]
async fn what_a_sign_in_is_about_to_replace_does_not_follow_it() {
    let issuer = Issuer::new(refusal()).await;
    for (is_readable, ahead_ms) in [(true, 0), (true, 3_600_000), (false, 3_600_000)] {
        let folder = Folder::new();
        let credentials = of_pool(&issuer, &Handlers::new(), Some(file(&folder)));
        let (_, mut kept) = granted(&credentials, &[], token("replaced", 3600)).await;
        kept.signed_in_ms += ahead_ms;
        file(&folder).keep(kept, |_| true).await.unwrap();
        let blocked = (!is_readable).then(|| Blocked::new(&folder, "tokens.json"));
        signed_in_apart(&credentials, token("own", 3600)).await;
        drop(blocked);
        assert!(!has_other(&credentials).await, "{is_readable}, {ahead_ms}");
        assert_eq!(credentials.header().unwrap(), "Bearer own");
    }
}

/// SPEC 15.3: a refresh token that was refused for good is not sent again by later calls, in any
/// session. After a new sign-in it is sent, even where it is the same token. An authorization
/// server that is unreachable, or refused for another reason, is asked again.
#[tokio::test]
async fn a_renewal_that_was_refused_is_asked_for_once() {
    const CALLS: usize = 3;
    for (answer, asked) in [
        (refusal(), 1),
        (json!({ "status": 401, "error": "invalid_grant" }), 1),
        (json!({ "status": 200, "error": "invalid_grant" }), 1),
        (json!({ "status": 400, "error": "bad_refresh_token" }), 1),
        (json!({ "status": 400, "error": "invalid_refresh_token" }), 1),
        (json!({ "status": 503, "error": "invalid_grant" }), CALLS),
        (json!({ "status": 400, "error": "invalid_request" }), CALLS),
        (json!({ "status": 401, "error": "invalid_client" }), CALLS),
        (json!({ "status": 429 }), CALLS),
    ] {
        for is_in_file in [false, true] {
            let (issuer, folder) = (Issuer::new(answer.clone()).await, Folder::new());
            let store = || is_in_file.then(|| file(&folder));
            let credentials = of_pool(&issuer, &Handlers::new(), store());
            signed_in(&credentials, token("first", 3600)).await;
            for _ in 0..CALLS {
                assert!(!has_other(&credentials).await, "{answer}");
                let why = credentials.unrenewed().unwrap();
                assert_eq!(why.code(), ErrorCode::AuthRequired, "{answer}: {why}");
            }
            assert_eq!(issuer.asked(), asked, "{answer}, {is_in_file}");
            if is_in_file {
                let another = of_pool(&issuer, &Handlers::new(), store());
                assert!(has_other(&another).await, "what is kept was not refused there");
                for _ in 0..CALLS {
                    assert!(!has_other(&another).await);
                }
                assert_eq!(issuer.asked(), 2 * asked, "{answer}, in another process");
            }
            let before = issuer.asked();
            signed_in(&credentials, token("first", 3600)).await;
            assert!(!has_other(&credentials).await);
            assert_eq!(issuer.asked(), before + 1, "{answer}, {is_in_file}");
        }
    }
}

/// SPEC 15.3, 18.7: a client that the authorization server does not know is not shown to it by each
/// call. It is shown again after a while, or once somebody has signed out.
#[tokio::test]
async fn a_client_that_is_unknown_is_shown_once_in_a_while() {
    const CALLS: usize = 3;
    for (answer, asked) in [
        (json!({ "status": 401, "error": "invalid_client" }), 1),
        (json!({ "status": 400, "error": "unauthorized_client" }), 1),
        (json!({ "status": 200, "error": "invalid_client" }), 1),
        (json!({ "status": 503, "error": "invalid_client" }), CALLS),
        (json!({ "status": 400, "error": "invalid_scope" }), CALLS),
        (json!({ "status": 429 }), CALLS),
    ] {
        let issuer = Issuer::new(answer.clone()).await;
        let spec = issuer.spec_with(json!({
            "grant_type": "client_credentials", "client_id": "machine", "client_secret": "secret",
        }));
        let context = Context::of_pool(&Handlers::new(), Duration::from_secs(5), None);
        let credentials = context.of(&"s".into(), &spec, Author::Host).unwrap();
        let afresh: [fn(&Credentials); 3] = [
            |_| {},
            |credentials| credentials.spent.rested(),
            |credentials| assert!(!credentials.sign_out(), "there is no token"),
        ];
        for begin in afresh {
            begin(&credentials);
            let before = issuer.asked();
            for _ in 0..CALLS {
                assert!(!has_other(&credentials).await, "{answer}");
                let why = credentials.unrenewed().unwrap();
                assert_eq!(why.code(), ErrorCode::AuthRequired, "{answer}: {why}");
            }
            assert_eq!(issuer.asked() - before, asked, "{answer}");
        }
        let shown = credentials.spent.refusal_of_client("another");
        assert!(shown.is_none(), "a file may say another secret by now");
    }
}
