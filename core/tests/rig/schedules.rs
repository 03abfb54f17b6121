//! Runs a model in many orders of its threads.

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

use crate::score;

/// Runs the model in as many orders as are asked for: half of them at random, half with few changes
/// of who goes first, which is what bugs of a small depth need. A thread that waits for ever fails
/// it. A failure prints its schedule.
pub(crate) fn check(model: fn()) {
    let times = std::env::var("TRUNKLINE_SCHEDULES").ok().and_then(|text| text.parse().ok());
    let times: usize = times.unwrap_or(TIMES);
    run(RandomScheduler::new(times / 2), model);
    run(PctScheduler::new(DEPTH, times - times / 2), model);
    score::done("schedules", times as u64);
}

fn run(scheduler: impl Scheduler + 'static, model: fn()) {
    Runner::new(scheduler, Config::new()).run(model);
}

/// How many orders are tried of each model, unless it is said.
const TIMES: usize = 4_000;

/// So many times another thread goes first.
const DEPTH: usize = 3;
