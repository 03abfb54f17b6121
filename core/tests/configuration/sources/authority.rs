//! Who admits a connection: equal configurations by another word are other connections, and what is
//! kept of an older one goes by its own decision (SPEC 2.1, 11.5, 12.3, 13.1).

use super::decisions::{approve, two_hosts};
use super::*;
use trunkline::{AcquireOptions, Lease, Scope, ServerSpec};

fn spec(rig: &Rig) -> ServerSpec {
    ServerSpec::from_value("s", &rig.server(&[])).unwrap()
}

/// The server as a session brings it for the project.
async fn claim(session: &Session, spec: &ServerSpec) -> trunkline::Result<Lease> {
    let mut options = AcquireOptions::default();
    options.origin = Some(Scope::Project);
    session.acquire("s", Some(spec), &options).await
}

/// A session that wants everything, and keeps what there was when it was opened.
fn keeping(rig: &Rig) -> Session {
    rig.session_with(json!({ "id": "keeps", "follow": false }))
}

async fn pid(lease: &Lease) -> String {
    rig::text(lease, "pid", json!({})).await
}

/// SPEC 12.3, 11.5: what runs by an approval ends with it, no matter who began an equal server
/// before and has left.
#[test]
fn what_needs_approval_does_not_live_on_by_the_word_of_a_host_that_has_left() {
    let rig = rig(json!({ "trusted": true, "drain_delay_ms": 0 }));
    host(async {
        let spec = spec(&rig);
        let (hosts, projects) = (rig.session("a"), rig.session("b"));
        let own = hosts.acquire("s", Some(&spec), &Default::default()).await.unwrap();
        claim(&projects, &spec).await.err().unwrap();
        let hash = approve(&rig.pool, "s").await;
        let claimed = claim(&projects, &spec).await.unwrap();
        assert_ne!(pid(&own).await, pid(&claimed).await);
        drop(own);
        hosts.close(None);
        pid(&claimed).await;
        rig.pool.reject("s", &hash).await.unwrap();
        rig.wait_for_no_process();
        assert_eq!(rig.starts().len(), 2);
        assert_eq!(refused(&projects, "s").await, (ErrorCode::NotAdmitted, json!("rejected")));
    });
}

/// SPEC 11.4: nor does what needs trust.
#[test]
fn what_needs_trust_does_not_live_on_by_the_word_of_the_host() {
    let rig = rig(json!({ "trusted": true, "drain_delay_ms": 0 }));
    host(async {
        let (hosts, wants) = (rig.session("a"), wanting(&rig, "b"));
        let own = hosts.acquire("s", Some(&spec(&rig)), &Default::default()).await.unwrap();
        set(&rig.pool, "user", json!({ "s": rig.server(&[]) }));
        settled(&rig).await;
        rig.pool.set_trusted(trunkline::WorkspaceTrust::Untrusted).await.unwrap();
        assert_eq!(tools(&wants), 0);
        until(|| rig.running().len() == 1);
        pid(&own).await;
    });
}

/// SPEC 12.1, 11.5: what a session claims beside an approved server neither disturbs that nor takes
/// it along.
#[test]
fn a_claim_leaves_an_equal_approved_server_alone() {
    let rig = trusted();
    host(async {
        let (files, claims) = (rig.session("a"), rig.session("b"));
        set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        approve(&rig.pool, "s").await;
        let of_file = rig::acquire(&files, "s").await;
        let before = pid(&of_file).await;
        let error = claim(&claims, &spec(&rig)).await.err().unwrap();
        assert_eq!(error.detail()["reason"], "pending_approval");
        assert_eq!(pid(&of_file).await, before);
        let hash = approve(&rig.pool, "s").await;
        let claimed = claim(&claims, &spec(&rig)).await.unwrap();
        pid(&claimed).await;
        rig.pool.reject("s", &hash).await.unwrap();
        until(|| rig.running().len() == 1);
        assert_eq!(pid(&of_file).await, before);
        assert_eq!(refused(&claims, "s").await, (ErrorCode::NotAdmitted, json!("rejected")));
    });
}

