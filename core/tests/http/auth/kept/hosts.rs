//! Hosts one after another, and several in one process.

use rig::person::{assert_shows_no_secret, options, sign_in, visit};
use rig::{acquire, host, until_it_holds};
use serde_json::json;
use trunkline::{AcquireOptions, ErrorCode};

use super::{Home, call, mode, refusal};

/// SPEC 15.3, S-12, S-48: what was signed in is there for the next host, nobody else can read it,
/// and a sign-out removes it.
#[test]
fn a_sign_in_outlives_the_host_until_it_is_signed_out() {
    let home = Home::new(json!({}));
    let first = home.pool();
    host(async {
        let session = home.session(&first).await;
        refusal(&session).await;
        assert_eq!(sign_in(&first, "s").await.unwrap()["stored"], true);
        call(&acquire(&session, "s").await).await.unwrap();
        assert_shows_no_secret(&first, None);
        assert_eq!((mode(&home.tokens), mode(home.folder())), (0o600, 0o700));
        let [grant] = &home.grants()[..] else { panic!("one grant") };
        assert_eq!(grant["resource"], home.remote.url);
    });
    drop(first);
    let second = home.pool();
    host(async {
        let session = home.session(&second).await;
        call(&acquire(&session, "s").await).await.unwrap();
        assert_eq!(home.issued(), 1, "nobody signed in, and nothing was renewed");
        assert_shows_no_secret(&second, None);
        assert_eq!(second.pool.sign_out("s").await.unwrap()["signed_out"], true);
        assert!(home.grants().is_empty());
        assert_eq!(second.pool.sign_out("s").await.unwrap()["signed_out"], false);
    });
    drop(second);
    let third = home.pool();
    host(async {
        let session = home.session(&third).await;
        assert_eq!(refusal(&session).await.code(), ErrorCode::AuthRequired);
    });
}

/// SPEC 15.3: a sign-in belongs to its configuration in the file too.
#[test]
fn another_configuration_takes_no_kept_sign_in() {
    let mut home = Home::new(json!({}));
    let first = home.pool();
    host(async {
        let _session = home.session(&first).await;
        sign_in(&first, "s").await.unwrap();
    });
    drop(first);
    home.config["headers"] = json!({ "x-account": "another" });
    let second = home.pool();
    host(async {
        let session = home.session(&second).await;
        assert_eq!(refusal(&session).await.code(), ErrorCode::AuthRequired);
        sign_in(&second, "s").await.unwrap();
        assert_eq!(home.grants().len(), 2);
        assert_eq!(second.pool.sign_out("s").await.unwrap()["signed_out"], true);
        assert_eq!(home.grants().len(), 1);
    });
}

/// SPEC 15.3: a token that is dead at the start is renewed, and what renews it is kept in its
/// place.
#[test]
fn a_kept_token_that_is_refused_is_renewed() {
    let home = Home::new(json!({ "uses": [0, 1000] }));
    let first = home.pool();
    let session = host(async {
        let session = home.session(&first).await;
        let url = first.pool.sign_in("s", &options()).await.unwrap();
        let _ = first.pool.finish_sign_in(&visit(url["url"].as_str().unwrap())).await;
        session
    });
    drop(session);
    drop(first);
    for _ in 0..2 {
        let next = home.pool();
        host(async {
            let session = home.session(&next).await;
            call(&acquire(&session, "s").await).await.unwrap();
        });
        drop(next);
        assert_eq!((home.issued(), home.grants().len()), (2, 1));
    }
}

/// SPEC 15.3: of one grant one renewal on the machine; the second takes what the first was issued.
#[test]
fn two_hosts_renew_a_grant_once() {
    let home = Home::new(json!({ "uses": [40, 100_000], "renewal_ms": 200 }));
    let (first, second) = (home.pool(), home.pool());
    host(async {
        let one = home.session(&first).await;
        refusal(&one).await;
        sign_in(&first, "s").await.unwrap();
        let two = home.session(&second).await;
        let (one, two) = (acquire(&one, "s").await, acquire(&two, "s").await);
        for _ in 0..30 {
            let (a, b) = tokio::join!(call(&one), call(&two));
            a.unwrap();
            b.unwrap();
        }
        assert_eq!((home.issued(), home.grants().len()), (2, 1));
    });
}

/// SPEC 15.3: what somebody signed out of is not put back by a renewal that ends later.
#[test]
fn a_renewal_that_ends_late_keeps_nothing() {
    let home = Home::new(json!({ "uses": [0, 1000], "renewal_ms": 3000 }));
    let (first, second) = (home.pool(), home.pool());
    host(async {
        let _one = home.session(&first).await;
        sign_in(&first, "s").await.unwrap();
        let two = home.session(&second).await;
        let acquiring = async {
            let acquired = two.acquire("s", None, &AcquireOptions::default()).await;
            acquired.map(drop)
        };
        let leaving = async {
            until_it_holds(|| home.issued() >= 2).await;
            second.pool.sign_out("s").await.unwrap();
        };
        let (acquired, ()) = tokio::join!(acquiring, leaving);
        assert_eq!(acquired.err().map(|error| error.code()), Some(ErrorCode::AuthRequired));
        assert!(home.grants().is_empty());
    });
}

/// SPEC 15.3: what somebody signed out of elsewhere is used until it is refused, and not renewed.
#[test]
fn a_sign_out_of_one_host_ends_the_sign_in_of_another() {
    let home = Home::new(json!({ "uses": [20, 1000] }));
    let (first, second) = (home.pool(), home.pool());
    host(async {
        let session = home.session(&first).await;
        refusal(&session).await;
        sign_in(&first, "s").await.unwrap();
        let lease = acquire(&session, "s").await;
        let _other = home.session(&second).await;
        assert_eq!(second.pool.sign_out("s").await.unwrap()["signed_out"], true);
        call(&lease).await.unwrap();
        let mut refused = None;
        for _ in 0..20 {
            refused = refused.or(call(&lease).await.err());
        }
        assert_eq!(refused.map(|error| error.code()), Some(ErrorCode::AuthRequired));
        assert_eq!((home.issued(), home.grants().len()), (1, 0));
    });
}

