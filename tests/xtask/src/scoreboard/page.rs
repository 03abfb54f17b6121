//! The page of the documentation: what came of each row when it was last carried out, in each of
//! its forms.
//!
//! The long forms of all rows take longer than anyone runs in one piece, so that each figure stands
//! beside the commit that it is of. Those of the gate are of one run.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::done::Done;
use super::rows::{Form, ROWS, Row};
use super::table::{Line, Outcome, grouped};
use crate::machine::{Machine, Reach, write};
use crate::run::Stop;

/// Puts what came of these rows, at this commit, in the place of what came of them before, among
/// the figures and on the page.
pub fn update(machine: &Machine, lines: &[Line], commit: &str) -> Result<(), Stop> {
    let form = if machine.reach == Reach::Full { FULL } else { GATE };
    let file = machine.root.join(FIGURES);
    let mut kept = read(&file)?;
    lines.iter().for_each(|line| keep(&mut kept, line, form, commit));
    let text = serde_json::to_string_pretty(&kept).unwrap_or_default();
    write(&file, &(text + "\n"))?;
    write(&machine.root.join(PAGE), &page(&kept))
}

fn read(file: &Path) -> Result<Map<String, Value>, Stop> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(error) => return Err(Stop::Failed(format!("{}: {error}", file.display()))),
    };
    let wrong = |error| Stop::Failed(format!("{}: {error}", file.display()));
    serde_json::from_str(&text).map_err(wrong)
}

/// Keeps what came of a row in that form; of one that has no such form any more nothing stays.
fn keep(kept: &mut Map<String, Value>, line: &Line, form: &str, commit: &str) {
    match came_of(line, commit) {
        Some(came) => kept.entry(line.row.name).or_insert_with(|| json!({}))[form] = came,
        None => {
            let forms = kept.get_mut(line.row.name).and_then(Value::as_object_mut);
            forms.map(|forms| forms.remove(form));
        }
    }
}

/// What is kept of a row. Of one that has no such form there is nothing to keep.
fn came_of(line: &Line, commit: &str) -> Option<Value> {
    let mut came = json!({ "goal": line.form.least()?, "commit": commit });
    match &line.outcome {
        Outcome::Kept(done) => came["done"] = done.to_json(),
        Outcome::Broken(why) => came["broken"] = json!(why),
        Outcome::NotRun(why) => came["not_run"] = json!(why),
    }
    if let Some(took) = line.took {
        came["seconds"] = json!(took.as_secs());
    }
    Some(came)
}

fn page(kept: &Map<String, Value>) -> String {
    let mut page = String::from(HEAD);
    for row in ROWS.iter() {
        let Row { number, name, what, unit, .. } = row;
        let came = kept.get(*name).unwrap_or(&Value::Null);
        let (gate, full) = (cell(row.gate, &came[GATE]), cell(row.full, &came[FULL]));
        let _ = writeln!(page, "| {number} | `{name}` | {what} | {unit} | {gate} | {full} |");
    }
    page
}

fn cell(form: Form, came: &Value) -> String {
    let goal = match form {
        Form::Absent(why) => return format!("not run: {why}"),
        form => grouped(form.least().unwrap_or(0)),
    };
    let done = Done::from_json(&came["done"]);
    let of = |key: &str| came[key].as_str().map(|why| why.replace('|', "\\|").replace('\n', " "));
    let figure = match (&done, of("broken"), of("not_run")) {
        (Some(done), ..) => of_so_many(done, form),
        (_, Some(why), _) => format!("**BROKEN**: {why}"),
        (_, _, Some(why)) => format!("not run: {why}"),
        _ => return format!("not run; goal {goal}"),
    };
    let parts = done.and_then(|done| done.parts()).map_or(String::new(), |parts| parts + "; ");
    let commit = came["commit"].as_str().unwrap_or_default();
    // A row that suites carried out with others took no time of its own.
    let took = came["seconds"].as_u64().map_or(String::new(), |seconds| format!("{seconds} s, "));
    format!("{figure} ({parts}goal {goal}; {took}{commit})")
}