/// SPEC 2.1, 12.1: those who run by one approval share one process, wherever their configuration
/// comes from.
#[test]
fn what_one_decision_admits_is_one_connection() {
    let rig = trusted();
    host(async {
        let (one, other, wants) = (rig.session("a"), rig.session("b"), wanting(&rig, "c"));
        let spec = spec(&rig);
        claim(&one, &spec).await.err().unwrap();
        approve(&rig.pool, "s").await;
        let leases = [claim(&one, &spec).await.unwrap(), claim(&other, &spec).await.unwrap()];
        assert_eq!(rig.starts().len(), 1);
        drop(leases);
        for (source, next) in [("project", "workspace"), ("user", "managed")] {
            let servers = json!({ source: rig.server(&["--tools", "1"]) });
            set(&rig.pool, source, servers.clone());
            if source == "project" {
                approve(&rig.pool, source).await;
            }
            wants.ready(Some(source), Some(HANG)).await.unwrap();
            let pid = |_: ()| row(&rig.pool, source)["entries"][0]["pid"].clone();
            let before = pid(());
            set(&rig.pool, next, servers);
            rig.pool.set_source(&name(source), None).unwrap();
            assert_eq!(settled(&rig).await[source]["source"], next);
            assert_eq!(pid(()), before);
        }
        assert_eq!(rig.starts().len(), 3);
    });
}

/// SPEC 13.1, 12.3: an older configuration that a session keeps goes on by its own approval while a
/// newer one waits, and ends with it.
#[test]
fn what_a_session_keeps_goes_by_the_decision_about_it() {
    let rig = trusted();
    host(async {
        set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        approve(&rig.pool, "s").await;
        let session = keeping(&rig);
        session.ready(Some("s"), Some(HANG)).await.unwrap();
        set(&rig.pool, "project", json!({ "s": rig.server(&["--tools", "2"]) }));
        assert_eq!(row(&rig.pool, "s")["reason"], "pending_approval");
        let lease = rig::acquire(&session, "s").await;
        let before = pid(&lease).await;
        let restarted = rig.pool.restart("s", None).await.unwrap();
        assert_eq!(restarted["entries"][0]["restarted"], true, "{restarted}");
        assert_ne!(pid(&lease).await, before);
        assert_eq!(rig.starts().len(), 2);
        rig.pool.forget("s").await.unwrap();
        rig.wait_for_no_process();
        assert_eq!(tools(&session), 0);
        assert_eq!(refused(&session, "s").await.1, "pending_approval");
    });
}

/// SPEC 12.7: a rejection reaches what runs by the approval of what no source has any more.
#[test]
fn what_no_source_has_any_more_can_be_rejected() {
    let rig = trusted();
    host(async {
        set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        let hash = approve(&rig.pool, "s").await;
        let session = keeping(&rig);
        session.ready(Some("s"), Some(HANG)).await.unwrap();
        rig.pool.set_source(&name("project"), None).unwrap();
        assert!(tools(&session) > 0);
        let stale = rig.pool.approve("s", &hash).await.unwrap_err();
        assert_eq!(stale.code(), ErrorCode::InvalidArgument);
        rig.pool.reject("s", &hash).await.unwrap();
        rig.wait_for_no_process();
        assert_eq!(refused(&session, "s").await.1, "rejected");
    });
}

/// SPEC 12.6, 11.5, S-13: so does one by another host, at the next start at the latest.
#[test]
fn what_no_source_has_any_more_is_rejected_by_another_host() {
    let (_store, one, other) = two_hosts();
    host(async {
        let servers = json!({ "s": one.server(&[]) });
        set(&one.pool, "project", servers.clone());
        set(&other.pool, "project", servers);
        let hash = approve(&one.pool, "s").await;
        let session = keeping(&one);
        session.ready(Some("s"), Some(HANG)).await.unwrap();
        one.pool.set_source(&name("project"), None).unwrap();
        other.pool.approvals().await.unwrap();
        other.pool.reject("s", &hash).await.unwrap();
        assert_eq!(one.running().len(), 1);
        let restarted = one.pool.restart("s", None).await.unwrap();
        assert_eq!(restarted["entries"][0]["restarted"], false, "{restarted}");
        one.wait_for_no_process();
        assert_eq!(one.starts().len(), 1);
        assert_eq!(refused(&session, "s").await.1, "rejected");
    });
}

