//! What a sign-in is good for: who gets the server back, and how tokens are renewed.

use rig::person::{self, assert_shows_no_secret, call, guarded, options, refusal, sign_in, visit};
use rig::remote::Remote;
use rig::{Rig, acquire, host, until, until_it_holds};
use serde_json::{Value, json};
use trunkline::{AcquireOptions, ErrorCode, Session};

/// A pool with one such server as `s`, and a session that wants nothing unasked.
async fn start(rig: &Rig, ways: Value, oauth: Value) -> (Remote, Session) {
    person::start(rig, guarded(rig, &ways, oauth)).await
}

/// How often the authorization server issued a token.
pub fn issued(remote: &Remote) -> usize {
    remote.requests().iter().filter(|request| request["path"] == "/token").count()
}

/// The answers of the server to messages, as far as they name a token.
fn tokens(remote: &Remote) -> Vec<Value> {
    let of_message = |request: &&Value| request["path"] == "/mcp";
    let requests = remote.requests();
    requests.iter().filter(of_message).map(|r| r["headers"]["authorization"].clone()).collect()
}

/// SPEC 15.3: URL out, redirect's URL in; the status says where to sign in.
#[test]
fn a_person_signs_in_and_the_server_is_there() {
    let rig = Rig::new(json!({}));
    host(async {
        let (_remote, session) = start(&rig, json!({}), json!({})).await;
        assert_eq!(refusal(&session).await.detail()["missing"], "token");
        let begun = rig.pool.sign_in("s", &options()).await.unwrap();
        let url = begun["url"].as_str().unwrap();
        let need = rig.pool.status()["servers"]["s"]["auth_need"].clone();
        assert_eq!((&need["missing"], &need["url"]), (&json!("token"), &json!(url)));
        let finished = rig.pool.finish_sign_in(&visit(url)).await.unwrap();
        assert_eq!(finished, json!({ "v": 1, "server": "s" }));
        call(&acquire(&session, "s").await).await.unwrap();
        assert_eq!(rig.pool.status()["servers"]["s"]["auth_need"], Value::Null);
        assert_shows_no_secret(&rig, None);
    });
}

/// SPEC 15.3, 12.7: sessions that want the server unasked get it with the sign-in.
#[test]
fn a_session_that_wants_the_server_gets_it_with_the_sign_in() {
    let rig = Rig::new(json!({}));
    host(async {
        let (_remote, config) = guarded(&rig, &json!({}), json!({}));
        rig.configure(json!({ "s": config })).await;
        let session = rig.session_with(json!({ "id": "a" }));
        let error = session.ready(Some("s"), None).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::AuthRequired);
        sign_in(&rig, "s").await.unwrap();
        session.ready(Some("s"), None).await.unwrap();
        assert!(session.tools().unwrap().iter().any(|tool| &*tool.name == "mcp__s__echo"));
    });
}

/// SPEC 15.3: a token that the server refuses is renewed once, and the message sent again; many at
/// a time renew it once.
#[test]
fn a_token_that_is_refused_is_renewed_once() {
    const CALLS: usize = 12;
    let rig = Rig::new(json!({}));
    host(async {
        // The token is used up in the midst of the calls, and all that are refused wait for one
        // renewal.
        let ways = json!({ "uses": [8, 100_000], "renewal_ms": 2000 });
        let (remote, session) = start(&rig, ways, json!({})).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        let lease = acquire(&session, "s").await;
        let before = lease.generation();
        let done = futures_util::future::join_all((0..CALLS).map(|_| call(&lease))).await;
        assert!(done.iter().all(Result::is_ok), "{done:?}");
        let first = json!("Bearer token-canary-3");
        let calls = |request: &&Value| request["method"] == "tools/call";
        let requests = remote.requests();
        let refused = requests.iter().filter(calls).count() - CALLS;
        let old = requests.iter().filter(calls).filter(|r| r["headers"]["authorization"] == first);
        assert!(refused >= 2 && old.count() >= refused, "{refused} were refused at one time");
        assert_eq!(issued(&remote), 2);
        assert_eq!(lease.generation(), before);
    });
}