/// A goal may have been raised, or got parts, since a row was carried out.
fn of_so_many(done: &Done, form: Form) -> String {
    let of_all = format!("0 of {}", grouped(done.all()));
    match done.short_of(form) {
        None => format!("**{of_all}**"),
        Some(_) if matches!(form, Form::Each(_)) && done.parts().is_none() => {
            format!("{of_all}, not told apart by parts")
        }
        Some(short) => format!("**only {short}**"),
    }
}

const FIGURES: &str = "docs/evidence/scoreboard.json";
const PAGE: &str = "docs/evidence/scoreboard.md";
const GATE: &str = "gate";
const FULL: &str = "full";

const HEAD: &str = "# Scoreboard

Written by `cargo xtask scoreboard`, from `docs/evidence/scoreboard.json`: each promise beside what puts it to the test. A figure is how often it was broken, of how often it was
tried. A row whose tests are red, or that tried less than its goal, or less than one of its parts has to, is BROKEN and fails the command; \"not run\" is never a pass, and
a run that shows nothing fails. The form of the gate is in each submission, and its figures are of one run of all rows; the long one (`--full`) is run row by row. Beside each figure stand what it
took and the commit that it is of, with a star where something had been changed since.
`TRUNKLINE_SOAK_SECONDS=86400 cargo xtask scoreboard --full soak` makes a day of the soak; `TRUNKLINE_SOAK_FILE` names a file for what its host holds in each second.

| # | Row | What must never happen | Of | Gate | Long form |
|---|---|---|---|---|---|
";

#[cfg(test)]
mod tests {
    use super::{Done, FIGURES, FULL, GATE, PAGE, came_of, cell, keep, page, read};
    use crate::scoreboard::rows::{Form, ROWS};
    use crate::scoreboard::table::{Line, Outcome};
    use serde_json::{Map, Value, json};
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::process::Command;
    use std::time::Duration;

    fn came(outcome: Outcome) -> Value {
        let took = Some(Duration::from_secs(7));
        let line = Line { row: &ROWS[0], form: Form::AtLeast(1_000), outcome, took };
        came_of(&line, "abc, 2026-01-02").unwrap()
    }

    #[test]
    fn a_cell_says_what_came_and_what_was_not_run_is_no_pass() {
        let form = Form::AtLeast(1_000);
        let kept = cell(form, &came(Outcome::Kept(Done::whole(1_200))));
        assert_eq!(kept, "**0 of 1,200** (goal 1,000; 7 s, abc, 2026-01-02)");
        assert!(
            cell(form, &came(Outcome::Broken("red | dead".into())))
                .starts_with("**BROKEN**: red \\| dead")
        );
        assert!(
            cell(form, &came(Outcome::NotRun("no strace".into())))
                .starts_with("not run: no strace")
        );
        assert_eq!(cell(form, &Value::Null), "not run; goal 1,000");
        assert_eq!(
            cell(Form::Absent("never"), &came(Outcome::Kept(Done::whole(1)))),
            "not run: never"
        );
        let mut of_suites = came(Outcome::Kept(Done::whole(1_200)));
        of_suites.as_object_mut().unwrap().remove("seconds");
        assert_eq!(cell(form, &of_suites), "**0 of 1,200** (goal 1,000; abc, 2026-01-02)");
        // The goal was raised since.
        assert!(
            cell(Form::AtLeast(5_000), &came(Outcome::Kept(Done::whole(1_200))))
                .starts_with("**only 1,200 of 5,000 were done**")
        );
        let parts = Form::Each(&[("faults", 60), ("writes", 200)]);
        let cell = |done: Value| cell(parts, &json!({ "done": done, "commit": "abc" }));
        let kept = cell(json!({ "faults": 74, "writes": 200 }));
        assert_eq!(kept, "**0 of 274** (74 faults, 200 writes; goal 260; abc)");
        let short = cell(json!({ "writes": 2_000 }));
        assert_eq!(short, "**only 0 of 60 faults** (2,000 writes; goal 260; abc)");
        assert_eq!(cell(json!(9_000)), "0 of 9,000, not told apart by parts (goal 260; abc)");
    }

