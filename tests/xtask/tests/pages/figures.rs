//! Figures of the comparison: rows of the last benchmark, as its page has them.

use std::{env, fs};

const BENCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/evidence/bench.md");

const COMPARISON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/comparison.md");

const BEGIN: &str = "<!-- figures of the benchmark -->\n";

const END: &str = "<!-- end of the figures -->\n";

/// One call in each language, many at a time, and a large result: a goal that is not met is shown.
const ROWS: [&str; 6] =
    ["rust-100", "c-100", "python-100", "node-100", "rust-wide-100", "rust-100k-structured"];

#[test]
fn the_comparison_shows_rows_of_the_last_benchmark() {
    let page = fs::read_to_string(COMPARISON).unwrap();
    let made = with_figures(&page, &figures(&fs::read_to_string(BENCH).unwrap()));
    if env::var_os("UPDATE_FIGURES").is_some() && made != page {
        fs::write(COMPARISON, made).unwrap();
        return;
    }
    assert!(
        made == page,
        "the benchmark has other figures; run UPDATE_FIGURES=1 cargo test -p xtask --test pages"
    );
}

/// The machine of the run, and a table of the chosen rows.
fn figures(bench: &str) -> String {
    let machine = bench.lines().find(|line| line.contains(", commit ")).expect("a machine");
    let machine = machine.split(';').next().unwrap_or_default();
    let mut text = format!("The last whole run: {machine}.\n\n");
    text.push_str("| What | Goal | Measured | |\n| --- | --- | --- | --- |\n");
    for name in ROWS {
        let begin = format!("| `{name}` | ");
        let row = bench.lines().find_map(|line| line.strip_prefix(&begin)).expect(name);
        let cells: Vec<_> = row.split(" | ").map(|cell| cell.trim_end_matches(" |")).collect();
        let [what, goal, measured, _, met] = cells.as_slice() else { panic!("cells of {name}") };
        text.push_str(&format!("| {what} | {goal} | {measured} | {met} |\n"));
    }
    text
}

fn with_figures(page: &str, figures: &str) -> String {
    let (before, rest) = page.split_once(BEGIN).expect("a place for the figures");
    let (_, after) = rest.split_once(END).expect("an end of the figures");
    format!("{before}{BEGIN}\n{figures}\n{END}{after}")
}

#[test]
fn a_row_is_shown_with_its_goal_and_without_its_rounds() {
    let rows =
        ROWS.map(|name| format!("| `{name}` | {name} v x | at most 2 x | 1 x | 1 .. 2 | met |\n"));
    let bench = format!("A machine, commit abc; glibc\n{}", rows.concat());
    let shown = figures(&bench);
    assert!(shown.starts_with("The last whole run: A machine, commit abc.\n"), "{shown}");
    assert!(shown.ends_with("| rust-100k-structured v x | at most 2 x | 1 x | met |\n"), "{shown}");
    assert_eq!(
        with_figures(&format!("a\n{BEGIN}old\n{END}b"), "new\n"),
        format!("a\n{BEGIN}\nnew\n\n{END}b")
    );
}
