//! What a recheck answers, whatever passes make of earlier decisions meanwhile.

use serde_json::json;

use super::*;
use crate::{Pool, PoolOptions, ServerSpec};

/// S-13, SPEC 11.5: a rejection that was read is the answer, also when a pass judges by an older
/// book at that moment.
#[test]
fn a_rejection_that_was_read_is_the_answer_of_its_recheck() {
    let options = json!({ "approvals": "memory", "trusted": true, "cache": "off" });
    let pool = Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap();
    let config = &pool.0.config;
    let spec = ServerSpec::from_value("s", &json!({ "command": "/bin/sh" })).unwrap();
    let as_port: Arc<dyn Approving> = config.clone();
    let (sighted, command) = LaunchPreview::of_spec("s", &spec, config.sighting());
    let warrant =
        Approved::new(Arc::downgrade(&as_port), &Trust::new(true), "s", (&sighted, &command));
    let decide = |decision, seen| {
        let (root, identity) = (&config.root, &sighted.identity);
        config.approvals.decide(root, "s", identity, decision, seen).unwrap();
        config.approvals.known().unwrap()
    };
    let older = decide(Decision::Approved, None);
    decide(Decision::Rejected, older.standing(&config.root, "s", sighted.identity.hash));
    let is_over = AtomicBool::new(false);
    let opened = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                warrant.judge(&config.root, &older);
            }
        });
        let opens = |_: &u32| {
            warrant.judge(&config.root, &older);
            warrant.recheck().unwrap() == Gate::Open
        };
        let opened = (0..200).filter(opens).count();
        is_over.store(true, Ordering::Release);
        opened
    });
    assert_eq!(opened, 0);
    let closing = pool.clone();
    pool.block_on(async move { closing.close().await }).unwrap();
}