    #[test]
    fn a_row_without_a_form_keeps_what_it_had() {
        let row = &ROWS[0];
        let outcome = Outcome::NotRun("none".into());
        assert_eq!(
            came_of(&Line { row, form: Form::Absent("none"), outcome, took: None }, ""),
            None
        );
    }

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
    }

    fn git(arguments: &[&str]) -> std::process::Output {
        Command::new("git").args(arguments).current_dir(root()).output().unwrap()
    }

    /// A clone without all of the history cannot tell of a commit that it lacks.
    fn is_in_history(hash: &str) -> bool {
        let is_there = git(&["cat-file", "-e", hash]).status.success();
        let is_shallow = git(&["rev-parse", "--is-shallow-repository"]).stdout == b"true\n";
        match is_there || !is_shallow {
            true => git(&["merge-base", "--is-ancestor", hash, "HEAD"]).status.success(),
            false => true,
        }
    }

    #[test]
    fn a_commit_that_is_nowhere_is_in_no_history() {
        assert!(is_in_history("HEAD"));
        let is_shallow = git(&["rev-parse", "--is-shallow-repository"]).stdout == b"true\n";
        assert_eq!(is_in_history(&"0".repeat(40)), is_shallow);
    }

    /// A reader of the page can have what a figure is of, and see that nobody rewrote it away.
    #[test]
    fn every_figure_is_of_a_commit_that_is_in_the_history_and_took_a_time() {
        let kept = read(&root().join(FIGURES)).unwrap();
        let (mut wrong, mut of_gate) = (Vec::new(), BTreeSet::new());
        for (name, came) in &kept {
            for form in [GATE, FULL] {
                let came = &came[form];
                let Some(commit) = came["commit"].as_str() else { continue };
                let hash = commit.split([',', '*']).next().unwrap();
                if !is_in_history(hash) {
                    wrong.push(format!("{name}, {form}: {commit} is no ancestor of this one"));
                }
                if came["seconds"].as_u64().is_none() {
                    wrong.push(format!("{name}, {form}: it took no time"));
                }
                if form == GATE {
                    of_gate.insert(commit);
                }
            }
        }
        assert!(of_gate.len() <= 1, "the gate's figures are of one run: {of_gate:?}");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn of_a_form_that_is_no_more_nothing_stays() {
        let line = |form, outcome| Line { row: &ROWS[0], form, outcome, took: None };
        let mut kept = Map::new();
        let done = line(Form::AtLeast(7), Outcome::Kept(Done::whole(7)));
        keep(&mut kept, &done, GATE, "a");
        keep(&mut kept, &done, FULL, "a");
        keep(&mut kept, &line(Form::Absent("no"), Outcome::NotRun("no".into())), GATE, "b");
        let forms = kept[ROWS[0].name].as_object().unwrap();
        assert_eq!(forms.keys().collect::<Vec<_>>(), [FULL]);
    }

    #[test]
    fn the_page_is_made_of_the_figures() {
        let root = root();
        let kept = read(&root.join(FIGURES)).unwrap();
        let names = kept.keys().filter(|name| ROWS.iter().all(|row| row.name != name.as_str()));
        assert_eq!(names.count(), 0);
        assert_eq!(std::fs::read_to_string(root.join(PAGE)).unwrap(), page(&kept));
        assert_ne!(page(&kept), page(json!({"close": {"gate": {"done": 1}}}).as_object().unwrap()));
    }
}
