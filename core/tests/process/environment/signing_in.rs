//! Which way sign-ins go (SPEC 18.7).

use rig::person::{self, options, visit};
use rig::remote::Remote;
use rig::{Rig, acquire, host};
use serde_json::{Value, json};
use trunkline::{Error, ErrorCode};

use crate::environment::front::{Front, certificate};
use crate::environment::proxy::Proxy;
use crate::environment::{address, proxies, set};

/// A server that wants a token, behind TLS, by a name that nobody but the proxy resolves.
struct Guarded {
    remote: Remote,
    front: Front,
}

impl Guarded {
    /// One that names this authorization server; its own place stands for `$home`.
    fn start(rig: &Rig, issuer: &str) -> Guarded {
        let mut remote = Remote::start(rig, "", &[]);
        let front = Front::start("good", address(&remote));
        let home = format!("https://{}:{}", proxies::NAME, front.address.port());
        let ways = json!({
            "resource": { "resource": "$home/mcp", "authorization_servers": [issuer] },
            "server": {
                "issuer": "$home", "authorization_endpoint": "$home/authorize", "token_endpoint": "$home/token",
                "registration_endpoint": "$home/register",
            },
            "redirect": { "iss": "$home" },
            "challenge": "Bearer resource_metadata=\"$home/.well-known/oauth-protected-resource/mcp\"",
            "uses": [4, 1000],
        });
        let ways = ways.to_string().replace("$home", &home);
        remote.replace(rig, "", &["--http-auth", &ways]);
        Guarded { remote, front }
    }

    fn config(&self, oauth: Value) -> Value {
        let url = format!("https://{}:{}/mcp", proxies::NAME, self.front.address.port());
        json!({ "type": "http", "url": url, "oauth": oauth })
    }

    /// The person is somewhere else, and finds the authorization server without the proxy.
    fn visit(&self, url: &str) -> String {
        let (_, path) = url.split_once("/authorize").unwrap();
        visit(&format!("http://{}/authorize{path}", address(&self.remote)))
    }
}

/// A proxy that the environment names, and an authority that certificates are trusted by.
fn proxy() -> Proxy {
    let listener = proxies::named_by(&["HTTPS_PROXY"]);
    set(&[
        ("SSL_CERT_FILE", certificate("authority").to_str().unwrap()),
        ("NO_PROXY", "localhost"),
    ]);
    Proxy::start(listener, None)
}

/// The names that the proxy was asked for.
fn asked(proxy: &Proxy) -> Vec<String> {
    let name = |head: &String| {
        let target = head.split(' ').nth(1).unwrap();
        target.rsplit_once(':').unwrap().0.to_owned()
    };
    proxy.heads().iter().map(name).collect()
}

/// SPEC 18.7: metadata, registration, token and renewal take the proxy that the connection takes.
#[test]
fn a_sign_in_goes_through_the_proxy() {
    rig::alone!();
    let proxy = proxy();
    let rig = Rig::new(json!({}));
    let guarded = Guarded::start(&rig, "$home");
    host(async {
        rig.configure(json!({ "s": guarded.config(json!({})) })).await;
        let session = rig.session("a");
        person::refusal(&session).await;
        let before = proxy.count("CONNECT");
        let begun = rig.pool.sign_in("s", &options()).await.unwrap();
        assert!(proxy.count("CONNECT") >= before + 3, "two documents and a registration");
        let back = guarded.visit(begun["url"].as_str().unwrap());
        rig.pool.finish_sign_in(&back).await.unwrap();
        let lease = acquire(&session, "s").await;
        for _ in 0..4 {
            person::call(&lease).await.unwrap();
        }
    });
    let requests = guarded.remote.requests();
    let issued = requests.iter().filter(|request| request["path"] == "/token").count();
    assert_eq!(issued, 2, "the sign-in, and a renewal");
    assert!(asked(&proxy).iter().all(|name| name == proxies::NAME), "{:?}", proxy.heads());
}

/// SPEC 18.7: a sign-in that is kept off proxies goes to none, and the error says what could not be
/// reached and how.
#[test]
fn a_sign_in_is_kept_off_the_proxy() {
    rig::alone!();
    let proxy = proxy();
    let rig = Rig::new(json!({}));
    let guarded = Guarded::start(&rig, "$home");
    let error = host(async {
        rig.configure(json!({ "s": guarded.config(json!({ "proxy": "direct" })) })).await;
        person::refusal(&rig.session("a")).await;
        let before = proxy.count("CONNECT");
        let error = rig.pool.sign_in("s", &options()).await.unwrap_err();
        assert_eq!(proxy.count("CONNECT"), before, "{:?}", proxy.heads());
        error
    });
    assert_eq!((error.code(), &error.detail()["kind"]), (ErrorCode::ConnectFailed, &json!("dns")));
    assert!(error.hint().unwrap().contains("oauth.proxy"), "{error}");
}

/// SPEC 18.7, 12.9, S-31: no proxy is asked for a name of this machine or its network, nor, for a
/// project's server, for what the approval did not show.
#[test]
fn no_proxy_is_asked_for_names_of_the_network() {
    rig::alone!();
    let proxy = proxy();
    for issuer in
        ["https://login.corp.internal", "https://localhost:1", "https://vault", "https://a.local."]
    {
        let rig = Rig::new(json!({}));
        let guarded = Guarded::start(&rig, issuer);
        let error = host(refused(&rig, &guarded));
        assert_eq!(error.code(), ErrorCode::Protocol, "{issuer}: {error}");
    }
    for (issuer, is_asked) in [("https://elsewhere.test:1", false), ("$home", true)] {
        let rig = Rig::in_workspace(json!({ "trusted": true, "approvals": "memory" }));
        let guarded = Guarded::start(&rig, issuer);
        host(async {
            let text = json!({ "mcpServers": { "s": guarded.config(json!({})) } }).to_string();
            rig.pool.set_source(&"project".parse().unwrap(), Some(&text)).unwrap();
            let approvals = rig.pool.approvals().await.unwrap();
            let hash = approvals["requests"][0]["hash"].as_str().unwrap().to_owned();
            rig.pool.approve("s", &hash).await.unwrap();
            let begun = rig.pool.sign_in("s", &options()).await;
            assert_eq!(begun.is_ok(), is_asked, "{issuer}: {begun:?}");
        });
    }
    assert!(asked(&proxy).iter().all(|name| name == proxies::NAME), "{:?}", proxy.heads());
}

/// SPEC 18.7: no proxy is asked for a name that `NO_PROXY` has.
#[test]
fn no_proxy_is_asked_for_names_that_go_direct() {
    rig::alone!();
    let proxy = proxy();
    set(&[("NO_PROXY", "direct.test")]);
    for (issuer, is_asked) in [
        ("https://direct.test:1", false),
        ("https://deeper.direct.test:1", false),
        ("https://other.test:1", true),
    ] {
        let rig = Rig::new(json!({}));
        let guarded = Guarded::start(&rig, issuer);
        let error = host(refused(&rig, &guarded));
        assert_eq!(error.code(), ErrorCode::ConnectFailed, "{issuer}: {error}");
        let seen = asked(&proxy).iter().any(|name| issuer.contains(&**name));
        assert_eq!(seen, is_asked, "{issuer}: {:?}", proxy.heads());
    }
}

async fn refused(rig: &Rig, guarded: &Guarded) -> Error {
    rig.configure(json!({ "s": guarded.config(json!({})) })).await;
    rig.pool.sign_in("s", &options()).await.unwrap_err()
}
