//! The programs that cargo makes of tests, as many at a time as there are cores: most of their time
//! is waiting.

use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::children;
use crate::machine::{Machine, write};
use crate::run::{Run, Stop};

/// What these two calls of `cargo test` would run: the programs of both, and the examples of the
/// documentation. A call always names the same packages, so that nothing is built twice. While the
/// programs of the first run, those of the second are built, and the examples have their turn.
pub fn run(machine: &Machine, run: &mut Run, [first, second]: [&Call; 2]) -> Result<(), Stop> {
    let [of_first, of_second] =
        ["programs", "programs-apart"].map(|name| machine.target.join("xtask").join(name));
    build(run, first, &of_first)?;
    let carried_out = |run: &mut Run| carry_out(machine, run, first, &of_first);
    let beside = |run: &mut Run| {
        children::let_others_go_first();
        let mut outcome = build(run, second, &of_second);
        let _ = machine.library.set(true);
        for cargo in [first, second] {
            outcome = outcome.and(run.command(cargo().arg("--doc")));
        }
        outcome
    };
    let outcome = run.together([&carried_out, &beside]);
    match of_second.exists() {
        true => outcome.and(carry_out(machine, run, second, &of_second)),
        false => outcome,
    }
}

/// A call of `cargo test`.
pub type Call<'a> = dyn Fn() -> Command + Sync + 'a;

/// Builds the programs of a call, and writes the list of them.
fn build(run: &mut Run, cargo: &Call, list: &Path) -> Result<(), Stop> {
    let listed = ["--no-run", "--message-format=json-render-diagnostics"];
    let _ = std::fs::remove_file(list);
    let made = run.carry_out(cargo().args(listed))?;
    let mut programs: Vec<String> = made.lines().filter_map(program).collect();
    programs.sort_by_key(|line| size(line));
    write(list, &programs.join("\n"))
}

/// Runs them as the call would. What runs at once is in one group of processes, this program's
/// again, and ends with it.
fn carry_out(machine: &Machine, run: &mut Run, cargo: &Call, list: &Path) -> Result<(), Stop> {
    let this = std::env::current_exe();
    let this = this.map_err(|error| Stop::Failed(format!("this program: {error}")))?;
    let (mut together, with) = (Command::new(this), cargo());
    together.envs(with.get_envs().filter_map(|(name, value)| Some((name, value?))));
    run.command(together.arg("programs").arg(list).current_dir(&machine.root))
}

/// How large a program of the list is: the larger has more tests, and takes longer.
fn size(line: &str) -> u64 {
    let file = line.split_once('\t').and_then(|(program, _)| std::fs::metadata(program).ok());
    file.map_or(0, |file| file.len())
}

/// The program that cargo tells of in a line, and the folder of its package, in which it is to run.
fn program(line: &str) -> Option<String> {
    let told: Value = serde_json::from_str(line).ok()?;
    if told["reason"] != "compiler-artifact" || told["profile"]["test"] != true {
        return None;
    }
    let folder = Path::new(told["manifest_path"].as_str()?).parent()?.display();
    Some(format!("{}\t{folder}", told["executable"].as_str()?))
}

/// Runs the programs of a list, from both of its ends, and prints what each printed when it has
/// ended.
pub fn programs(list: &str) -> ExitCode {
    let listed = match std::fs::read_to_string(list) {
        Ok(listed) => listed,
        Err(error) => return refused(&format!("{list}: {error}")),
    };
    let (left, has_failed) = (Mutex::new(listed.lines()), AtomicBool::new(listed.is_empty()));
    // One takes the large ones and another the small: no two that ask for much run at once, and
    // neither is left with a long one at the end.
    let next = |lane: usize| {
        let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
        if lane.is_multiple_of(2) { left.next_back() } else { left.next() }
    };
    let lane = |lane: usize| {
        let printed = Path::new(list).with_extension(format!("{lane}.log"));
        while let Some(line) = next(lane) {
            let (name, _) = line.split_once('\t').unwrap_or((line, ""));
            println!("     Running {name}");
            let text = match with_its_output(line, &printed) {
                Ok((status, output)) if status.success() => output,
                not_well => {
                    has_failed.store(true, Ordering::Relaxed);
                    match not_well {
                        Ok((status, output)) => format!("{output}error: {name}: {status}\n"),
                        Err(error) => format!("error: {name}: {error}\n"),
                    }
                }
            };
            print!("     Ended {name}\n{text}");
        }
    };
    std::thread::scope(|scope| {
        for number in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(move || lane(number));
        }
    });
    if has_failed.into_inner() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn refused(why: &str) -> ExitCode {
    eprintln!("xtask: {why}");
    ExitCode::FAILURE
}

/// Runs one as cargo does. It prints into a file, which nobody that it leaves behind can hold open
/// before us, and where what hangs is seen.
fn with_its_output(line: &str, printed: &Path) -> std::io::Result<(ExitStatus, String)> {
    let (program, folder) = line.split_once('\t').ok_or(std::io::ErrorKind::InvalidInput)?;
    let output = File::create(printed)?;
    let mut command = Command::new(program);
    command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
    let status = command.stdout(output.try_clone()?).stderr(output).status()?;
    let printed = std::fs::read(printed)?;
    Ok((status, String::from_utf8_lossy(&printed).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::{program, programs};
    use crate::folder::Folder;
    use std::process::ExitCode;

    #[test]
    fn what_cargo_makes_of_tests_is_told_from_what_it_makes_beside_them() {
        let told = |is_test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/p/Cargo.toml","profile":{{"test":{is_test}}},"executable":{executable}}}"#
            )
        };
        assert_eq!(program(&told(true, r#""/t/a""#)), Some("/t/a\t/p".to_owned()));
        for other in [told(false, r#""/t/a""#), told(true, "null"), "   Compiling a".to_owned()] {
            assert_eq!(program(&other), None);
        }
    }

    #[test]
    fn one_program_that_fails_fails_them_all_and_none_is_no_success() {
        let folder = Folder::new();
        let ends = |listed: &str| {
            std::fs::write(folder.join("list"), listed).unwrap();
            format!("{:?}", programs(folder.join("list").to_str().unwrap()))
        };
        let [well, badly] = [ExitCode::SUCCESS, ExitCode::FAILURE].map(|code| format!("{code:?}"));
        assert_eq!(ends("true\t/\ntrue\t/\ntrue\t/"), well);
        for listed in ["true\t/\nfalse\t/\ntrue\t/", "no-such-program-of-ours\t/", "true", ""] {
            assert_eq!(ends(listed), badly, "{listed}");
        }
        assert_eq!(format!("{:?}", programs("/no/such/list")), badly);
    }
}
