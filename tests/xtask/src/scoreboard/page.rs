//! The page of the documentation: what came of each row when it was last carried out, in each of its forms.
//!
//! The long forms of all rows take longer than anyone runs in one piece, so that each figure stands beside the commit that it is of.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::rows::{Form, ROWS, Row};
use super::table::{Line, Outcome, grouped};
use crate::machine::{Machine, Reach, write};
use crate::run::Stop;

/// Puts what came of these rows in the place of what came of them before, among the figures and on the page.
pub fn update(machine: &Machine, lines: &[Line]) -> Result<(), Stop> {
    let form = if machine.reach == Reach::Full { FULL } else { GATE };
    let file = machine.root.join(FIGURES);
    let mut kept = read(&file)?;
    for line in lines {
        if let Some(came) = came_of(line, &machine.commit()) {
            kept.entry(line.row.name).or_insert_with(|| json!({}))[form] = came;
        }
    }
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

/// What is kept of a row. Of one that has no such form there is nothing to keep.
fn came_of(line: &Line, commit: &str) -> Option<Value> {
    let Form::AtLeast(least) = line.form else { return None };
    let mut came = json!({ "goal": least, "commit": commit });
    match &line.outcome {
        Outcome::Kept(done) => came["done"] = json!(done),
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
    for row in ROWS {
        let Row { number, name, what, unit, .. } = row;
        let came = kept.get(*name).unwrap_or(&Value::Null);
        let (gate, full) = (cell(row.gate, &came[GATE]), cell(row.full, &came[FULL]));
        let _ = writeln!(page, "| {number} | `{name}` | {what} | {unit} | {gate} | {full} |");
    }
    page
}

fn cell(form: Form, came: &Value) -> String {
    let least = match form {
        Form::Absent(why) => return format!("not run: {why}"),
        Form::AtLeast(least) => least,
    };
    let of = |key: &str| came[key].as_str().map(|why| why.replace('|', "\\|").replace('\n', " "));
    let figure = match (came["done"].as_u64(), of("broken"), of("not_run")) {
        (Some(done), ..) if done < least => {
            format!("**{} of {} only**", grouped(done), grouped(least))
        }
        (Some(done), ..) => format!("**0 of {}**", grouped(done)),
        (_, Some(why), _) => format!("**BROKEN**: {why}"),
        (_, _, Some(why)) => format!("not run: {why}"),
        _ => return format!("not run; goal {}", grouped(least)),
    };
    let commit = came["commit"].as_str().unwrap_or_default();
    // A row that suites carried out with others took no time of its own.
    let took = came["seconds"].as_u64().map_or(String::new(), |seconds| format!("{seconds} s, "));
    format!("{figure} (goal {}; {took}{commit})", grouped(least))
}

const FIGURES: &str = "docs/scoreboard.json";
const PAGE: &str = "docs/scoreboard.md";
const GATE: &str = "gate";
const FULL: &str = "full";

const HEAD: &str = "# Scoreboard

Written by `cargo xtask scoreboard`, from `docs/scoreboard.json`: each promise beside what puts it to the test. A figure is how often it was broken, of how often it was
tried. A row whose tests are red, or that tried less than its goal, is BROKEN and fails the command; \"not run\" is never a pass. The form of the gate is in
each submission; the long one (`--full`) is run row by row, so that beside each figure stand what it took and the commit that it is of, with a star where
something had been changed since. What the host of the last long soak held, second by second, is [a plot](soak.svg).

| # | Row | What must never happen | Of | Gate | Long form |
|---|---|---|---|---|---|
";

#[cfg(test)]
mod tests {
    use super::{FIGURES, PAGE, came_of, cell, page, read};
    use crate::scoreboard::rows::{Form, ROWS};
    use crate::scoreboard::table::{Line, Outcome};
    use serde_json::{Value, json};
    use std::path::Path;
    use std::time::Duration;

    fn came(outcome: Outcome) -> Value {
        let took = Some(Duration::from_secs(7));
        let line = Line { row: &ROWS[0], form: Form::AtLeast(1_000), outcome, took };
        came_of(&line, "abc, 2026-01-02").unwrap()
    }

    #[test]
    fn a_cell_says_what_came_and_what_was_not_run_is_no_pass() {
        let form = Form::AtLeast(1_000);
        let kept = cell(form, &came(Outcome::Kept(1_200)));
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
        assert_eq!(cell(Form::Absent("never"), &came(Outcome::Kept(1))), "not run: never");
        let mut of_suites = came(Outcome::Kept(1_200));
        of_suites.as_object_mut().unwrap().remove("seconds");
        assert_eq!(cell(form, &of_suites), "**0 of 1,200** (goal 1,000; abc, 2026-01-02)");
        // The goal was raised since.
        assert!(
            cell(Form::AtLeast(5_000), &came(Outcome::Kept(1_200)))
                .starts_with("**1,200 of 5,000 only**")
        );
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

    #[test]
    fn the_page_is_made_of_the_figures() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        let kept = read(&root.join(FIGURES)).unwrap();
        let names = kept.keys().filter(|name| ROWS.iter().all(|row| row.name != name.as_str()));
        assert_eq!(names.count(), 0);
        assert_eq!(std::fs::read_to_string(root.join(PAGE)).unwrap(), page(&kept));
        assert_ne!(page(&kept), page(json!({"close": {"gate": {"done": 1}}}).as_object().unwrap()));
    }
}