/// SPEC 15.3: a sign-in that another host made with a client of its own is renewed by that client.
#[test]
fn a_sign_in_by_the_client_of_another_host_is_renewed() {
    // The token of the first is of no use, and both are about to expire.
    let home = Home::new(json!({ "uses": [0, 1000, 1000], "token": { "expires_in": 20 } }));
    let (first, second) = (home.pool(), home.pool());
    host(async {
        let one = home.session(&first).await;
        let url = first.pool.sign_in("s", &options()).await.unwrap();
        first.pool.finish_sign_in(&visit(url["url"].as_str().unwrap())).await.unwrap();
        let of_first = home.grants()[0]["client_id"].clone();
        let _two = home.session(&second).await;
        sign_in(&second, "s").await.unwrap();
        let of_second = home.grants()[0]["client_id"].clone();
        assert_ne!(of_first, of_second, "each host has registered a client");
        call(&acquire(&one, "s").await).await.unwrap();
        let [grant] = &home.grants()[..] else { panic!("one grant") };
        assert_eq!((&grant["client_id"], home.issued()), (&of_second, 3));
    });
}

/// SPEC 15.3: a renewal by one host takes nothing away from what another has signed in for since.
#[test]
fn a_sign_in_for_more_by_another_host_stays_one_for_more() {
    let ways = json!({
        "call_scope": "write", "resource": { "scopes_supported": ["read"] }, "token": { "expires_in": 20 },
    });
    let mut home = Home::new(ways);
    home.config["oauth"] = json!({ "client_id": "known" });
    let (first, second) = (home.pool(), home.pool());
    host(async {
        let one = home.session(&first).await;
        sign_in(&first, "s").await.unwrap();
        let two = home.session(&second).await;
        let error = call(&acquire(&two, "s").await).await.unwrap_err();
        assert_eq!(error.detail()["missing"], "scope");
        sign_in(&second, "s").await.unwrap();
        assert_eq!(home.grants()[0]["scopes"], json!(["read", "write"]));
        let before = home.issued();
        call(&acquire(&one, "s").await).await.unwrap();
        assert!(home.issued() > before, "it was renewed");
        assert_eq!(home.grants()[0]["scopes"], json!(["read", "write"]));
    });
}

/// SPEC 15.3: a sign-in is later than the one that it replaces, also when the clock was set back
/// since.
#[test]
fn a_sign_in_is_later_than_what_it_replaces() {
    let home = Home::new(json!({}));
    let pool = home.pool();
    host(async {
        let _session = home.session(&pool).await;
        sign_in(&pool, "s").await.unwrap();
        let mut grants = home.grants();
        let ahead = grants[0]["signed_in_ms"].as_u64().unwrap() + 3_600_000;
        grants[0]["signed_in_ms"] = json!(ahead);
        std::fs::write(&home.tokens, json!({ "v": 1, "grants": grants }).to_string()).unwrap();
        sign_in(&pool, "s").await.unwrap();
        let [grant] = &home.grants()[..] else { panic!("one grant") };
        assert!(grant["signed_in_ms"].as_u64().unwrap() > ahead, "{}", grant["signed_in_ms"]);
    });
}

/// SPEC 18.7: how a registered client proves who it is outlives the host, also where the metadata
/// say otherwise.
#[test]
fn what_a_registration_says_outlives_the_host() {
    let home = Home::new(json!({
        "client": ["x", "secret-canary"], "uses": [0, 1000],
        "server": { "token_endpoint_auth_methods_supported": ["client_secret_basic"] },
        "registration": {
            "client_id": "x", "client_secret": "secret-canary", "token_endpoint_auth_method": "client_secret_post",
            "client_secret_expires_at": "4000000000",
        },
    }));
    let first = home.pool();
    host(async {
        let _session = home.session(&first).await;
        sign_in(&first, "s").await.unwrap();
        let [grant] = &home.grants()[..] else { panic!("one grant") };
        assert_eq!(grant["client_authentication"], "client_secret_post");
        assert_eq!(grant["client_expires_at"], 4_000_000_000_u64);
    });
    drop(first);
    let second = home.pool();
    host(async {
        let session = home.session(&second).await;
        call(&acquire(&session, "s").await).await.unwrap();
        assert_eq!(home.issued(), 2, "the sign-in, and a renewal");
        assert_shows_no_secret(&second, None);
    });
}

/// SPEC 18.7: a client whose secret has expired renews nothing, and the next sign-in registers
/// another.
#[test]
fn a_client_whose_registration_is_over_is_registered_anew() {
    let home = Home::new(json!({
        "uses": [0, 0, 1000],
        "registration": { "client_secret": "secret-canary", "client_secret_expires_at": 1 },
    }));
    let pool = home.pool();
    let registered = || {
        let requests = home.remote.requests();
        requests.iter().filter(|request| request["path"] == "/register").count()
    };
    host(async {
        let session = home.session(&pool).await;
        sign_in(&pool, "s").await.unwrap();
        assert_eq!(refusal(&session).await.code(), ErrorCode::AuthRequired);
        assert_eq!((home.issued(), registered()), (1, 1), "nothing was renewed");
        sign_in(&pool, "s").await.unwrap();
        assert_eq!(registered(), 2);
    });
}
