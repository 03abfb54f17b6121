//! The simulator: random commands, completions, failures and time from a seed, every invariant
//! after every step.
//!
//! `TRUNKLINE_SIMULATOR_STEPS` sets how many steps are made (three million by default).
//! `TRUNKLINE_SIMULATOR_FIRST` is the first seed: a number, or `random`. `TRUNKLINE_SEED` repeats one seed and
//! tells its story. See `docs/internals/simulator.md`.

mod accepting;
mod agreement;
mod bridge;
mod budget;
mod calls;
mod chance;
mod coverage;
mod definitions;
mod ending;
mod gating;
mod model;
mod reconcile;
mod replaced;
mod restarts;
mod revival;
mod rules;
mod run;
#[path = "../../../tests/rig/score.rs"]
mod score;
mod setup;
mod unbegun;
mod words;
mod world;

use std::io::Write as _;

use coverage::Coverage;
use run::{Failure, MOVES, run};

/// Steps of a plain run.
const STEPS: u64 = 3_000_000;

/// Of the steps asked for, one of so many is made under a configuration that is edited.
const RECONCILE_SHARE: u64 = 10;

/// And one of so many for the calls of a connection.
const CALLS_SHARE: u64 = 3;

/// And one of so many for the clients of an endpoint.
const BRIDGE_SHARE: u64 = 10;

/// The first seed, unless another is asked for; the following count up, so that every machine sees the same runs.
const FIRST_SEED: u64 = 1;

/// The first seed: `random` is another one each time, of at most eight digits, and is printed with the steps.
fn first_seed() -> u64 {
    match std::env::var("TRUNKLINE_SIMULATOR_FIRST").as_deref() {
        Err(_) => FIRST_SEED,
        Ok("random") => {
            let drawn = std::hash::RandomState::new();
            std::hash::BuildHasher::hash_one(&drawn, FIRST_SEED) % 100_000_000
        }
        Ok(number) => number.parse().expect("TRUNKLINE_SIMULATOR_FIRST is a number or `random`"),
    }
}

/// Simulates until enough steps were made. With `TRUNKLINE_SIMULATOR_BRIEF` a failure is told in one
/// line and not cut down, which is what `cargo xtask plant` reads. DESIGN 3 (1)-(11), I-02 to I-06, S-04, I-09, I-10, I-14, I-15, I-26.
///
/// SPEC 3.1-3.13, 7.2, 7.3, 7.6, 8.1, 8.2, 8.5, 9.1, 9.2, 9.3, 9.5, 9.6, 9.7, 11.5.
#[test]
fn every_invariant_holds_after_every_step() {
    if let Some(seed) = number_from("TRUNKLINE_SEED") {
        replay(seed);
        return;
    }
    let wanted = number_from("TRUNKLINE_SIMULATOR_STEPS").unwrap_or(STEPS);
    let first = first_seed();
    let (mut steps, mut seed, mut coverage) = (0, first, Coverage::default());
    while steps < wanted {
        let (done, result) = run(seed, &all_moves(), false);
        steps += done.steps;
        if let Err(failure) = result {
            if std::env::var_os("TRUNKLINE_SIMULATOR_BRIEF").is_some() {
                panic!("caught: seed {seed}, step {steps}, {}", failure.what);
            }
            panic!("{}", shrunk(seed, failure));
        }
        coverage.join(&done.coverage);
        seed += 1;
    }
    say(&format!(
        "{steps} steps in {} runs from seed {first} on, no invariant broken\n{}",
        seed - first,
        coverage.table()
    ));
    assert_eq!(coverage.surprises(), [], "met, though listed as impossible");
    // A short run, as for a planted fault, is too small to meet every pair.
    if wanted >= STEPS {
        assert_eq!(coverage.gaps(), [], "never met, though possible");
    }
    score::done("model/pool", steps);
}

/// Edits configurations at random and follows them by `plan`: the second simulation. I-11 to I-13.
///
/// SPEC 13.1-13.3, 1.4.
#[test]
fn every_edit_converges() {
    let (steps, runs, first) = simulate("edits", RECONCILE_SHARE, reconcile::edit);
    say(&format!("{steps} steps in {runs} edited workspaces from seed {first} on"));
}

/// The calls of connections that are lost sooner or later: the third simulation. I-17.
///
/// SPEC 5.1, 5.3-5.6, 5.9, 15.1.
#[test]
fn every_call_ends_once() {
    let (steps, runs, first) = simulate("calls", CALLS_SHARE, calls::call);
    say(&format!("{steps} steps in {runs} connections from seed {first} on"));
}

