//! Trust and approvals (SPEC 11.3-11.7, 12.3-12.8).

use super::*;
use trunkline::WorkspaceTrust;

/// The request for a server.
async fn request(rig: &Rig, server: &str) -> Value {
    let approvals = rig.pool.approvals().await.unwrap();
    let requests = approvals["requests"].as_array().unwrap().clone();
    requests.into_iter().find(|request| request["server"] == server).unwrap_or_default()
}

async fn hash(rig: &Rig, server: &str) -> String {
    request(rig, server).await["hash"].as_str().unwrap().to_owned()
}

/// SPEC 11.3, 12.3, 12.7: what a project gives starts in the sessions that want it once it is
/// approved, and not before.
#[test]
fn a_project_server_starts_when_it_is_approved_and_not_before() {
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        let rows = set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        assert_eq!(actions(&rows), json!({ "s": "refused" }));
        assert_eq!(rows["s"]["reason"], "pending_approval");
        let pending = (ErrorCode::NotAdmitted, json!("pending_approval"));
        assert_eq!(refused(&session, "s").await, pending);
        assert_eq!(row(&rig.pool, "s")["approval_state"], "pending");
        assert_eq!(settled(&rig).await["s"]["state"], "refused");
        assert_eq!(rig.starts(), [0; 0]);
        let hash = hash(&rig, "s").await;
        let rows = rig.pool.approve("s", &hash).await.unwrap()["servers"].clone();
        assert_eq!(actions(&rows), json!({ "s": "added" }));
        assert_eq!(settled(&rig).await["s"]["state"], "ready");
        assert_eq!(row(&rig.pool, "s")["approval_state"], "approved");
        assert!(tools(&session) > 0);
    });
}

/// SPEC 12.3, 12.7: a rejection ends what runs at once, and nobody is asked again.
#[test]
fn a_rejection_ends_what_runs_and_forget_asks_again() {
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        let hash = hash(&rig, "s").await;
        rig.pool.approve("s", &hash).await.unwrap();
        settled(&rig).await;
        let rows = rig.pool.reject("s", &hash).await.unwrap()["servers"].clone();
        assert_eq!(rows["s"]["reason"], "rejected");
        assert_eq!(tools(&session), 0);
        rig.wait_for_no_process();
        assert_eq!(request(&rig, "s").await, Value::Null);
        assert_eq!(refused(&session, "s").await.1, "rejected");
        // Removing and adding the same again keeps the decision (SPEC 12.4).
        set(&rig.pool, "project", json!({}));
        set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        assert_eq!(refused(&session, "s").await.1, "rejected");
        let report = rig.pool.forget("s").await.unwrap();
        assert_eq!(report["forgotten"], 1);
        assert_eq!(refused(&session, "s").await.1, "pending_approval");
        assert_eq!(rig.starts().len(), 1);
    });
}

/// SPEC 12.7, S-05: an approval of what is not the live configuration is stale.
#[test]
fn an_approval_of_another_configuration_is_stale() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        let old = hash(&rig, "s").await;
        set(&rig.pool, "project", json!({ "s": rig.server(&["--tools", "2"]) }));
        let error = rig.pool.approve("s", &old).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::StaleApproval);
        for (server, hash) in [("s", "x"), ("t", old.as_str())] {
            let error = rig.pool.approve(server, hash).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidArgument);
        }
        assert_eq!(rig.starts(), [0; 0]);
    });
}

/// SPEC 11.4: losing trust disconnects what needed it, and it waits for nothing but trust to come
/// back.
#[test]
fn losing_trust_disconnects_what_needed_it() {
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        set(&rig.pool, "project", json!({ "p": rig.server(&[]) }));
        set(&rig.pool, "user", json!({ "u": rig.server(&[]) }));
        set(&rig.pool, "launch", json!({ "l": rig.server(&[]) }));
        let hash = hash(&rig, "p").await;
        rig.pool.approve("p", &hash).await.unwrap();
        settled(&rig).await;
        let pid = row(&rig.pool, "l")["entries"][0]["pid"].clone();
        let report = rig.pool.set_trusted(WorkspaceTrust::Untrusted).await.unwrap();
        assert_eq!(report["servers"]["p"]["reason"], "untrusted");
        assert_eq!(report["servers"]["u"]["reason"], "untrusted");
        assert!(session.tools().unwrap().iter().all(|tool| tool.name.starts_with("mcp__l__")));
        until(|| rig.running().len() == 1);
        assert_eq!(refused(&session, "u").await.1, "untrusted");
        rig.pool.set_trusted(WorkspaceTrust::Trusted).await.unwrap();
        let states = settled(&rig).await;
        assert_eq!(states["p"]["state"], "ready");
        assert_eq!(states["u"]["state"], "ready");
        assert_eq!(row(&rig.pool, "l")["entries"][0]["pid"], pid);
    });
}

