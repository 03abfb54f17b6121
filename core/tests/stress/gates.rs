//! Gates that change while sessions ask for what they keep out.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rig::{Rig, runs, until};
use serde_json::{Value, json};
use trunkline::{AcquireOptions, ErrorCode, GateLists, Pool, Servers};

use crate::Raised;

fn set(pool: &Pool, lists: Value) -> Value {
    pool.set_gates(GateLists::from_json(&lists.to_string()).unwrap()).unwrap()
}

/// SPEC 11.5, S-04: what is kept out ends, an attempt under way as well, and nothing of it begins
/// again, however many sessions ask for it all the time; other servers are not touched.
#[test]
fn what_is_kept_out_stays_out_however_often_it_is_asked_for() {
    const ASKERS: usize = 6;
    const ROUNDS: usize = 15;
    let rig = Rig::new(json!({ "drain_delay_ms": 0, "exit_grace_ms": 200 }));
    let (pool, over) = (rig.pool.clone(), AtomicBool::new(false));
    let (granted, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let servers = json!({ "s": rig.server(&[]), "t": rig.server(&["--label", "t"]) });
    let servers = Servers::from_json(&servers.to_string()).unwrap();
    let configured = pool.clone();
    pool.block_on(async move { configured.reconcile(servers).await }).unwrap();
    let other = rig.session("other");
    let lease =
        pool.block_on(async move { other.acquire("t", None, &AcquireOptions::default()).await });
    let lease = lease.unwrap();
    let other_pid = rig.starts()[0];
    std::thread::scope(|scope| {
        let _ends_the_askers = Raised(&over);
        for number in 0..ASKERS {
            let (session, pool) = (rig.session(&format!("asker-{number}")), pool.clone());
            let (over, granted, refused) = (&over, &granted, &refused);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let session = session.clone();
                    let asked = pool.block_on(async move {
                        let lease = session.acquire("s", None, &AcquireOptions::default()).await?;
                        lease.release();
                        Ok(())
                    });
                    match asked {
                        Ok(()) => granted.fetch_add(1, Ordering::Relaxed),
                        Err(error) => {
                            assert_eq!(error.code(), ErrorCode::NotAdmitted, "{error}");
                            assert_eq!(error.detail()["reason"], "excluded");
                            refused.fetch_add(1, Ordering::Relaxed)
                        }
                    };
                }
            });
        }
        for _ in 0..ROUNDS {
            let before = granted.load(Ordering::Relaxed);
            until(|| granted.load(Ordering::Relaxed) > before + ASKERS);
            assert_eq!(set(&pool, json!({ "excluded": ["s"] }))["servers"]["s"]["admitted"], false);
            // An attempt that was under way is gone with its entry.
            until(|| pool.status()["servers"]["s"]["entry_count"] == 0);
            let (starts, asked) = (rig.starts().len(), refused.load(Ordering::Relaxed));
            until(|| refused.load(Ordering::Relaxed) > asked + 10 * ASKERS);
            assert_eq!(rig.starts().len(), starts, "something was started behind the gate");
            assert_eq!(set(&pool, json!({}))["servers"]["s"]["admitted"], true);
        }
    });
    assert!(runs(other_pid));
    drop(lease);
}

/// SPEC 11.5, 13.2, I-13: what two threads shut and open at one time is, when it is open in the
/// end, held by the session that wants it.
#[test]
fn a_server_that_is_shut_and_opened_at_one_time_comes_back() {
    const ROUNDS: usize = 60;
    let rig = Rig::new(json!({ "drain_delay_ms": 0, "exit_grace_ms": 200 }));
    let servers = Servers::from_json(&json!({ "s": rig.server(&[]) }).to_string()).unwrap();
    let configured = rig.pool.clone();
    rig.pool.block_on(async move { configured.reconcile(servers).await }).unwrap();
    let session = rig.session_with(json!({ "id": "a" }));
    for _ in 0..ROUNDS {
        until(|| !session.tools().unwrap().is_empty());
        let both = Barrier::new(2);
        std::thread::scope(|scope| {
            for lists in [json!({ "excluded": ["s"] }), json!({})] {
                let (both, pool) = (&both, &rig.pool);
                scope.spawn(move || {
                    both.wait();
                    set(pool, lists);
                });
            }
        });
        set(&rig.pool, json!({}));
    }
    until(|| !session.tools().unwrap().is_empty());
}
