//! Planted faults: what the table says and the tree does not, and the other way round.

use super::cited::{named_in, said_at_the_head, tests_of};
use super::table::{page, read};
use super::{Tree, faults};
use crate::source::Source;

const TESTS: &str = "core/tests/a.rs";
const ROWS: &str = "tests/xtask/scoreboard.json";

/// What is found where one promise is shown so, and the tree has these files beside the rows.
fn found(shown_by: &str, row: &str, files: &[(&str, &str)]) -> Vec<String> {
    let table =
        format!(r#"[{{"id": "S-01", "promise": "x", "shown_by": {shown_by}, "rows": ["{row}"]}}]"#);
    let mut files: Vec<_> = files.iter().map(|(path, text)| Source::new(path, text)).collect();
    files.push(Source::new(ROWS, r#"[{"name": "close"}]"#));
    faults(&read(&table), &Tree::of(&files))
}

#[test]
fn what_the_table_and_the_tree_say_alike_is_no_fault() {
    let text = "//! S-01\n\n/// S-01: so.\n#[test]\nfn a() {}\n\n#[test]\nfn b() {}\n";
    assert_eq!(found(r#"{"core/tests/a.rs": ["a"]}"#, "close", &[(TESTS, text)]), [""; 0]);
}

#[test]
fn what_the_tree_lacks_is_found() {
    let by = r#"{"core/tests/a.rs": ["a", "b"]}"#;
    let text = "/// S-01\n#[test]\nfn a() {}\n\n/// S-01\nfn b() {}\n";
    let gone = "S-01: core/tests/a.rs has no test b";
    assert_eq!(found(by, "close", &[(TESTS, text)]), [gone]);
    let text = "/// S-01\n#[test]\nfn a() {}\n\n#[test]\nfn b() {}\n";
    let silent = "S-01: core/tests/a.rs: b does not say that it shows it";
    assert_eq!(found(by, "open", &[(TESTS, text)]), ["S-01: there is no row open", silent]);
}

#[test]
fn what_is_said_and_not_named_is_found() {
    let by = r#"{"core/tests/a.rs": ["a"]}"#;
    let text = "//! I-01\n\n/// S-01\n#[test]\nfn a() {}\n\n/// I-02, S-01\n#[test]\nfn b() {}\n";
    let said = |what| format!("core/tests/a.rs: {what}");
    assert_eq!(
        found(by, "close", &[(TESTS, text)]),
        [
            said("b says I-02, which is not shown by it"),
            said("b says S-01, which is not shown by it"),
            said("its head says I-01, which no test there shows"),
        ]
    );
}

#[test]
fn what_no_submission_runs_shows_nothing() {
    let nothing = "S-01: nothing that each submission runs shows it";
    let text = "/// S-01\n#[test]\nfn a() {}\n";
    let by = r#"{"core/src/a/schedules.rs": ["a"]}"#;
    assert_eq!(found(by, "close", &[("core/src/a/schedules.rs", text)]), [nothing]);
    let text = "/// S-01\n#[cfg(windows)]\n#[test]\nfn a() {}\n";
    let by = r#"{"core/tests/a.rs": ["a"]}"#;
    assert_eq!(found(by, "close", &[(TESTS, text)]), [nothing]);
    assert_eq!(found("{}", "close", &[]), [nothing]);
}

#[test]
fn the_page_counts_what_is_run() {
    let table = r#"[
        {"id": "S-01", "promise": "x", "shown_by": {"a.rs": ["a", "b"]}, "rows": ["close"]},
        {"id": "S-02", "promise": "y", "shown_by": {"b.rs": ["a"]}, "rows": []}
    ]"#;
    let page = page(&read(table), |file, name| (file, name) == ("a.rs", "a"));
    assert!(page.contains("**1 of 2 promises"), "{page}");
    assert!(page.contains("3 tests in all, and 1 promises"), "{page}");
    assert!(page.ends_with(
        "| S-01 | x | `a.rs`: a, b (elsewhere) | close |\n| S-02 | y | `b.rs`: a (elsewhere) |  |\n"
    ));
}

/// The tests of a file, each with what it cites.
fn tests(path: &str, text: &str) -> Vec<String> {
    let tests = tests_of(&Source::new(path, text), None);
    let told = |cites: Vec<String>, name: String| format!("{name} {}", cites.join(" "));
    tests.into_iter().map(|test| told(Vec::from_iter(test.cites), test.name)).collect()
}

#[test]
fn a_test_and_what_it_cites_are_found_in_each_language() {
    let rust = "/// S-01\n#[tokio::test]\nasync fn a() {}\n\n/// S-02\nfn none() {}\n";
    assert_eq!(tests("a.rs", rust), ["a S-01"]);
    let c = "/* S-01 */\nstatic void a(void)\n{\n}\n\n/* S-02 */\nstatic void b(void)\n{\n}\n\nint main(void)\n{\n    RUN(a);\n}\n";
    assert_eq!(tests("tests/c/a.c", c), ["a S-01"]);
    let python = "# S-02\n@marked\ndef test_a(\n    x: int,\n) -> None:\n    \"\"\"S-01: as\n\n    I-01.\n    \"\"\"\n    S-03\n\n\ndef other():\n    \"\"\"S-04\"\"\"\n";
    assert_eq!(tests("a.py", python), ["test_a I-01 S-01 S-02"]);
    let script = "  // S-01\n  it('does it', () => {\n    // S-02\n  });\n";
    assert_eq!(tests("a.mjs", script), ["does it S-01"]);
    let cases = r#"[{"name": "a case", "spec": ["1.1", "S-01"]}]"#;
    assert_eq!(tests("tests/behaviour/a.json", cases), ["a case S-01"]);
}

#[test]
fn a_scenario_is_one_where_the_program_has_it() {
    let file =
        Source::new("core/tests/a/b.rs", "/// S-01\npub fn c() {}\n\n/// S-02\npub fn d() {}\n");
    let main = "const SCENARIOS: [(&str, fn()); 1] = [\n    (\"c\", b::c),\n];\n\nfn main() {}\n";
    let main = Source::new("core/tests/a/main.rs", main);
    let names: Vec<_> = tests_of(&file, Some(&main)).into_iter().map(|test| test.name).collect();
    assert_eq!(names, ["c"]);
}

#[test]
fn what_names_a_promise_is_told_from_what_does_not() {
    let all = |text| Vec::from_iter(named_in(text));
    assert_eq!(all("/// SPEC 3.4, S-04 and I-02 to I-04: x."), ["I-02", "I-03", "I-04", "S-04"]);
    assert_eq!(all("(I-28, SECURITY row 14)"), ["I-28"]);
    assert_eq!(all("AS-04 S-4 S-041 s-04 S- 04 -04 I-"), [""; 0]);
    let head = |path, text| Vec::from_iter(said_at_the_head(&Source::new(path, text)));
    assert_eq!(head("core/tests/a.rs", "//! S-01\n\n/// S-02\n"), ["S-01"]);
    let python = "\"\"\"As hosts do.\n\nI-01.\n\"\"\"\n\nfrom a import b\n\n# S-01\n";
    assert_eq!(head("bindings/python/tests/a.py", python), ["I-01"]);
    // What is tested, and what the tests are made with, shows nothing.
    assert_eq!(head("core/src/a.rs", "//! S-01\n"), [""; 0]);
    assert_eq!(head("tests/servers/src/a.rs", "//! S-01\n"), [""; 0]);
}
