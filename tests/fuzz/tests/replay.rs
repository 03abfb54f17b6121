//! The corpus, and inputs made of it at random: nothing that is read breaks what reads it (I-28,
//! SECURITY row 15).
//!
//! `TRUNKLINE_SEED` is the number of the first random input: a failure names its own, and with that
//! one alone is it found again.

use std::panic::{AssertUnwindSafe, catch_unwind};

use trunkline_fuzz::{TARGETS, Target, corpus, mutate::mutated};

#[path = "../../../core/tests/rig/score.rs"]
mod score;

/// How much more the long form makes.
const FULL_FACTOR: u64 = 20;

fn check(target: &Target, bytes: &[u8], name: &str) {
    let run = AssertUnwindSafe(|| (target.run)(bytes));
    assert!(catch_unwind(run).is_ok(), "{}: {name}: {}", target.name, bytes.escape_ascii());
}

fn replay(name: &str) {
    let target = Target::of_name(name).unwrap();
    let inputs = corpus::inputs(target);
    assert!(!inputs.is_empty(), "{name} has no corpus");
    for (file, bytes) in &inputs {
        check(target, bytes, file);
    }
    let inputs: Vec<Vec<u8>> = inputs.into_iter().map(|(_, bytes)| bytes).collect();
    let seed = std::env::var("TRUNKLINE_SEED").map_or(0, |seed| seed.parse().unwrap());
    let is_full = std::env::var("TRUNKLINE_STRESS").is_ok_and(|form| form == "full");
    let times = target.thousands * 1_000 * if is_full { FULL_FACTOR } else { 1 };
    for number in seed..seed + times {
        let bytes = mutated(&inputs, target.words, number);
        check(target, &bytes, &format!("TRUNKLINE_SEED={number}"));
    }
    println!("{name}: {} kept, {times} made from {seed} on", inputs.len());
    score::done("fuzz/kept", inputs.len() as u64);
    score::done("fuzz/made", times);
}

/// A test for each target, and none without one.
macro_rules! replays {
    ($($name:ident)*) => {
        const REPLAYED: &[&str] = &[$(stringify!($name)),*];
        $(
            /// I-28, S-07, S-12, S-15, S-24: what each target has to hold is said beside it.
            #[test]
            fn $name() {
                replay(stringify!($name));
            }
        )*
    };
}

replays! { frames envelope json events socket lists shapes oauth settings expansion dotenv approvals kept abi }

#[test]
fn every_target_is_replayed() {
    let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names, REPLAYED);
}
