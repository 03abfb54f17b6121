//! A server that may not run is not signed in to either: nothing is asked of it, nor of its
//! authorization server.

use rig::person::{self, guarded, options, visit};
use rig::remote::Remote;
use rig::{Folder, HANG, Rig, host, until};
use serde_json::{Value, json};
use trunkline::{Error, ErrorCode, EventMask, GateLists};

use crate::trap::Trap;

/// How many requests went to the server or to its authorization server.
fn asked(remote: &Remote) -> usize {
    remote.requests().len()
}

fn exclude(rig: &Rig) {
    let lists = GateLists::new(None, vec!["s".into()], Vec::new());
    rig.pool.set_gates(lists).unwrap();
}

fn reason(result: Result<Value, Error>) -> Value {
    let error = result.unwrap_err();
    assert_eq!((error.code(), error.server()), (ErrorCode::NotAdmitted, Some("s")), "{error:?}");
    error.detail()["reason"].clone()
}

/// What the status says that the server wants.
fn need(rig: &Rig) -> Value {
    rig.pool.status()["servers"]["s"]["auth_need"].clone()
}

fn in_project(rig: &Rig, config: &Value) {
    let text = json!({ "mcpServers": { "s": config } }).to_string();
    rig.pool.set_source(&"project".parse().unwrap(), Some(&text)).unwrap();
}

async fn hash(rig: &Rig) -> String {
    let approvals = rig.pool.approvals().await.unwrap();
    approvals["requests"][0]["hash"].as_str().unwrap().to_owned()
}

/// S-02, SPEC 11.5: nobody is called for a server that the lists keep out.
#[test]
fn a_server_that_is_excluded_is_not_signed_in_to() {
    let rig = Rig::new(json!({}));
    host(async {
        let (remote, config) = guarded(&rig, &json!({}), json!({}));
        rig.configure(json!({ "s": config })).await;
        exclude(&rig);
        assert_eq!(reason(rig.pool.sign_in("s", &options()).await), "excluded");
        assert_eq!(asked(&remote), 0);
        rig.pool.set_gates(GateLists::default()).unwrap();
        rig.pool.sign_in("s", &options()).await.unwrap();
    });
}

/// S-02, SPEC 11.5: what was begun is not ended once the server is kept out; the address counts for
/// nothing.
#[test]
fn a_sign_in_to_what_is_excluded_meanwhile_is_not_finished() {
    let rig = Rig::new(json!({}));
    host(async {
        let started = guarded(&rig, &json!({}), json!({}));
        let (remote, _session) = person::start(&rig, started).await;
        let begun = rig.pool.sign_in("s", &options()).await.unwrap();
        let back = visit(begun["url"].as_str().unwrap());
        let before = asked(&remote);
        exclude(&rig);
        assert_eq!(reason(rig.pool.finish_sign_in(&back).await), "excluded");
        assert_eq!(asked(&remote), before);
    });
}

/// S-02, S-13, SPEC 11.3: one that waits for approval is asked nothing, whatever runs beside it.
#[test]
fn a_server_that_waits_for_approval_is_not_signed_in_to() {
    let rig = Rig::in_workspace(json!({ "trusted": true, "approvals": "memory" }));
    host(async {
        let (remote, config) = guarded(&rig, &json!({}), json!({}));
        in_project(&rig, &config);
        assert_eq!(reason(rig.pool.sign_in("s", &options()).await), "pending_approval");
        let hash = hash(&rig).await;
        rig.pool.approve("s", &hash).await.unwrap();
        let begun = rig.pool.sign_in("s", &options()).await.unwrap();
        let back = visit(begun["url"].as_str().unwrap());
        let before = asked(&remote);
        assert!(before > 0);
        rig.pool.reject("s", &hash).await.unwrap();
        assert_eq!(reason(rig.pool.finish_sign_in(&back).await), "rejected");
        assert_eq!(reason(rig.pool.sign_in("s", &options()).await), "rejected");
        assert_eq!(asked(&remote), before);
    });
}

/// SPEC 12.9, S-31: the person who approved a project's server gave away no port of this machine,
/// though its `oauth` names one.
#[test]
fn a_source_sends_no_credentials_to_another_port_of_this_machine() {
    let trap = Trap::new();
    let oauth = json!({
        "grant_type": "client_credentials", "client_id": "docs", "client_secret": "secret-canary",
        "authorization_url": format!("{}/authorize", trap.origin()), "token_url": format!("{}/token", trap.origin()),
    });
    let rig = Rig::in_workspace(json!({ "trusted": true, "approvals": "memory" }));
    host(async {
        let (_remote, config) = guarded(&rig, &json!({}), oauth);
        in_project(&rig, &config);
        let hash = hash(&rig).await;
        rig.pool.approve("s", &hash).await.unwrap();
        let error = person::refusal(&rig.session("a")).await;
        assert_eq!(error.code(), ErrorCode::AuthRequired, "{error:?}");
        let cause = error.cause().expect("why no token was issued");
        assert_eq!(cause.detail()["refused"], "address", "{error:?}");
    });
    assert!(trap.is_untouched(), "the port was gone to");
}

