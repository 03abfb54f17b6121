//! The lines of a log that say what failed, whichever runner wrote it.

/// Lines that are shown after one that tells of a failure.
const LINES_AFTER: usize = 24;

/// Lines that are shown in all.
const LINES_MAX: usize = 160;

/// What tells of a failure: the line's beginning, as node, pytest, cargo and the C programs write
/// it.
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

/// The tests that a log says have failed: those that cargo's runner lists before its closing line;
/// of the other runners, their line. What only a program tells, or make of its goal, is told
/// likewise, so that one that was killed amid its tests is none that nobody heard of.
pub fn tests(log: &str) -> Vec<String> {
    let mut programs: Vec<&str> = log.split("\ntest result: FAILED").collect();
    programs.pop();
    let lists = programs.iter().filter_map(|text| text.rsplit_once("\nfailures:\n"));
    let of_cargo = lists.flat_map(|(_, names)| names.lines()).map(str::trim);
    let lines: Vec<&str> = log.lines().collect();
    let of_others = lines
        .iter()
        .enumerate()
        .filter(|(at, line)| names_a_test(line.trim()) && !is_of_its_children(&lines[*at..]));
    let all = of_cargo.chain(of_others.map(|(_, line)| line.trim()));
    all.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn names_a_test(line: &str) -> bool {
    line.starts_with("FAILED ")
        || line.starts_with("not ok ")
        || line.contains(": not so: ")
        // Of the programs of `suites/programs.rs`.
        || line.starts_with("error: ") && line.contains(": signal: ")
        || is_goal_of_make(line)
}

/// A goal that runs something; what is built is a file.
fn is_goal_of_make(line: &str) -> bool {
    let goal = line.split_once("*** [Makefile:").and_then(|(_, rest)| rest.split_once(']'));
    goal.is_some_and(|(goal, _)| !goal.contains('/'))
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
    use super::{LINES_MAX, failed, tests};

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

    #[test]
    fn the_failed_tests_of_cargo_are_those_of_its_lists() {
        let passed = "running 2 tests\ntest a::one ... ok\n\ntest result: ok. 2 passed; 0 failed\n";
        let red = "test a::two ... FAILED\ntest b::three ... FAILED\n\nfailures:\n\n---- a::two stdout ----\n\n\
            thread 'a::two' (7) panicked at core/src/a.rs:3:5:\nno\n\nfailures:\n    a::two\n    b::three\n\n\
            test result: FAILED. 1 passed; 2 failed\n\nerror: target/debug/deps/a-1f: exit status: 101\n";
        let other = red.replace("a::two", "c::four").replace("    b::three\n", "");
        let log = format!("{passed}{red}{passed}{other}{passed}");
        assert_eq!(tests(&log), ["a::two", "b::three", "c::four"]);
        assert_eq!(tests(passed), [""; 0]);
        assert_eq!(tests(""), [""; 0]);
    }

    #[test]
    fn the_failed_tests_of_the_other_runners_are_their_lines() {
        for line in [
            "FAILED tests/test_a.py::test_b - assert 1 == 2",
            "FAILED 05-calls: step 3: no such tool",
            "not ok 7 - seven",
            "basics.c:7: not so: pool",
            "error: /t/debug/deps/stress-1f: signal: 6 (SIGABRT) (core dumped)",
            "make: *** [Makefile:97: plain-abuse] Segmentation fault (core dumped)",
        ] {
            assert_eq!(tests(&format!("before\n    {line}\nok 8 - eight\n")), [line]);
        }
        let group = "not ok 2 - group\n  ---\n  failureType: 'subtestsFailed'\n  ...\n";
        let test = "    not ok 7 - seven\n      ---\n      ...\n";
        assert_eq!(tests(&format!("{test}{group}")), ["not ok 7 - seven"]);
    }

    #[test]
    fn what_could_not_be_built_is_no_failed_test() {
        for line in [
            "error[E0308]: mismatched types",
            "error: could not compile `trunkline` (lib) due to 1 previous error",
            "basics.c:7:3: error: unused variable",
            "make: *** [Makefile:56: /t/c/basics.o] Error 1",
            "error: /t/debug/deps/stress-1f: exit status: 101",
        ] {
            assert_eq!(tests(&format!("before\n{line}\n")), [""; 0], "{line}");
        }
    }
}