/// SPEC 15.3, 8.4: what cannot be renewed wants a sign-in, and is not tried again.
#[test]
fn a_token_that_cannot_be_renewed_wants_a_sign_in() {
    let rig = Rig::new(json!({}));
    host(async {
        let (remote, session) =
            start(&rig, json!({ "uses": 8, "refresh": false }), json!({})).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        let lease = acquire(&session, "s").await;
        let mut failed = None;
        for _ in 0..12 {
            failed = failed.or(call(&lease).await.err());
        }
        assert!(failed.is_some_and(|error| error.code() == ErrorCode::AuthRequired));
        assert_eq!(issued(&remote), 2, "the sign-in, and one refused renewal");
        until(|| rig.pool.status()["servers"]["s"]["entries"][0]["state"] == "auth_required");
        sign_in(&rig, "s").await.unwrap();
        until(|| rig.pool.status()["servers"]["s"]["state"] == "connected");
        call(&lease).await.unwrap();
    });
}

/// SPEC 15.3: a token is renewed before it expires, not after; also where its time is written as a
/// text.
#[test]
fn a_token_that_is_about_to_expire_is_renewed_before_it_is_sent() {
    renewed_before(json!(20));
    renewed_before(json!("20"));
}

fn renewed_before(expires_in: Value) {
    let rig = Rig::new(json!({}));
    host(async {
        let ways = json!({ "token": { "expires_in": expires_in } });
        let (remote, session) = start(&rig, ways, json!({})).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        call(&acquire(&session, "s").await).await.unwrap();
        let sent = tokens(&remote);
        assert!(sent.iter().skip(1).all(|token| *token != "Bearer token-canary-3"), "{sent:?}");
        // Once, though the one that came is about to expire as well.
        assert_eq!(issued(&remote), 2);
    });
}

/// SPEC 15.3: what is renewed meanwhile does not come back after a sign-out.
#[test]
fn a_renewal_that_ends_after_a_sign_out_changes_nothing() {
    let rig = Rig::new(json!({}));
    host(async {
        let ways = json!({ "token": { "expires_in": 20 }, "renewal_ms": 3000 });
        let (remote, session) = start(&rig, ways, json!({})).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        // What connects now renews first.
        let connecting =
            async { drop(session.acquire("s", None, &AcquireOptions::default()).await) };
        let signed_out = async {
            until_it_holds(|| issued(&remote) >= 2).await;
            rig.pool.sign_out("s").await.unwrap()
        };
        let (signed_out, ()) = futures_util::future::join(signed_out, connecting).await;
        assert_eq!(signed_out["signed_out"], true);
        refusal(&session).await;
        assert!(tokens(&remote).iter().all(|token| *token != "Bearer token-canary-2"));
    });
}

/// SPEC 15.3, SPEC 8.4: a call that needs more asks for what there is and what it needs.
#[test]
fn a_call_that_needs_more_wants_a_sign_in_for_all_of_it() {
    let rig = Rig::new(json!({}));
    host(async {
        let ways = json!({ "call_scope": "files:write", "resource": { "scopes_supported": ["files:read"] } });
        let (_remote, session) = start(&rig, ways, json!({})).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        let lease = acquire(&session, "s").await;
        let error = call(&lease).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::AuthRequired);
        assert_eq!(error.detail()["missing"], "scope");
        let begun = rig.pool.sign_in("s", &options()).await.unwrap();
        let url = begun["url"].as_str().unwrap();
        assert!(url.contains("scope=files%3Aread+files%3Awrite"), "{url}");
        rig.pool.finish_sign_in(&visit(url)).await.unwrap();
        until(|| lease.state().is_connected());
        call(&lease).await.unwrap();
    });
}

/// SPEC 15.3: what a server asked for before a renewal it was content with is not asked for later.
#[test]
fn what_a_renewal_has_answered_is_not_asked_for_again() {
    let rig = Rig::new(json!({}));
    host(async {
        let ways = json!({ "uses": [8, 100_000], "challenge": "Bearer scope=\"stale\"" });
        let (remote, session) = start(&rig, ways, json!({ "scopes": ["mine"] })).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        let lease = acquire(&session, "s").await;
        while issued(&remote) < 2 {
            call(&lease).await.unwrap();
        }
        let begun = rig.pool.sign_in("s", &options()).await.unwrap();
        let url = begun["url"].as_str().unwrap();
        assert!(url.contains("scope=mine") && !url.contains("stale"), "{url}");
    });
}

