//! What others send that is odd and understood, and what is wrong and refused at the least cost: a
//! row of a table each (SPEC 18), over each transport that it can come by.
//!
//! | Member of a row | What it is |
//! | --- | --- |
//! | `name`, `group`, `spec` | its name, its kind and the rows of SPEC that it follows |
//! | `on` | the transports, if not all four or those of `raw` |
//! | `at` | the point: a method of the protocol (of calls those of `any`), `GET`, `DELETE`, `endpoint`, `upgrade` |
//! | `times` | how often; always by default |
//! | `with`, `result`, `error`, `beside` | members into the result, another result, an error, members beside the result |
//! | `says` | messages in place of the answer; `$ID`, `$RESULT`, `$ANSWER` stand for the ordinary ones |
//! | `raw` | by transport, what is written in place of the answer; `<FF>` is that byte |
//! | `then` | `close`: the connection ends after it |
//! | `era` | `modern`, if not the legacy one |
//! | `session` | in HTTP, whether the handshake begins a session |
//! | `do` | `prompt` or `resource` in place of a call |
//! | `pool`, `server`, `call` | options |
//! | `ways`, `oauth` | in place of `at`: what an authorization server says, and what the configuration does |
//! | `expects` | what is not as if the row were not there, as a pattern |
//! | `costs` | what is lost, of a row that is refused |
//!
//! `TOLERANCE_ONLY` is a part of the names of the rows that are met alone.

mod oauth;
mod rows;
mod seen;
mod server;
mod wire;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rig::expect;
use serde_json::Value;

use rows::Row;

/// Rows at a time: most of the time of each is a wait.
const WORKERS: usize = 12;

/// Every row over every transport of it.
fn meet_all(rows: &[Row]) {
    let cases: Vec<(&Row, &str)> =
        rows.iter().flat_map(|row| row.transports().map(move |on| (row, on))).collect();
    let only = std::env::var("TOLERANCE_ONLY").unwrap_or_default();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((row, on)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !row.name().contains(&only) {
                        continue;
                    }
                    let met = catch_unwind(AssertUnwindSafe(|| meet(row, on)));
                    let met = met.unwrap_or_else(|_| Err("it panicked".to_owned()));
                    if let Err(why) = met {
                        wrong.lock().unwrap().push(format!("{} over {on}: {why}", row.name()));
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// What was seen of a row has to fit it, and must not fit it with any expectation changed.
fn meet(row: &Row, on: &str) -> Result<(), String> {
    let expected = row.expected();
    let seen = if row.is_sign_in() { oauth::see(row) } else { seen::see(row, on, &expected) };
    expect::fits(&expected, &seen).map_err(|why| parting(&why, &expected, &seen))?;
    match rows::spoiled(&expected).into_iter().find(|other| expect::fits(other, &seen).is_ok()) {
        Some(other) => Err(format!("it would be red for no {other}")),
        None => Ok(()),
    }
}

/// The members that part, since all of them are too many to read.
fn parting(why: &str, expected: &Value, seen: &Value) -> String {
    let parts = expected.as_object().into_iter().flatten().filter_map(|(name, pattern)| {
        let found = &seen[name];
        expect::fits(pattern, found)
            .err()
            .map(|_| format!("\n  {name}: {found:.2000}\n    not {pattern}"))
    });
    let parts: String = parts.collect();
    if parts.is_empty() { why.to_owned() } else { parts }
}

/// SPEC 18.1 to 18.7, 4.3 to 4.5, 5.3, 5.10
#[test]
fn what_is_odd_is_understood() {
    meet_all(&rows::understood());
}

/// SPEC 18.1 to 18.7, 4.3 to 4.5, 5.6, 5.10, 8.4
#[test]
fn what_is_wrong_costs_the_least() {
    meet_all(&rows::refused());
}
