//! One suite's run: commands, their log, what the runners counted, and why it stopped.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::children::{self, Ended};
use crate::passages;

/// Why a suite did not pass.
#[derive(Debug, PartialEq)]
pub enum Stop {
    Failed(String),
    /// Something that this machine lacks, in words.
    NotRun(String),
}

/// What a command did that may fail.
pub struct Observed {
    pub succeeded: bool,
    /// How it ended, in words.
    pub ended: String,
    /// What it printed.
    pub text: String,
}

/// What a suite does beside something else.
pub type Part<'a> = dyn Fn(&mut Run) -> Result<(), Stop> + Sync + 'a;

/// A suite under way.
pub struct Run {
    log: PathBuf,
    /// Where its commands put their temporary files; it goes with the run, whatever was killed.
    temporary: PathBuf,
    deadline: Instant,
    /// Tests that the runners said they passed.
    pub counted: u64,
    scores: BTreeMap<String, u64>,
    /// The runners' own closing lines.
    pub closing: Vec<String>,
    /// What was put to the test and found wrong, test by test, as its runner names it.
    pub failed: Vec<String>,
}

impl Run {
    /// Starts a run that writes to `log` and may take `bound` in all.
    pub fn new(log: PathBuf, bound: Duration) -> Run {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let _ = std::fs::remove_file(&log);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("trunkline-suite-{}-{number}", std::process::id());
        let temporary = std::env::temp_dir().join(name);
        let (deadline, scores) = (Instant::now() + bound, BTreeMap::new());
        let (closing, failed) = (Vec::new(), Vec::new());
        Run { log, temporary, deadline, counted: 0, scores, closing, failed }
    }

    /// May take so long from here on, where that is longer than was said before.
    pub fn may_take(&mut self, bound: Duration) {
        self.deadline = self.deadline.max(Instant::now() + bound);
    }

    /// Runs a command that must succeed; its output goes to the log, and what it counted counts.
    pub fn command(&mut self, command: &mut Command) -> Result<(), Stop> {
        let text = self.carry_out(command)?;
        self.count(&text);
        Ok(())
    }

    /// Runs parts at the same time, all of them to their ends. Each has a log of its own until then.
    pub fn together<const N: usize>(&mut self, parts: [&Part; N]) -> Result<(), Stop> {
        let runs = std::array::from_fn::<Run, N, _>(|number| {
            let log = self.log.with_extension(format!("{number}.log"));
            Run::new(log, self.deadline.saturating_duration_since(Instant::now()))
        });
        let ended = std::thread::scope(|scope| {
            let begun = runs.into_iter().zip(parts).map(|(mut run, part)| {
                scope.spawn(move || {
                    let outcome = part(&mut run).and_then(|()| run.leaves_nothing());
                    (run, outcome)
                })
            });
            let begun: Vec<_> = begun.collect();
            let ended = begun.into_iter().map(|part| part.join());
            ended
                .map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect::<Vec<_>>()
        });
        let mut whole = Ok(());
        for (part, outcome) in ended {
            self.take_over(part);
            whole = whole.and(outcome);
        }
        whole
    }

    /// Makes what a part did its own.
    fn take_over(&mut self, mut part: Run) {
        let printed = std::fs::read(&part.log).unwrap_or_default();
        if let Ok(mut log) = self.open_log() {
            let _ = log.write_all(&printed);
        }
        let _ = std::fs::remove_file(&part.log);
        self.counted += part.counted;
        for (row, times) in part.scores() {
            self.note_score(&row, times);
        }
        self.closing.append(&mut part.closing);
        self.failed.append(&mut part.failed);
    }

    /// Runs a command that prepares something. Failing means that the machine lacks it.
    pub fn preparation(&mut self, what: &str, command: &mut Command) -> Result<(), Stop> {
        let before = self.failed.len();
        self.carry_out(command).map(drop).map_err(|stop| {
            // It puts nothing to the test.
            self.failed.truncate(before);
            match stop {
                Stop::Failed(why) => Stop::NotRun(format!("{what}: {why}")),
                not_run @ Stop::NotRun(_) => not_run,
            }
        })
    }