/// SPEC 11.4: in a workspace that is not trusted nothing of a file starts, but what the host lets.
#[test]
fn a_host_may_let_sources_in_from_outside_of_an_untrusted_workspace() {
    let rig = rig(json!({ "untrusted_sources": ["user"] }));
    host(async {
        let _session = wanting(&rig, "a");
        set(&rig.pool, "project", json!({ "p": rig.server(&[]) }));
        set(&rig.pool, "user", json!({ "u": rig.server(&[]) }));
        set(&rig.pool, "launch", json!({ "l": rig.server(&[]) }));
        let states = settled(&rig).await;
        assert_eq!(states["u"]["state"], "ready");
        assert_eq!(states["p"]["reason"], "untrusted");
        assert_eq!(states["l"]["reason"], "untrusted");
        assert_eq!(rig.starts().len(), 1);
    });
}

/// SPEC 12.5: who must decide is told whenever the set of what waits is another.
#[test]
fn approval_is_asked_for_when_the_set_that_waits_changes() {
    let rig = trusted();
    host(async {
        let kind = trunkline::EventKind::ApprovalNeeded;
        let events = rig.pool.subscribe(trunkline::EventMask(kind.bit())).unwrap();
        let told = || {
            let event = events.try_next()?;
            let event: Value = serde_json::from_str(event.json()).unwrap();
            let requests = event["requests"].as_array().unwrap().clone();
            Some(
                requests
                    .iter()
                    .map(|one| one["server"].as_str().unwrap().to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        set(&rig.pool, "user", json!({ "u": rig.server(&[]) }));
        assert_eq!(told(), None);
        set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        assert_eq!(told().unwrap(), ["s"]);
        set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        assert_eq!(told(), None);
        set(&rig.pool, "workspace", json!({ "t": rig.server(&[]) }));
        assert_eq!(told().unwrap(), ["s", "t"]);
        rig.pool.approve("s", &hash(&rig, "s").await).await.unwrap();
        assert_eq!(told().unwrap(), ["t"]);
        rig.pool.reject("t", &hash(&rig, "t").await).await.unwrap();
        assert_eq!(told().unwrap(), [""; 0]);
    });
}

/// SPEC 2.1, 11.7, S-03: what a project grants itself counts for nothing.
#[test]
fn a_project_grants_itself_nothing() {
    let rig = rig(json!({ "trusted": true, "shared_transports": ["http"] }));
    host(async {
        let (a, b) = (wanting(&rig, "a"), wanting(&rig, "b"));
        let mut server = rig.server(&[]);
        server["share"] = json!("pool");
        server["trust"] = json!(true);
        set(&rig.pool, "project", json!({ "s": server }));
        assert_eq!(rig.starts(), [0; 0]);
        rig.pool.approve("s", &hash(&rig, "s").await).await.unwrap();
        settled(&rig).await;
        assert_eq!(rig.starts().len(), 2, "each session has its own");
        drop((a, b));
    });
}

/// SPEC 11.6: a caller that waits for a server that may not run is told why, and may do without it
/// all the same.
#[test]
fn a_server_that_waits_for_approval_is_no_unknown_one() {
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        let error = session.ready(Some("s"), Some(HANG)).await.unwrap_err();
        assert_eq!(error.detail()["reason"], "pending_approval");
        session.disable("s").unwrap();
        rig.pool.approve("s", &hash(&rig, "s").await).await.unwrap();
        settled(&rig).await;
        assert_eq!(tools(&session), 0);
        session.enable("s").unwrap();
        session.ready(Some("s"), Some(HANG)).await.unwrap();
        assert!(tools(&session) > 0);
        let restarted = rig.pool.restart("s", None).await.unwrap();
        assert_eq!(restarted["entries"][0]["restarted"], true);
    });
}

/// SPEC 11.4, 11.7, S-03: a mark of trust in settings is recorded and grants nothing, with trust in
/// the workspace or without.
#[test]
fn a_mark_of_trust_in_settings_grants_nothing() {
    let rig = rig(json!({ "untrusted_sources": ["user"] }));
    host(async {
        let session = wanting(&rig, "a");
        let mut server = rig.server(&[]);
        server["trust"] = json!(true);
        set(&rig.pool, "user", json!({ "s": server }));
        let is_trusted = || session.tools().unwrap().iter().any(|tool| tool.trust);
        for trust in [WorkspaceTrust::Untrusted, WorkspaceTrust::Trusted] {
            rig.pool.set_trusted(trust).await.unwrap();
            settled(&rig).await;
            assert!(tools(&session) > 0);
            assert!(!is_trusted());
        }
    });
}

/// SPEC 11.4: words about trust count in the order in which they were given, whichever is carried
/// out first.
#[test]
fn the_last_word_about_trust_holds() {
    let rig = rig(json!({ "untrusted_sources": ["launch", "session", "runtime"] }));
    host(async {
        let session = wanting(&rig, "a");
        set(&rig.pool, "user", json!({ "s": rig.server(&[]) }));
        let words = async |words: [WorkspaceTrust; 2]| {
            let [first, last] = words.map(|trust| rig.pool.set_trusted(trust));
            last.await.unwrap();
            first.await.unwrap();
            settled(&rig).await;
        };
        words([WorkspaceTrust::Trusted, WorkspaceTrust::Untrusted]).await;
        assert_eq!(row(&rig.pool, "s")["reason"], "untrusted");
        assert_eq!(rig.starts(), [0; 0]);
        words([WorkspaceTrust::Untrusted, WorkspaceTrust::Trusted]).await;
        assert!(tools(&session) > 0);
    });
}

/// SPEC 9.4, 12.1: what was decided of a server is told also while something else keeps it out, and
/// of no other configuration.
#[test]
fn what_was_decided_is_told_of_a_server_that_is_switched_off() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        let server = |more: Value| {
            let mut server = rig.server(&[]);
            server.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({ "s": server })
        };
        let state = || {
            let row = row(&rig.pool, "s");
            (row["reason"].clone(), row["approval_state"].clone())
        };
        let is = |reason: &str, state: &str| (json!(reason), json!(state));
        set(&rig.pool, "project", server(json!({ "disabled": true })));
        assert_eq!(state(), is("disabled", "pending"));
        set(&rig.pool, "project", server(json!({})));
        let hash = hash(&rig, "s").await;
        rig.pool.approve("s", &hash).await.unwrap();
        settled(&rig).await;
        set(&rig.pool, "project", server(json!({ "disabled": true })));
        assert_eq!(state(), is("disabled", "approved"));
        // By nothing that is remembered of it.
        set(&rig.pool, "project", json!({}));
        set(&rig.pool, "project", server(json!({ "disabled": true })));
        assert_eq!(state(), is("disabled", "approved"));
        rig.pool.set_gates(trunkline::GateLists::new(None, vec!["s".into()], Vec::new())).unwrap();
        assert_eq!(state(), is("excluded", "approved"));
        rig.pool.set_gates(trunkline::GateLists::new(None, Vec::new(), Vec::new())).unwrap();
        set(&rig.pool, "project", server(json!({ "disabled": true, "env": { "A": "1" } })));
        assert_eq!(state(), is("disabled", "pending"));
        set(&rig.pool, "project", server(json!({})));
        rig.pool.reject("s", &hash).await.unwrap();
        rig.pool.set_trusted(WorkspaceTrust::Untrusted).await.unwrap();
        assert_eq!(state(), is("untrusted", "rejected"));
        rig.pool.forget("s").await.unwrap();
        assert_eq!(state(), is("untrusted", "pending"));
    });
}
