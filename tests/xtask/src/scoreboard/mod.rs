//! `cargo xtask scoreboard`: every promise of the library beside what shows it, with one figure
//! each.
//!
//! The figure is how often a promise was broken of how often it was put to the test. Tests write
//! down how often that was (`core/tests/rig/score.rs`); one that is red breaks the promise. The
//! suites of `cargo xtask test` carry most rows out anyway, so the gate judges what they wrote down
//! and does nothing twice: by a row's own tests, whatever else is red there.

mod done;
mod mutants;
mod page;
mod proofs;
mod rows;
mod soak;
mod table;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use done::Done;
use rows::{Form, ROWS, Row, Source};
pub use table::grouped;
use table::{Line, Outcome};

use crate::machine::{Machine, Reach};
use crate::report;
use crate::run::{Run, Stop};

/// Carries out all rows, or those that are named, and writes what came of them into
/// `docs/evidence/scoreboard.md`.
pub fn scoreboard(machine: &Machine, chosen: &[&str]) -> ExitCode {
    let unknown = chosen.iter().find(|name| ROWS.iter().all(|row| row.name != **name));
    if let Some(unknown) = unknown {
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        eprintln!("xtask: no row {unknown}; there are: {}", names.join(" "));
        return ExitCode::FAILURE;
    }
    // What is committed meanwhile is not what was built.
    let commit = machine.commit();
    let is_chosen = |row: &&Row| chosen.is_empty() || chosen.contains(&row.name);
    let lines: Vec<Line> =
        ROWS.iter().filter(is_chosen).map(|row| carry_out(machine, row)).collect();
    table::print(&lines);
    // The gate's figures are those of one run: what was named alone is shown, and not written down.
    let is_kept = machine.reach == Reach::Full || chosen.is_empty();
    let written = if is_kept { page::update(machine, &lines, &commit) } else { Ok(()) };
    if let Err(Stop::Failed(why) | Stop::NotRun(why)) = written {
        eprintln!("xtask: {why}");
        return ExitCode::FAILURE;
    }
    match has_passed(&lines, machine.is_ci()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Nothing is broken and something was kept: a run that shows nothing is no success, whatever the
/// machine lacks. In CI it lacks nothing.
fn has_passed(lines: &[Line], is_ci: bool) -> bool {
    let is_lacking = |line: &Line| line.form.least().is_some() && line.is_not_run();
    lines.iter().any(|line| matches!(line.outcome, Outcome::Kept(_)))
        && !lines.iter().any(|line| matches!(line.outcome, Outcome::Broken(_)))
        && !(is_ci && lines.iter().any(is_lacking))
}

fn carry_out(machine: &Machine, row: &'static Row) -> Line {
    let form = row.form(machine.reach == Reach::Full);
    if let Form::Absent(why) = form {
        return Line { row, form, outcome: Outcome::NotRun(why.to_owned()), took: None };
    }
    println!("{}: {}", row.name, row.what);
    let log = machine.target.join("xtask").join(format!("scoreboard-{}.log", row.name));
    let mut run = Run::new(log, HANG_BOUND);
    let began = Instant::now();
    let result = start(machine, &mut run, row).and_then(|()| run.leaves_nothing());
    if let Err(Stop::Failed(_)) = result {
        println!("{}\n    the whole log: {}", run.why(TAIL_LINES), run.log().display());
    }
    let done = Done::of(row, &run.scores());
    let outcome = judged(form, result.as_ref().err(), done);
    Line { row, form, outcome, took: Some(began.elapsed()) }
}

fn start(machine: &Machine, run: &mut Run, row: &Row) -> Result<(), Stop> {
    let (package, targets) = match row.source {
        Source::Own { run: own, .. } => return own(machine, run),
        Source::Tests { package, targets, .. } => (package, targets),
    };
    machine.testserver(run)?;
    for target in targets {
        let mut cargo = machine.cargo(&["test", "-p", package]);
        cargo.args(target.program).arg("--").args(target.tests);
        if machine.reach == Reach::Full {
            cargo.env("TRUNKLINE_STRESS", "full");
        }
        run.command(&mut cargo)?;
    }
    Ok(())
}

/// What came of a row: why what carried it out stopped, and how many of its things it did.
fn judged(form: Form, stop: Option<&Stop>, done: Done) -> Outcome {
    match (form, stop) {
        (Form::Absent(why), _) => Outcome::NotRun(why.to_owned()),
        (_, Some(Stop::NotRun(why))) => Outcome::NotRun(why.clone()),
        (_, Some(Stop::Failed(why))) => Outcome::Broken(why.clone()),
        (_, None) => done.short_of(form).map_or(Outcome::Kept(done), Outcome::Broken),
    }
}

/// What came of a row that suites carried out beside other things. Its own tests break it, and they
/// write down what they kept: one that reached its goal is kept, whatever else is red. What was not
/// come to, since a suite broke off before, is not run.
fn among_others(row: &Row, form: Form, suites: &[&report::Row]) -> Outcome {
    let mut done = Done::default();
    suites.iter().for_each(|suite| done.add(row, &suite.scores));
    let failed: Vec<&str> =
        suites.iter().flat_map(|suite| &suite.failed).map(String::as_str).collect();
    let own: Vec<&str> = failed.iter().copied().filter(|test| row.source.has(test)).collect();
    if !own.is_empty() {
        return Outcome::Broken(own.join(", "));
    }
    let Some(short) = done.short_of(form) else { return Outcome::Kept(done) };
    if !failed.is_empty() {
        return Outcome::Broken(format!("{short}; failed: {}", failed.join(", ")));
    }
    let stops = || suites.iter().filter_map(|suite| suite.result.as_ref().err());
    let lacking = stops().find(|stop| matches!(stop, Stop::NotRun(_)));
    match lacking.or_else(|| stops().next()) {
        None => Outcome::Broken(short),
        Some(Stop::NotRun(why)) => Outcome::NotRun(why.clone()),
        // It could not be built, or hung elsewhere; the suite's own line says that it failed.
        Some(Stop::Failed(why)) => Outcome::NotRun(format!("{short}; {why}")),
    }
}

/// The rows that the suites of a run carried out, as one more line of its table; nothing when there
/// was none.
pub fn of_suites(machine: &Machine, suites: &[report::Row]) -> Option<report::Row> {
    let began = Instant::now();
    let line = |row: &'static Row| {
        let named = row.source.suites();
        let of_it: Vec<_> = suites.iter().filter(|suite| named.contains(&suite.suite)).collect();
        let form = row.form(machine.reach == Reach::Full);
        let outcome = match form {
            Form::AtLeast(_) | Form::Each(_) if named.is_empty() => {
                Outcome::NotRun("by `cargo xtask scoreboard --full` alone".to_owned())
            }
            Form::AtLeast(_) | Form::Each(_) if of_it.len() < named.len() => {
                Outcome::NotRun("its suites were not run".to_owned())
            }
            Form::Absent(why) => Outcome::NotRun(why.to_owned()),
            form => among_others(row, form, &of_it),
        };
        Line { row, form, outcome, took: None }
    };
    let lines: Vec<Line> = ROWS.iter().map(line).collect();
    if lines.iter().all(Line::is_not_run) {
        return None;
    }
    table::print(&lines);
    let broken = lines.iter().find_map(|line| match &line.outcome {
        Outcome::Broken(why) => Some(format!("{}: {why}", line.row.name)),
        _ => None,
    });
    Some(report::Row {
        suite: "scoreboard",
        result: broken.map_or(Ok(()), |why| Err(Stop::Failed(why))),
        counted: 0,
        scores: Default::default(),
        failed: Vec::new(),
        took: began.elapsed(),
        budget: Duration::from_secs(60),
    })
}

/// The longest row in its long form, builds included; a soak that was asked to be longer says so
/// itself.
const HANG_BOUND: Duration = Duration::from_secs(3 * 60 * 60);

/// Lines of the log that are printed of a row that is broken.
const TAIL_LINES: usize = 40;

#[cfg(test)]
mod tests {
    use super::{Done, Form, Line, Outcome, ROWS, Row, among_others, has_passed, judged};
    use crate::report;
    use crate::run::Stop;
    use std::collections::BTreeSet;
    use std::time::Duration;

    #[test]
    fn a_row_is_kept_only_when_enough_of_it_was_done_and_nothing_failed() {
        let form = Form::AtLeast(10);
        let judged = |form, stop: Option<&Stop>, done| judged(form, stop, Done::whole(done));
        assert_eq!(judged(form, None, 10), Outcome::Kept(Done::whole(10)));
        assert_eq!(judged(form, None, 9), Outcome::Broken("9 of 10 were done".into()));
        let failed = Stop::Failed("red".into());
        assert_eq!(judged(form, Some(&failed), 10), Outcome::Broken("red".into()));
        let not_run = Stop::NotRun("no strace".into());
        assert_eq!(judged(form, Some(&not_run), 10), Outcome::NotRun("no strace".into()));
        let absent = Form::Absent("long form");
        assert_eq!(judged(absent, None, 10), Outcome::NotRun("long form".into()));
        let parts = Form::Each(&[("half", 5)]);
        assert_eq!(judged(parts, None, 10), Outcome::Broken("0 of 5 half".into()));
    }

    fn row(name: &str) -> &'static Row {
        ROWS.iter().find(|row| row.name == name).unwrap()
    }

    fn suite(result: Result<(), Stop>, scores: &[(&str, u64)], failed: &[&str]) -> report::Row {
        report::Row {
            suite: "core",
            result,
            counted: 1,
            scores: scores.iter().map(|(key, times)| ((*key).to_owned(), *times)).collect(),
            failed: failed.iter().map(|test| (*test).to_owned()).collect(),
            took: Duration::ZERO,
            budget: Duration::ZERO,
        }
    }

    fn failed() -> Result<(), Stop> {
        Err(Stop::Failed("cargo test: exit status: 101".into()))
    }

    fn not_run(why: &str) -> Result<(), Stop> {
        Err(Stop::NotRun(why.into()))
    }

    #[test]
    fn a_row_that_reached_its_goal_is_kept_whatever_else_is_red() {
        let (churn, form) = (row("budget"), Form::AtLeast(300));
        let of = |suite| among_others(churn, form, &[&suite]);
        let kept = Outcome::Kept(Done::whole(300));
        assert_eq!(of(suite(failed(), &[("budget", 300)], &["lists::x", "not ok 3"])), kept);
        assert_eq!(of(suite(not_run("no real servers"), &[("budget", 300)], &[])), kept);
        assert_eq!(of(suite(failed(), &[("budget", 300)], &[])), kept);
        // A suite that another language was for does not speak for this one.
        let of_it = [suite(Ok(()), &[("budget", 300)], &[]), suite(not_run("no npm"), &[], &[])];
        assert_eq!(among_others(churn, form, &[&of_it[0], &of_it[1]]), kept);
    }

    #[test]
    fn a_red_test_of_its_own_breaks_a_row_however_much_was_done() {
        let scores = [("budget", 9_000)];
        let it = suite(failed(), &scores, &["lists::x", "churn::many"]);
        let outcome = among_others(row("budget"), Form::AtLeast(300), &[&it]);
        assert_eq!(outcome, Outcome::Broken("churn::many".into()));
    }

    #[test]
    fn a_row_short_of_its_goal_is_broken_by_what_is_red_and_not_run_without_it() {
        let of = |suites: &[&report::Row]| among_others(row("hosts"), row("hosts").gate, suites);
        let c = suite(Ok(()), &[("hosts/c", 20)], &[]);
        let python = suite(Ok(()), &[("hosts/python", 22)], &[]);
        let short = "0 of 19 node";
        let vanished = suite(Ok(()), &[], &[]);
        assert_eq!(of(&[&c, &python, &vanished]), Outcome::Broken(short.into()));
        let red = suite(failed(), &[], &["not ok 2 - a worker"]);
        let broken = Outcome::Broken(format!("{short}; failed: not ok 2 - a worker"));
        assert_eq!(of(&[&c, &python, &red]), broken);
        let unbuilt = suite(failed(), &[], &[]);
        let why = format!("{short}; cargo test: exit status: 101");
        assert_eq!(of(&[&c, &python, &unbuilt]), Outcome::NotRun(why));
        let lacking = suite(not_run("node: not installed"), &[], &[]);
        assert_eq!(of(&[&c, &python, &lacking]), Outcome::NotRun("node: not installed".into()));
        // What is red may be what this one lacks: it is no excuse that something else is not there.
        let red_in_c = suite(failed(), &[("hosts/c", 20)], &["basics.c:7: not so: pool"]);
        let broken = format!("{short}; failed: basics.c:7: not so: pool");
        assert_eq!(of(&[&red_in_c, &python, &lacking]), Outcome::Broken(broken));
    }

    #[test]
    fn a_run_that_shows_nothing_has_not_passed() {
        let line = |form, outcome| Line { row: &ROWS[0], form, outcome, took: None };
        let kept = || line(Form::AtLeast(1), Outcome::Kept(Done::whole(1)));
        let broken = || line(Form::AtLeast(1), Outcome::Broken("red".into()));
        let lacking = || line(Form::AtLeast(1), Outcome::NotRun("no strace".into()));
        let absent = || line(Form::Absent("never"), Outcome::NotRun("never".into()));
        for nothing in [vec![], vec![lacking()], vec![absent()], vec![kept(), broken()]] {
            assert!(!has_passed(&nothing, false));
        }
        for is_ci in [false, true] {
            assert!(has_passed(&[kept(), absent()], is_ci));
            assert_eq!(has_passed(&[kept(), lacking()], is_ci), !is_ci);
        }
    }

    #[test]
    fn rows_have_names_of_their_own_and_a_form() {
        let names: BTreeSet<&str> = ROWS.iter().map(|row| row.name).collect();
        let numbers: Vec<u8> = ROWS.iter().map(|row| row.number).collect();
        assert_eq!(names.len(), ROWS.len());
        assert_eq!(numbers, (1..=ROWS.len() as u8).collect::<Vec<_>>());
        for row in ROWS.iter() {
            let has_form = [row.gate, row.full].iter().any(|form| form.least().is_some());
            assert!(has_form, "{}", row.name);
        }
    }

    #[test]
    fn every_reader_has_to_be_searched() {
        let readers = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus"));
        let row = ROWS.iter().find(|row| row.name == "fuzz").unwrap();
        let Form::Each(parts) = row.full else { panic!("it has parts") };
        assert!(parts.contains(&("searched", readers.unwrap().count() as u64)));
    }

    /// Of each part that each submission puts to the test, the long form does as much or more.
    #[test]
    fn the_long_form_of_a_row_holds_that_of_the_gate() {
        for row in ROWS.iter() {
            match (row.gate, row.full) {
                (Form::Absent(_), _) => {}
                (Form::AtLeast(gate), Form::AtLeast(full)) => assert!(full >= gate, "{}", row.name),
                (Form::Each(gate), Form::Each(full)) => {
                    let of =
                        |part: &str| full.iter().find(|(other, _)| *other == part).map(|it| it.1);
                    let holds =
                        |(part, least): &(&str, u64)| of(part).is_some_and(|it| it >= *least);
                    assert!(gate.iter().all(holds), "{}", row.name);
                }
                _ => panic!("{}: two forms of different parts", row.name),
            }
        }
    }
}