    /// Runs a command that must succeed and hands over what it printed.
    pub fn carry_out(&mut self, command: &mut Command) -> Result<String, Stop> {
        let words = in_words(command);
        let (ended, text) = self.watch(command, Duration::MAX)?;
        let why = format!("{words}: {}", end_in_words(&ended));
        match ended {
            Ended::With(status) if status.success() => return Ok(text),
            // Whom a signal ends says no more which test it was at.
            Ended::With(status) if status.code().is_none() => self.failed.push(why.clone()),
            Ended::With(_) | Ended::AtItsBound | Ended::LeavingProcesses => {}
        }
        self.failed.extend(passages::tests(&text));
        Err(Stop::Failed(why))
    }

    /// Runs a command that may fail, for at most `bound`.
    pub fn observe(&mut self, command: &mut Command, bound: Duration) -> Result<Observed, Stop> {
        let (ended, text) = self.watch(command, bound)?;
        let succeeded = matches!(ended, Ended::With(status) if status.success());
        Ok(Observed { succeeded, ended: end_in_words(&ended), text })
    }

    /// Writes down that a promise was put to the test so many times, as tests do by
    /// `core/tests/rig/score.rs`.
    pub fn note_score(&mut self, row: &str, times: u64) {
        *self.scores.entry(row.to_owned()).or_default() += times;
    }

    /// How often which promise was put to the test: what tests wrote down, and what was noted.
    pub fn scores(&self) -> BTreeMap<String, u64> {
        let mut scores = self.scores.clone();
        let written = std::fs::read_to_string(self.temporary.join(SCORES)).unwrap_or_default();
        for line in written.lines() {
            let Some((row, times)) = line.split_once(' ') else { continue };
            *scores.entry(row.to_owned()).or_default() += times.parse::<u64>().unwrap_or(0);
        }
        scores
    }

    /// Counts what no runner counted.
    pub fn note_passed(&mut self, passed: u64) {
        self.counted += passed;
    }

    /// What a suite's tests made among the temporary files is gone with them.
    ///
    /// Package managers, compilers and test runners keep what they like there.
    pub fn leaves_nothing(&self) -> Result<(), Stop> {
        let entries = std::fs::read_dir(&self.temporary).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let left: Vec<String> = names.filter(|name| name.starts_with("trunkline")).collect();
        let why = || format!("left among the temporary files: {}", left.join(", "));
        if left.is_empty() { Ok(()) } else { Err(Stop::Failed(why())) }
    }

    fn watch(&mut self, command: &mut Command, bound: Duration) -> Result<(Ended, String), Stop> {
        let log = self.open_log().map_err(|error| Stop::Failed(format!("log: {error}")))?;
        std::fs::create_dir_all(&self.temporary)
            .map_err(|error| Stop::Failed(format!("temporary files: {error}")))?;
        command.env("TMPDIR", &self.temporary);
        command.env("TRUNKLINE_SCORES", self.temporary.join(SCORES));
        let before = log.metadata().map_or(0, |metadata| metadata.len()) as usize;
        let left = self.deadline.saturating_duration_since(Instant::now()).min(bound);
        let ended = match children::run(command, &log, left) {
            Ok(ended) => ended,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Stop::NotRun(format!("{}: not installed", in_words(command))));
            }
            Err(error) => return Err(Stop::Failed(format!("{}: {error}", in_words(command)))),
        };
        let printed = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(printed.get(before..).unwrap_or_default()).into_owned();
        Ok((ended, text))
    }

    /// What the log says of failures, and its last lines.
    pub fn why(&self, last: usize) -> String {
        let bytes = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines[lines.len().saturating_sub(last)..].join("\n");
        match passages::failed(&text) {
            failures if failures.is_empty() => tail,
            failures => format!("{failures}\n    at the end:\n{tail}"),
        }
    }

    /// Where everything that was printed stands.
    pub fn log(&self) -> &Path {
        &self.log
    }

    fn count(&mut self, text: &str) {
        for line in text.lines() {
            if let Some(passed) = passed_in(line) {
                self.counted += passed;
                self.closing.push(line.trim().to_string());
            } else if line.strip_prefix("ok ").is_some_and(|test| !test.contains(' ')) {
                // A test of the C and C++ programs.
                self.counted += 1;
            } else if let Some(said) = said_by_simulator(line) {
                self.closing.push(said.to_string());
            }
        }
    }

    fn open_log(&self) -> std::io::Result<File> {
        if let Some(folder) = self.log.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::OpenOptions::new().create(true).append(true).open(&self.log)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // What was killed may still be ending, and write.
        let _ = std::fs::remove_dir_all(&self.temporary);
    }
}