/// SPEC 15.3: a server that wants the same scopes again and again does not send a person to sign in
/// for ever.
#[test]
fn a_server_that_is_never_content_is_given_up() {
    let ways = json!({ "call_scope": "more", "granted": "less" });
    assert!(sign_ins_until_given_up(ways, json!({ "scopes": ["less"] })) <= 5);
}

/// SPEC 15.3: the first sign-in counts as one for the same, though the server alone said what it is
/// for.
#[test]
fn a_server_that_is_not_content_with_what_it_asked_for_first_gets_no_fourth_sign_in() {
    // No single scope is called `a b`: tokens for both are refused too.
    let ways = json!({ "call_scope": "a b", "challenge": "Bearer scope=\"a b\"" });
    assert_eq!(sign_ins_until_given_up(ways, json!({})), 3);
}

fn sign_ins_until_given_up(ways: Value, oauth: Value) -> usize {
    let rig = Rig::new(json!({}));
    let mut signed_in = 1;
    host(async {
        let (_remote, session) = start(&rig, ways, oauth).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        let error = loop {
            let lease = acquire(&session, "s").await;
            let _ = call(&lease).await;
            match sign_in(&rig, "s").await {
                Ok(_) => signed_in += 1,
                Err(error) => break error,
            }
            assert!(signed_in < 10, "it goes on");
        };
        assert_eq!(error.code(), ErrorCode::AuthRequired);
    });
    signed_in
}

/// SPEC 15.3: a client that is known itself needs nobody to sign in.
#[test]
fn a_client_with_credentials_of_its_own_is_let_in_without_a_person() {
    let rig = Rig::new(json!({}));
    host(async {
        let oauth = json!({
            "grant_type": "client_credentials", "client_id": "machine", "client_secret": "secret-canary",
        });
        let ways = json!({ "client": ["machine", "secret-canary"], "uses": 20 });
        let (remote, session) = start(&rig, ways, oauth).await;
        let lease = acquire(&session, "s").await;
        call(&lease).await.unwrap();
        assert_eq!(issued(&remote), 1);
        assert_shows_no_secret(&rig, None);
    });
}

/// SPEC 5.12, 15.3: of such a client nobody hears but by what the server's own refusal led to.
#[test]
fn a_client_whose_own_credentials_are_refused_is_told_so() {
    let rig = Rig::new(json!({}));
    host(async {
        let oauth = json!({
            "grant_type": "client_credentials", "client_id": "machine", "client_secret": "secret-canary",
        });
        let ways = json!({ "client": ["machine", "another"] });
        let (_remote, session) = start(&rig, ways, oauth).await;
        let refused = refusal(&session).await;
        let cause = refused.to_json()["cause"].clone();
        assert_eq!(
            (&cause["code"], &cause["detail"]["status"]),
            (&json!("auth_required"), &json!(400))
        );
        assert!(cause["message"].as_str().unwrap().contains("invalid_client"), "{cause}");
        assert_eq!(rig.pool.status()["servers"]["s"]["last_error"]["cause"], cause);
        assert_shows_no_secret(&rig, Some(&refused));
    });
}

/// S-34, S-48, RFC 8707: a token is asked for the server's address without what may be secret in
/// it, whether the authorization server is found or configured.
#[test]
fn a_secret_in_the_address_of_a_server_is_told_to_nobody_else() {
    let client = json!({
        "grant_type": "client_credentials", "client_id": "machine", "client_secret": "secret-canary",
    });
    let known = json!({ "client": ["machine", "secret-canary"], "uses": 20 });
    for (ways, mut oauth, is_person) in [(known, client, false), (json!({}), json!({}), true)] {
        let rig = Rig::new(json!({}));
        host(async {
            let (remote, mut config) = guarded(&rig, &ways, json!({}));
            if is_person {
                let origin = remote.url.strip_suffix("/mcp").unwrap();
                for (name, path) in [
                    ("authorization", "authorize"),
                    ("token", "token"),
                    ("registration", "register"),
                ] {
                    oauth[format!("{name}_url")] = format!("{origin}/{path}").into();
                }
            }
            config["url"] = format!("{}?key=query-canary#part", remote.url).into();
            config["oauth"] = oauth;
            let (remote, session) = person::start(&rig, (remote, config)).await;
            if is_person {
                refusal(&session).await;
                let begun = rig.pool.sign_in("s", &options()).await.unwrap();
                let url = begun["url"].as_str().unwrap();
                assert!(!url.contains("query-canary") && !url.contains("part"), "{url}");
                assert!(!rig.pool.status().to_string().contains("query-canary"));
                rig.pool.finish_sign_in(&visit(url)).await.unwrap();
            }
            call(&acquire(&session, "s").await).await.unwrap();
            assert_eq!(issued(&remote), 1);
        });
    }
}