/// S-08, SPEC 10.5: what no source has any more, or a session brought, waits while its command
/// leads to another file, and no longer.
#[test]
fn what_only_sessions_have_waits_while_its_command_leads_elsewhere() {
    let rig = trusted();
    let tool = rig.path("tool");
    let lead_to = |file: &std::path::Path| {
        let _ = std::fs::remove_file(&tool);
        std::os::unix::fs::symlink(file, &tool).unwrap();
    };
    host(async {
        lead_to(rig::testserver());
        let mut server = rig.server(&[]);
        server["command"] = json!(tool);
        let spec = ServerSpec::from_value("s", &server).unwrap();
        set(&rig.pool, "project", json!({ "s": server }));
        approve(&rig.pool, "s").await;
        let (keeps, claims) = (keeping(&rig), rig.session("claims"));
        keeps.ready(Some("s"), Some(HANG)).await.unwrap();
        rig.pool.set_source(&name("project"), None).unwrap();
        claim(&claims, &spec).await.err().unwrap();
        approve(&rig.pool, "s").await;
        let claimed = claim(&claims, &spec).await.unwrap();
        assert_eq!(rig.running().len(), 2);
        lead_to(std::path::Path::new("/bin/true"));
        let restarted = rig.pool.restart("s", None).await.unwrap();
        let restarted = restarted["entries"].as_array().unwrap().iter();
        assert!(restarted.clone().all(|entry| entry["restarted"] == false), "{restarted:?}");
        rig.wait_for_no_process();
        drop(claimed);
        for session in [&keeps, &claims] {
            assert_eq!(refused(session, "s").await.1, "pending_approval");
        }
        lead_to(rig::testserver());
        claim(&claims, &spec).await.unwrap();
        rig.pool.reload(&Default::default()).await.unwrap();
        keeps.ready(Some("s"), Some(HANG)).await.unwrap();
        assert_eq!(rig.starts().len(), 4);
    });
}

/// SPEC 12.7, S-08: what a session brought is approved as what its command leads to now, and runs
/// then without being brought again.
#[test]
fn what_a_session_brought_runs_by_the_approval_of_what_it_leads_to_now() {
    let rig = rig(json!({ "trusted": true, "drain_delay_ms": 0 }));
    let (tool, other) = (rig.path("tool"), rig.path("other"));
    let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", rig::testserver().display());
    std::fs::write(&other, script).unwrap();
    std::fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(rig::testserver(), &tool).unwrap();
    host(async {
        let mut server = rig.server(&[]);
        server["command"] = json!(tool);
        let spec = ServerSpec::from_value("s", &server).unwrap();
        let sessions = [rig.session("a"), rig.session("b")];
        for session in &sessions {
            claim(session, &spec).await.err().unwrap();
        }
        let before = approve(&rig.pool, "s").await;
        std::fs::remove_file(&tool).unwrap();
        std::os::unix::fs::symlink(&other, &tool).unwrap();
        assert_eq!(refused(&sessions[0], "s").await.1, "pending_approval");
        settled(&rig).await;
        assert_ne!(approve(&rig.pool, "s").await, before);
        for session in &sessions {
            pid(&rig::acquire(session, "s").await).await;
        }
        rig.pool.forget("s").await.unwrap();
        let requests = rig.pool.approvals().await.unwrap()["requests"].clone();
        assert_eq!(requests.as_array().unwrap().len(), 1, "{requests}");
    });
}

/// SPEC 12.5: what several sessions brought and is one decision is asked about once, also where it
/// came to be one.
#[test]
fn one_decision_about_what_sessions_brought_is_asked_for_once() {
    let rig = trusted();
    let tool = rig.path("tool");
    let lead_to = |file: &str| {
        let _ = std::fs::remove_file(&tool);
        std::os::unix::fs::symlink(file, &tool).unwrap();
    };
    host(async {
        let mut server = rig.server(&[]);
        server["command"] = json!(tool);
        let spec = ServerSpec::from_value("s", &server).unwrap();
        let sessions = [rig.session("a"), rig.session("b")];
        for (session, file) in sessions.iter().zip(["/bin/true", "/bin/false"]) {
            lead_to(file);
            claim(session, &spec).await.err().unwrap();
        }
        rig.pool.reload(&Default::default()).await.unwrap();
        let requests = rig.pool.approvals().await.unwrap()["requests"].clone();
        assert_eq!(requests.as_array().unwrap().len(), 1, "{requests}");
    });
}