/// How many tests a runner's closing line says have passed: cargo's `test result: ok. 6 passed`,
/// pytest's `6 passed in 1.2s`, node's `# pass 6`, and `6 passed, 0 failed` of the C programs.
fn passed_in(line: &str) -> Option<u64> {
    let words: Vec<&str> = line
        .split(|c: char| c.is_whitespace() || c == ',' || c == '=')
        .filter(|word| !word.is_empty())
        .collect();
    if let ["#" | "ℹ", "pass", number] = words[..] {
        return number.parse().ok();
    }
    let at = words.iter().position(|word| matches!(*word, "passed" | "passed;"))?;
    let is_closing =
        words.contains(&"result:") || words.get(at + 1) == Some(&"in") || words.len() == 2;
    let is_closing = is_closing || words.get(at + 2) == Some(&"failed");
    let number = at.checked_sub(1).and_then(|before| words.get(before))?;
    number.parse().ok().filter(|_| is_closing || words.iter().any(|word| word.ends_with('s')))
}

/// How far the simulator went, and from which seed on, where it says so. The test's name may stand
/// before it.
fn said_by_simulator(line: &str) -> Option<&str> {
    let said = line.rsplit(" ... ").next()?.trim();
    (said.contains(" steps in ") && said.contains(" from seed ")).then_some(said)
}

fn end_in_words(ended: &Ended) -> String {
    match ended {
        Ended::With(status) => status.to_string(),
        Ended::AtItsBound => "killed at the hang bound".to_owned(),
        Ended::LeavingProcesses => "left a process behind".to_owned(),
    }
}

/// The program and its first arguments, for messages.
fn in_words(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let args = command.get_args().take(WORDS_MAX).map(|arg| arg.to_string_lossy());
    let words = std::iter::once(program.to_string_lossy()).chain(args);
    words.collect::<Vec<_>>().join(" ")
}

/// What tests write down for the scoreboard, among the temporary files.
const SCORES: &str = "scores";