/// S-33: a registered client stays with its authorization server, and is registered once.
#[test]
fn a_client_is_registered_once_with_each_authorization_server() {
    let rig = Rig::new(json!({}));
    host(async {
        let (remote, session) = start(&rig, json!({}), json!({})).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        sign_in(&rig, "s").await.unwrap();
        let registered = |remote: &Remote| {
            remote.requests().iter().filter(|request| request["path"] == "/register").count()
        };
        assert_eq!(registered(&remote), 1);
        let (other, config) = guarded(&rig, &json!({}), json!({}));
        rig.configure(json!({ "s": config })).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        assert_eq!((registered(&remote), registered(&other)), (1, 1));
    });
}

/// SPEC 15.3: an authorization server may forget a client that it registered, and sends nobody back
/// then. So a client whose sign-in nobody finished, or that is said to be unknown, is registered
/// anew.
#[test]
fn a_client_that_may_have_been_forgotten_is_registered_again() {
    let registered = |remote: &Remote| {
        remote.requests().iter().filter(|request| request["path"] == "/register").count()
    };
    let unknown = json!({
        "status": "401 Unauthorized", "headers": ["content-type: application/json"],
        "body": r#"{"error":"invalid_client"}"#,
    });
    let rig = Rig::new(json!({}));
    host(async {
        let (remote, _session) = start(&rig, json!({}), json!({})).await;
        sign_in(&rig, "s").await.unwrap();
        for expected in [1, 2] {
            rig.pool.sign_in("s", &options()).await.unwrap();
            assert_eq!(registered(&remote), expected);
        }
    });
    let rig = Rig::new(json!({}));
    host(async {
        let ways = json!({ "answers": { "/token": unknown } });
        let (remote, _session) = start(&rig, ways, json!({})).await;
        for expected in [1, 2] {
            let error = sign_in(&rig, "s").await.unwrap_err();
            assert_eq!((error.code(), registered(&remote)), (ErrorCode::AuthRequired, expected));
        }
    });
    let rig = Rig::new(json!({}));
    host(async {
        let (remote, _session) = start(&rig, json!({}), json!({})).await;
        for expected in [1, 2] {
            rig.pool.sign_in("s", &options()).await.unwrap();
            rig.pool.sign_out("s").await.unwrap();
            assert_eq!(registered(&remote), expected, "nobody finished it");
        }
    });
    let rig = Rig::new(json!({}));
    host(async {
        let (remote, _session) = start(&rig, json!({}), json!({})).await;
        // A person who refuses says nothing of the client.
        let refusals = [("access_denied", 1), ("unauthorized_client", 1), ("invalid_client", 2)];
        for (refusal, expected) in refusals {
            let begun = rig.pool.sign_in("s", &options()).await.unwrap();
            assert_eq!(registered(&remote), expected, "{refusal}");
            let redirect = visit(begun["url"].as_str().unwrap());
            let refused = redirect.replace("code=", &format!("error={refusal}&code="));
            let error = rig.pool.finish_sign_in(&refused).await.unwrap_err();
            assert_eq!(error.detail()["error"], refusal);
        }
        rig.pool.sign_in("s", &options()).await.unwrap();
        assert_eq!(registered(&remote), 3);
    });
    let rig = Rig::new(json!({}));
    host(async {
        let ways = json!({ "uses": 0, "refresh": "invalid_client" });
        let (remote, session) = start(&rig, ways, json!({})).await;
        sign_in(&rig, "s").await.unwrap();
        refusal(&session).await;
        rig.pool.sign_in("s", &options()).await.unwrap();
        assert_eq!(registered(&remote), 2);
    });
}