/// Served clients and their servers: the fourth simulation.
///
/// SPEC 19.4, 19.5.
#[test]
fn every_request_of_a_served_client_ends_once() {
    let seen = std::cell::RefCell::new(std::collections::BTreeMap::new());
    let (steps, runs, first) = simulate("bridge", BRIDGE_SHARE, |seed| {
        let (steps, result, met) = bridge::serve(seed);
        for (what, times) in met {
            *seen.borrow_mut().entry(what).or_insert(0) += times;
        }
        (steps, result)
    });
    say(&format!("{steps} steps in {runs} served clients from seed {first} on: {seen:?}"));
    if number_from("TRUNKLINE_SEED").is_none() {
        assert_eq!(seen.borrow().len(), bridge::KINDS, "not everything happened: {seen:?}");
    }
}

/// Runs seed after seed until enough steps were made: their number, that of the runs, and the first seed.
fn simulate(
    part: &str,
    share: u64,
    run: impl Fn(u64) -> (u64, Result<(), String>),
) -> (u64, u64, u64) {
    let wanted = number_from("TRUNKLINE_SIMULATOR_STEPS").unwrap_or(STEPS) / share;
    let first = first_seed();
    let (mut steps, mut seed) = (0, first);
    if let Some(seed) = number_from("TRUNKLINE_SEED") {
        let (steps, result) = run(seed);
        result.unwrap_or_else(|what| panic!("caught: seed {seed}, step {steps}, {what}"));
        return (steps, 1, seed);
    }
    while steps < wanted {
        let (made, result) = run(seed);
        steps += made;
        if let Err(what) = result {
            panic!("caught: seed {seed}, step {steps}, {what}");
        }
        seed += 1;
    }
    score::done(&format!("model/{part}"), steps);
    (steps, seed - first, first)
}

/// The same seed gives the same steps and the same effects.
#[test]
fn a_seed_repeats_exactly() {
    for seed in 0..20 {
        let (one, _) = run(seed, &all_moves(), true);
        let (other, _) = run(seed, &all_moves(), true);
        assert_eq!(one.story, other.story);
        assert!(one.steps > 10, "seed {seed} made {} steps", one.steps);
    }
}

/// Cutting a failing run down keeps it failing, and leaves nothing out that could still go.
#[test]
fn a_failing_run_is_cut_down_to_what_matters() {
    let fails = |kept: &[u64]| kept.contains(&40) && kept.contains(&171);
    assert_eq!(cut_down(&all_moves(), fails), [40, 171]);
}

fn all_moves() -> Vec<u64> {
    (0..MOVES).collect()
}

fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Says what a run has made, which the runner of tests would keep to itself.
fn say(text: &str) {
    writeln!(std::io::stdout(), "{text}").expect("somebody reads");
}

fn replay(seed: u64) {
    let (done, result) = run(seed, &all_moves(), true);
    match result {
        Ok(()) => {
            say(&format!("{}\nseed {seed} passes", done.story.unwrap_or_default().join("\n")))
        }
        Err(failure) => panic!("{}", shrunk(seed, failure)),
    }
}

/// The story of a failing seed, as short as it can be made.
fn shrunk(seed: u64, failure: Failure) -> String {
    let moves: Vec<u64> = all_moves().into_iter().filter(|&number| number <= failure.at).collect();
    let kept = cut_down(&moves, |kept| run(seed, kept, false).1.is_err());
    let (done, result) = run(seed, &kept, true);
    let what = result.err().map_or(failure.what, |failure| failure.what);
    let story = done.story.unwrap_or_default().join("\n");
    format!(
        "TRUNKLINE_SEED={seed} fails; {} moves of {MOVES} suffice:\n{story}\n{what}",
        kept.len()
    )
}

/// Leaves out ever smaller pieces while it still fails.
fn cut_down(moves: &[u64], fails: impl Fn(&[u64]) -> bool) -> Vec<u64> {
    let mut kept = moves.to_vec();
    let mut piece = kept.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        while at < kept.len() {
            let mut fewer = kept.clone();
            fewer.drain(at..(at + piece).min(kept.len()));
            if fails(&fewer) {
                kept = fewer;
            } else {
                at += piece;
            }
        }
        if piece == 1 {
            return kept;
        }
        piece = piece.div_ceil(2);
    }
}
