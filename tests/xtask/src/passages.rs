//! The lines of a log that say what failed, whichever runner wrote it.

/// Lines that are shown after one that tells of a failure.
const LINES_AFTER: usize = 24;

/// Lines that are shown in all.
const LINES_MAX: usize = 160;

/// What tells of a failure: the line's beginning, as node, pytest, cargo and the C programs write it.
const BEGINNINGS: [&str; 6] = ["not ok ", "FAILED ", "ERROR ", "E   ", "---- ", "error"];

/// The same, anywhere in the line.
const WITHIN: [&str; 4] = [" panicked at ", ": error: ", ": not so: ", ": wanted status "];

/// The passages of `log` that tell of failures; nothing when no runner told of any.
pub fn failed(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let mut shown: Vec<&str> = Vec::new();
    let mut left = 0;
    for (at, line) in lines.iter().enumerate() {
        if tells_of_failure(line) && !is_of_its_children(&lines[at..]) {
            left = LINES_AFTER;
        }
        // The next test's line ends what belongs to the one before.
        if left == 0 || (left < LINES_AFTER && line.trim_start().starts_with("ok ")) {
            left = 0;
            continue;
        }
        left -= 1;
        shown.push(line);
    }
    shown.truncate(LINES_MAX);
    shown.join("\n")
}

fn tells_of_failure(line: &str) -> bool {
    let line = line.trim_start();
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
        || WITHIN.iter().any(|part| line.contains(part))
}

/// Node says of a group that it failed by a test in it, which is shown where it stands.
fn is_of_its_children(lines: &[&str]) -> bool {
    let mut said = lines.iter().take_while(|line| line.trim() != "...");
    lines[0].trim_start().starts_with("not ok ")
        && said.any(|line| line.contains("failureType: 'subtestsFailed'"))
}

#[cfg(test)]
mod tests {
    use super::{LINES_MAX, failed};

    #[test]
    fn a_failed_test_far_above_the_end_is_shown_and_what_passed_is_not() {
        let passed = "    ok 1 - one\n      ---\n      ...\n".repeat(LINES_MAX);
        let test = "    not ok 7 - seven\n      ---\n      error: 'three is not four'\n      ...\n";
        let group = "not ok 2 - group\n  ---\n  failureType: 'subtestsFailed'\n  ...\n";
        let shown = failed(&format!("{test}{passed}{group}{passed}"));
        assert!(shown.contains("not ok 7 - seven") && shown.contains("three is not four"));
        assert!(!shown.contains("ok 1 - one") && !shown.contains("group"), "{shown}");
        assert_eq!(failed(&passed), "");
    }

    #[test]
    fn each_runner_is_understood() {
        for line in [
            "FAILED tests/test_a.py::test_b - assert 1 == 2",
            "FAILED 05-calls: step 3: no such tool",
            "thread 'a' (7) panicked at core/src/a.rs:3:5:",
            "basics.c:7: not so: pool",
            "error[E0308]: mismatched types",
            "basics.c:7:3: error: unused variable",
        ] {
            assert_eq!(failed(&format!("before\n{line}\n")), line);
        }
    }
}