/// SPEC 15.3: a client is registered for what it asks for, and again when that is more.
#[test]
fn a_client_is_registered_for_the_scopes_that_it_asks_for() {
    let rig = Rig::new(json!({}));
    host(async {
        let ways = json!({
            "registered_scopes": true, "call_scope": "files:write",
            "resource": { "scopes_supported": ["files:read"] },
        });
        let (_remote, session) = start(&rig, ways, json!({})).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        let lease = acquire(&session, "s").await;
        assert_eq!(call(&lease).await.unwrap_err().detail()["missing"], "scope");
        sign_in(&rig, "s").await.unwrap();
        until(|| lease.state().is_connected());
        call(&lease).await.unwrap();
    });
}

/// S-34: what belongs to one server is sent to no other, and never in an address.
#[test]
fn a_token_goes_to_its_own_server_alone() {
    let rig = Rig::new(json!({}));
    host(async {
        let (first, config) = guarded(&rig, &json!({}), json!({}));
        let second = Remote::start(&rig, "auth", &[]);
        let other = json!({ "type": "http", "url": second.url });
        rig.configure(json!({ "s": config, "t": other })).await;
        let session = rig.session("a");
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        call(&acquire(&session, "s").await).await.unwrap();
        session.acquire("t", None, &AcquireOptions::default()).await.err().unwrap();
        let seen = json!(second.requests()).to_string();
        assert!(!seen.contains("canary"), "{seen}");
        let paths: Vec<Value> = first.requests().iter().map(|r| r["path"].clone()).collect();
        assert!(!json!(paths).to_string().contains("token-canary"), "{paths:?}");
        // Another address under the same name begins without credentials.
        rig.configure(json!({ "s": { "type": "http", "url": second.url } })).await;
        refusal(&session).await;
        assert!(!json!(second.requests()).to_string().contains("canary"));
    });
}

/// SPEC 15.3: a header of the configuration is what is sent, and nobody signs in beside it.
#[test]
fn a_header_of_the_configuration_needs_no_sign_in() {
    let rig = Rig::new(json!({}));
    host(async {
        let (remote, mut config) = guarded(&rig, &json!({}), json!({}));
        config["headers"] = json!({ "Authorization": "Bearer mine" });
        rig.configure(json!({ "s": config })).await;
        let session = rig.session("a");
        refusal(&session).await;
        assert_eq!(tokens(&remote), ["Bearer mine"]);
        let error = rig.pool.sign_in("s", &options()).await.unwrap_err();
        assert_eq!(
            (error.code(), &error.detail()["path"]),
            (ErrorCode::InvalidArgument, &json!("server"))
        );
    });
}

/// SPEC 15.3: without a redirect, without a server, or with a local one there is nothing to sign in
/// to.
#[test]
fn a_sign_in_that_cannot_be_is_refused() {
    let rig = Rig::new(json!({}));
    host(async {
        let (_remote, config) = guarded(&rig, &json!({}), json!({}));
        rig.configure(json!({ "s": config, "local": rig.server(&[]) })).await;
        for (server, path) in [("nobody", "server"), ("local", "server"), ("s", "redirect_uri")] {
            let options = trunkline::SignInOptions::default();
            let error = rig.pool.sign_in(server, &options).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidArgument, "{server}");
            assert_eq!(error.detail()["path"], path);
        }
        let error = rig.pool.finish_sign_in("http://localhost:3000/?code=a&state=b").await;
        assert_eq!(error.unwrap_err().code(), ErrorCode::InvalidArgument);
    });
}

/// SPEC 15.3: what is signed out is sent no more.
#[test]
fn a_sign_out_forgets_the_token() {
    let rig = Rig::new(json!({}));
    host(async {
        let (_remote, session) = start(&rig, json!({}), json!({})).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        let lease = acquire(&session, "s").await;
        assert_eq!(rig.pool.sign_out("s").await.unwrap()["signed_out"], true);
        assert_eq!(call(&lease).await.unwrap_err().code(), ErrorCode::AuthRequired);
        assert_eq!(rig.pool.sign_out("s").await.unwrap()["signed_out"], false);
    });
}