/// S-13, SPEC 11.5, 12.6: what another host decided meanwhile counts before anything is sent.
#[test]
fn a_rejection_by_another_host_stops_a_sign_in() {
    let store = Folder::new();
    let mut with = json!({ "trusted": true, "approvals": store.join("approvals.json") });
    let one = Rig::in_workspace(with.clone());
    with["workspace"] = json!(one.path("ws"));
    let other = Rig::new(with);
    host(async {
        let (remote, config) = guarded(&one, &json!({}), json!({}));
        in_project(&one, &config);
        in_project(&other, &config);
        let hash = hash(&one).await;
        one.pool.approve("s", &hash).await.unwrap();
        let begun = one.pool.sign_in("s", &options()).await.unwrap();
        let back = visit(begun["url"].as_str().unwrap());
        let before = asked(&remote);
        other.pool.approvals().await.unwrap();
        other.pool.reject("s", &hash).await.unwrap();
        assert_eq!(reason(one.pool.finish_sign_in(&back).await), "rejected");
        assert_eq!(reason(one.pool.sign_in("s", &options()).await), "rejected");
        assert_eq!(asked(&remote), before);
    });
}

/// S-02, SPEC 11.6: what was removed is asked nothing for the sake of what still drains of it; what
/// a session keeps of it may be signed in to.
#[test]
fn a_server_that_was_removed_is_not_signed_in_to() {
    let rig = Rig::new(json!({ "drain_delay_ms": 600_000 }));
    host(async {
        let (remote, mut config) = guarded(&rig, &json!({}), json!({}));
        config["share"] = json!("pool");
        let (remote, session) = person::start(&rig, (remote, config)).await;
        person::sign_in(&rig, "s").await.unwrap();
        let lease = rig::acquire(&session, "s").await;
        let keeps = rig.session_with(json!({ "id": "keeps", "servers": [], "follow": false }));
        rig.configure(json!({})).await;
        rig.pool.sign_in("s", &options()).await.unwrap();
        keeps.close(None);
        drop(lease);
        let entry = rig.pool.status()["servers"]["s"]["entries"][0].clone();
        assert_eq!(entry["state"], "draining", "{entry}");
        let before = asked(&remote);
        assert_eq!(reason(rig.pool.sign_in("s", &options()).await), "removed");
        assert_eq!(asked(&remote), before);
        // To forget needs nobody.
        assert_eq!(rig.pool.sign_out("s").await.unwrap()["signed_out"], true);
    });
}

/// SPEC 15.3: what only a session has is signed in to for that session, and no longer.
#[test]
fn a_server_that_a_session_brought_is_signed_in_to_as_long_as_the_session() {
    let rig = Rig::new(json!({}));
    host(async {
        let (_remote, config) = guarded(&rig, &json!({}), json!({}));
        let session = rig.session("a");
        let spec = trunkline::ServerSpec::from_value("s", &config).unwrap();
        let acquired = session.acquire("s", Some(&spec), &Default::default()).await;
        assert_eq!(acquired.err().unwrap().code(), ErrorCode::AuthRequired);
        person::sign_in(&rig, "s").await.unwrap();
        drop(rig::acquire(&session, "s").await);
        session.close(None);
        let error = rig.pool.sign_in("s", &options()).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument);
    });
}

/// Another server, by the name of the one before.
async fn replace(rig: &Rig) -> Remote {
    let (other, config) = guarded(rig, &json!({}), json!({}));
    rig.configure(json!({ "s": config })).await;
    other
}

/// S-02, SPEC 11.5, 15.3: what is signed in to is a configuration. Once nothing runs by it, a
/// server that has its name by then is no reason to redeem anything with its secret.
#[test]
fn a_sign_in_to_a_configuration_that_is_no_more_is_not_finished() {
    let rig = Rig::new(json!({}));
    host(async {
        let started = guarded(&rig, &json!({}), json!({}));
        let (remote, session) = person::start(&rig, started).await;
        let begun = rig.pool.sign_in("s", &options()).await.unwrap();
        let back = visit(begun["url"].as_str().unwrap());
        let before = asked(&remote);
        let _other = replace(&rig).await;
        assert_eq!(reason(rig.pool.finish_sign_in(&back).await), "removed");
        assert_eq!(asked(&remote), before);
        person::sign_in(&rig, "s").await.unwrap();
        drop(rig::acquire(&session, "s").await);
    });
}