/// Arguments that a message shows.
const WORDS_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use super::{Run, Stop, passed_in};
    use crate::folder::Folder;
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn closing_lines_of_each_runner_are_counted() {
        assert_eq!(passed_in("test result: ok. 6 passed; 0 failed; 0 ignored"), Some(6));
        assert_eq!(passed_in("======= 12 passed, 1 warning in 3.10s ======="), Some(12));
        assert_eq!(passed_in("# pass 40"), Some(40));
        assert_eq!(passed_in("ℹ pass 41"), Some(41));
        assert_eq!(passed_in("7 passed"), Some(7));
        assert_eq!(passed_in("407 passed, 0 failed"), Some(407));
        assert_eq!(passed_in("the test passed"), None);
        assert_eq!(passed_in("# fail 2"), None);
    }

    #[test]
    fn a_failure_a_missing_program_and_a_hang_are_told_apart() {
        let folder = Folder::new();
        let mut run = Run::new(folder.join("log"), Duration::from_millis(500));
        let simulated = "70 steps in 2 runs from seed 9 on, no invariant broken";
        let print = format!(
            "echo 3 passed; echo test x ... {simulated}; echo a table; echo ok a_test; echo ok 1 - a"
        );
        run.command(Command::new("sh").args(["-c", &print])).unwrap();
        let closing = ["3 passed".to_string(), simulated.to_string()];
        assert_eq!((run.counted, &run.closing[..]), (4, &closing[..]));
        let failed = run.command(Command::new("sh").args(["-c", "exit 1"])).unwrap_err();
        assert!(matches!(failed, Stop::Failed(_)));
        assert_eq!(run.failed, [""; 0]);
        let red = "echo not ok 3 - three; exit 1";
        run.preparation("it", Command::new("sh").args(["-c", red])).unwrap_err();
        assert_eq!(run.failed, [""; 0]);
        run.command(Command::new("sh").args(["-c", red])).unwrap_err();
        run.command(Command::new("sh").args(["-c", "kill -SEGV $$"])).unwrap_err();
        assert_eq!(run.failed[0], "not ok 3 - three");
        assert!(run.failed[1].contains("signal: 11"), "{:?}", run.failed);
        let missing = run.command(&mut Command::new("no-such-program-of-ours")).unwrap_err();
        assert!(matches!(missing, Stop::NotRun(_)));
        let hung = run.command(Command::new("sleep").arg("600")).unwrap_err();
        assert_eq!(hung, Stop::Failed("sleep 600: killed at the hang bound".to_string()));
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn parts_run_at_the_same_time_and_all_of_them_count() {
        let folder = Folder::new();
        let mut run = Run::new(folder.join("log"), Duration::from_secs(60));
        // Each ends when the other has begun.
        let meets = |mine: &'static str, other: &'static str, last: &'static str| {
            let (mine, other) = (folder.join(mine), folder.join(other));
            let script = format!(
                "touch {}; until [ -e {} ]; do sleep 0.01; done; {last}",
                mine.display(),
                other.display()
            );
            move |run: &mut Run| run.command(&mut shell(&script))
        };
        let (one, other) =
            (meets("one", "other", "echo 3 passed"), meets("other", "one", "echo 4 passed"));
        assert_eq!(run.together([&one, &other]), Ok(()));
        assert_eq!((run.counted, run.closing.len()), (7, 2));
        let (well, red) =
            (meets("a", "b", "echo 1 passed"), meets("b", "a", "echo not ok 1 - one; exit 1"));
        assert!(run.together([&red, &well]).is_err());
        assert_eq!((run.counted, &run.failed[..]), (8, &["not ok 1 - one".to_owned()][..]));
        let text = std::fs::read_to_string(run.log()).unwrap();
        assert!(text.contains("4 passed") && text.contains("not ok 1 - one"), "{text}");
    }

    #[test]
    fn a_run_may_ask_for_longer_and_not_for_less() {
        let folder = Folder::new();
        let mut run = Run::new(folder.join("log"), Duration::ZERO);
        let bounded = run.command(Command::new("sleep").arg("600")).unwrap_err();
        assert_eq!(bounded, Stop::Failed("sleep 600: killed at the hang bound".to_string()));
        run.may_take(Duration::from_secs(60));
        run.may_take(Duration::ZERO);
        assert_eq!(run.command(Command::new("sleep").arg("0.2")), Ok(()));
    }

    #[test]
    fn what_tests_leave_among_the_temporary_files_fails_their_suite() {
        let folder = Folder::new();
        let mut run = Run::new(folder.join("log"), Duration::from_secs(60));
        run.command(&mut shell("touch $TMPDIR/others")).unwrap();
        assert_eq!(run.leaves_nothing(), Ok(()));
        run.command(&mut shell("mkdir $TMPDIR/trunkline-test-1")).unwrap();
        let why = "left among the temporary files: trunkline-test-1";
        assert_eq!(run.leaves_nothing(), Err(Stop::Failed(why.to_string())));
        let temporary = run.temporary.clone();
        drop(run);
        assert!(!temporary.exists());
    }
}
