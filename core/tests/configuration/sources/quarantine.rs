//! What is accepted of a server that needed approval outlives the pool that saw it (SPEC 7.6).

use super::decisions::approve;
use super::*;

/// A folder for the file of approvals, and the servers' own workspace.
fn options(store: &Folder) -> Value {
    json!({ "trusted": true, "approvals": store.join("approvals.json") })
}

/// Another pool in the same workspace, as the next process has it.
fn next(rig: &Rig, store: &Folder) -> Rig {
    let mut options = options(store);
    options["workspace"] = json!(rig.path("ws"));
    Rig::new(options)
}

/// A server whose tool describes itself anew at its second start.
fn changing(rig: &Rig) -> Value {
    json!({ "s": rig.server(&["--tools", "1", "--drift-once"]) })
}

fn held_back(pool: &Pool) -> Vec<String> {
    let rows = row(pool, "s")["quarantined"].clone();
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row["tool"].as_str().unwrap().to_owned()).collect()
}

/// SPEC 7.6, S-41: a definition that changed between two processes is held back; what was accepted
/// then is accepted in the next one.
#[test]
fn a_change_between_two_processes_is_held_back() {
    let store = Folder::new();
    let first = Rig::in_workspace(options(&store));
    let (second, third) = (next(&first, &store), next(&first, &store));
    let servers = changing(&first);
    host(async {
        let _session = wanting(&first, "a");
        set(&first.pool, "project", servers.clone());
        approve(&first.pool, "s").await;
        settled(&first).await;
        assert!(held_back(&first.pool).is_empty());
        first.pool.close().await.unwrap();

        let session = wanting(&second, "a");
        set(&second.pool, "project", servers.clone());
        settled(&second).await;
        assert_eq!(held_back(&second.pool), ["tool_1"]);
        let lease = rig::acquire(&session, "s").await;
        let called = lease.call_tool("tool_1", "{}", &Default::default()).await.unwrap_err();
        assert_eq!(called.detail()["reason"], "quarantined");
        let difference = row(&second.pool, "s")["quarantined"][0]["difference"].clone();
        assert!(difference["from"].is_string() && difference.get("fields").is_none());
        let to = difference["to"].as_str().unwrap();
        second.pool.accept_tool("s", "tool_1", to).await.unwrap();
        assert_eq!(rig::text(&lease, "tool_1", json!({})).await, "tool_1");
        drop(lease);
        second.pool.close().await.unwrap();

        let session = wanting(&third, "a");
        set(&third.pool, "project", servers);
        settled(&third).await;
        assert!(held_back(&third.pool).is_empty());
        let lease = rig::acquire(&session, "s").await;
        assert_eq!(rig::text(&lease, "tool_1", json!({})).await, "tool_1");
        drop(lease);
        third.pool.close().await.unwrap();
    });
}

/// SPEC 7.6: what is accepted and cannot be kept is in force in this pool, which says so; the next
/// one asks again, and keeps it when it can.
#[test]
fn what_is_accepted_and_cannot_be_kept_is_told_and_in_force() {
    let store = Folder::new();
    let first = Rig::in_workspace(options(&store));
    let [second, third, fourth] = [(); 3].map(|()| next(&first, &store));
    let servers = changing(&first);
    let lock = store.join("approvals.json.lock");
    host(async {
        let _session = wanting(&first, "a");
        set(&first.pool, "project", servers.clone());
        approve(&first.pool, "s").await;
        settled(&first).await;
        first.pool.close().await.unwrap();
        // Who reads takes no lock, and nobody can have this one.
        std::fs::remove_file(&lock).unwrap();
        std::fs::create_dir(&lock).unwrap();

        let told = news(&second.pool);
        let session = wanting(&second, "a");
        set(&second.pool, "project", servers.clone());
        accept(&second).await;
        let lease = rig::acquire(&session, "s").await;
        assert_eq!(rig::text(&lease, "tool_1", json!({})).await, "tool_1");
        assert!(held_back(&second.pool).is_empty());
        drop(lease);
        second.pool.close().await.unwrap();
        let told = std::iter::from_fn(|| told.try_next());
        let told: Vec<String> = told.map(|event| event.json().to_owned()).collect();
        let unkept = "which tools of `s` are accepted could not be kept: ";
        assert_eq!(told.iter().filter(|one| one.contains(unkept)).count(), 1, "{told:?}");

        std::fs::remove_dir(&lock).unwrap();
        for (pool, held) in [(&third, ["tool_1"].as_slice()), (&fourth, &[])] {
            let _session = wanting(pool, "a");
            set(&pool.pool, "project", servers.clone());
            settled(pool).await;
            assert_eq!(held_back(&pool.pool), held);
            if !held.is_empty() {
                accept(pool).await;
            }
            pool.pool.close().await.unwrap();
        }
    });
}

/// Accepts the definition that is held back.
async fn accept(rig: &Rig) {
    settled(rig).await;
    assert_eq!(held_back(&rig.pool), ["tool_1"]);
    let difference = row(&rig.pool, "s")["quarantined"][0]["difference"].clone();
    rig.pool.accept_tool("s", "tool_1", difference["to"].as_str().unwrap()).await.unwrap();
}

/// SPEC 7.6, 12.4: who forgets a server forgets what was accepted of it.
#[test]
fn what_was_accepted_is_forgotten_with_the_approval() {
    let store = Folder::new();
    let first = Rig::in_workspace(options(&store));
    let second = next(&first, &store);
    let servers = changing(&first);
    host(async {
        let _session = wanting(&first, "a");
        set(&first.pool, "project", servers.clone());
        approve(&first.pool, "s").await;
        settled(&first).await;
        first.pool.close().await.unwrap();

        second.pool.forget("s").await.unwrap();
        let _session = wanting(&second, "a");
        set(&second.pool, "project", servers);
        approve(&second.pool, "s").await;
        settled(&second).await;
        assert!(held_back(&second.pool).is_empty());
        second.pool.close().await.unwrap();
    });
}