/// SPEC 15.3: nobody is sent to the address of a sign-in that lets in something else.
#[test]
fn status_shows_the_sign_in_of_the_configuration_that_there_is() {
    let rig = Rig::new(json!({}));
    host(async {
        let started = guarded(&rig, &json!({}), json!({}));
        let (_remote, session) = person::start(&rig, started).await;
        rig.pool.sign_in("s", &options()).await.unwrap();
        let _other = replace(&rig).await;
        person::refusal(&session).await;
        assert_eq!((&need(&rig)["missing"], &need(&rig)["url"]), (&json!("token"), &Value::Null));
        let begun = rig.pool.sign_in("s", &options()).await.unwrap();
        assert_eq!(need(&rig)["url"], begun["url"]);
    });
}

/// SPEC 11.5, 13.1, 15.3: what keeps the name's newest configuration out keeps nobody from ending a
/// sign-in to the one that a session still runs.
#[test]
fn a_sign_in_to_what_a_session_keeps_is_finished_whatever_its_name_stands_for() {
    let rig = Rig::in_workspace(json!({ "trusted": true, "approvals": "memory" }));
    host(async {
        let (_remote, config) = guarded(&rig, &json!({}), json!({}));
        in_project(&rig, &config);
        rig.pool.approve("s", &hash(&rig).await).await.unwrap();
        let keeps = rig.session_with(json!({ "id": "keeps", "servers": [], "follow": false }));
        let begun = rig.pool.sign_in("s", &options()).await.unwrap();
        let back = visit(begun["url"].as_str().unwrap());
        let (_other, config) = guarded(&rig, &json!({}), json!({}));
        in_project(&rig, &config);
        assert_eq!(reason(rig.pool.sign_in("s", &options()).await), "pending_approval");
        rig.pool.finish_sign_in(&back).await.unwrap();
        drop(rig::acquire(&keeps, "s").await);
    });
}

/// S-02, SPEC 11.5: what its own configuration switches off is neither signed in to, nor is a
/// sign-in to it finished.
#[test]
fn a_server_that_is_switched_off_is_not_signed_in_to() {
    let rig = Rig::new(json!({}));
    host(async {
        let (remote, config) = guarded(&rig, &json!({}), json!({}));
        let mut off = config.clone();
        off["disabled"] = true.into();
        rig.configure(json!({ "s": off })).await;
        assert_eq!(reason(rig.pool.sign_in("s", &options()).await), "disabled");
        assert_eq!(asked(&remote), 0);
        rig.configure(json!({ "s": config })).await;
        let begun = rig.pool.sign_in("s", &options()).await.unwrap();
        let back = visit(begun["url"].as_str().unwrap());
        let before = asked(&remote);
        rig.configure(json!({ "s": off })).await;
        assert_eq!(reason(rig.pool.finish_sign_in(&back).await), "disabled");
        assert_eq!(asked(&remote), before);
        rig.configure(json!({ "s": config })).await;
        rig.pool.finish_sign_in(&back).await.unwrap();
    });
}

/// SPEC 9.4, 3.5: a look at the status, which shows what a server that was rejected since still
/// lacks, ends no session.
#[test]
fn what_a_rejected_server_lacks_is_looked_at_while_sessions_end() {
    let rig = Rig::in_workspace(json!({ "trusted": true, "approvals": "memory" }));
    host(async {
        let (_remote, config) = guarded(&rig, &json!({}), json!({}));
        in_project(&rig, &config);
        let hash = hash(&rig).await;
        rig.pool.approve("s", &hash).await.unwrap();
        person::refusal(&rig.session("b")).await;
        rig.pool.reject("s", &hash).await.unwrap();
        until(|| rig.pool.status()["totals"]["entries"] == 0);
    });
    assert_eq!((&need(&rig)["missing"], &need(&rig)["url"]), (&json!("token"), &Value::Null));
    let pool = rig.pool.clone();
    let (send, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        (0..5_000).for_each(|_| drop(pool.subscribe(EventMask::ALL).unwrap()));
        send.send(()).unwrap();
    });
    let begun = std::time::Instant::now();
    while done.try_recv().is_err() {
        assert!(begun.elapsed() < HANG, "who looks and who goes wait for each other");
        drop(rig.session("a"));
    }
}
