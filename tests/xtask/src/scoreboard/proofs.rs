//! What the long form alone carries out: threads in many orders, and memory under tools that see
//! each use of it.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::rows::written;
use crate::machine::Machine;
use crate::run::{Run, Stop};
use crate::tables::{list, word, words};

/// The models in `schedules` modules, by shuttle.
pub fn schedules(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    for package in ["trunkline", "trunkline-ffi"] {
        let args = ["test", "-p", package, "--lib", "--features", "schedules", "schedules::"];
        run.command(machine.cargo(&args).env("TRUNKLINE_SCHEDULES", ORDERS.to_string()))?;
    }
    Ok(())
}

/// Tests under Miri, the thread sanitizer and, through C and Python, the address sanitizer. One
/// that this machine lacks keeps the others from nothing, but the row is not run then.
pub fn sanitizers(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let mut missing = Vec::new();
    for (name, tool) in TOOLS {
        let before = run.counted;
        match tool(machine, run) {
            Ok(()) => run.note_score(&format!("sanitizers/{name}"), run.counted - before),
            Err(Stop::NotRun(why)) => missing.push(why),
            Err(failed) => return Err(failed),
        }
    }
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Stop::NotRun(missing.join("; "))),
    }
}

fn miri(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    components(machine, run, &["miri", "rust-src"])?;
    for (fault, said) in [("race", "Data race detected"), ("freed", "Undefined Behavior")] {
        let mut miri = nightly(machine, &["miri", "test", "--manifest-path", PLANTED]);
        reports(
            run,
            miri.arg("--target-dir").arg(machine.target.join("planted")).arg(fault),
            said,
        )?;
    }
    // What has few steps, starts no process and calls nothing foreign. A payload that panics when
    // it is dropped is let go of on purpose, and so is left out.
    for part in list(written("sanitizers"), "miri") {
        let package = word(part, "package");
        let mut miri = nightly(machine, &["miri", "test", "-p", package, "--lib", "--"]);
        // The clock is the machine's.
        miri.env("MIRIFLAGS", "-Zmiri-disable-isolation");
        run.command(miri.args(words(part, "tests")))?;
    }
    Ok(())
}

/// With a standard library that is instrumented as well: without it what is clean is reported.
fn threads(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    components(machine, run, &["rust-src"])?;
    machine.testserver(run)?;
    let mut planted = sanitized(machine, "thread", &["test", "-Zbuild-std"]);
    planted.args(["--manifest-path", PLANTED, "race"]);
    reports(run, &mut planted, "ThreadSanitizer: data race")?;
    // Where threads meet: in the library, in its C ABI, and with servers.
    for part in list(written("sanitizers"), "threads") {
        let mut test = sanitized(machine, "thread", &["test", "-Zbuild-std"]);
        // A runtime that lives as long as its process holds the last of its threads that went,
        // which joins the next one to go.
        test.env("TSAN_OPTIONS", "report_thread_leaks=0");
        run.command(test.args(words(part, "program")).arg("--").args(words(part, "tests")))?;
    }
    Ok(())
}

/// The C programs and the library that they are linked with, both instrumented.
fn addresses(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    components(machine, run, &["rust-src"])?;
    let built = build_for_addresses(machine, run, &["--manifest-path", PLANTED])?;
    let program = machine.target.join("xtask/planted-freed");
    let mut cc = machine.command("cc");
    cc.args(["-g", "-fsanitize=address", "tests/planted/freed.c", "-o"]).arg(&program);
    cc.arg("-L").arg(&built).arg("-ltrunkline_planted");
    cc.arg(format!("-Wl,-rpath,{}", built.display()));
    run.preparation("a C compiler with the address sanitizer", &mut cc)?;
    for place in [&[][..], &["library"]] {
        let mut planted = machine.command(&program);
        reports(run, planted.args(place), "AddressSanitizer: heap-use-after-free")?;
    }
    build_for_addresses(machine, run, &["-p", "trunkline-dist"])?;
    crate::suites::c_programs_of(machine, run, &built, &["sanitized"])
}

/// The Python package, whose native module is instrumented, with the runtime of the C compiler's
/// sanitizer before everything else. Leaks are looked for while the interpreter is whole, which
/// leaves everything when it ends; in arenas of its own its objects would hide what they refer to.
fn python_addresses(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    components(machine, run, &["rust-src"])?;
    machine.testserver(run)?;
    let environment = crate::suites::python_environment(machine, run)?;
    let mut runtime = machine.command("cc");
    let runtime = run.carry_out(runtime.arg("-print-file-name=libasan.so"))?;
    let suppressions = machine.root.join("bindings/python/tests/leaks.supp");
    let python = |args: &[&str]| {
        let mut command = machine.command(environment.join("bin/python"));
        command.args(args).env("LD_PRELOAD", runtime.trim()).env("PYTHONMALLOC", "malloc");
        command.env("ASAN_OPTIONS", "detect_leaks=1:leak_check_at_exit=0");
        command.env("LSAN_OPTIONS", format!("suppressions={}", suppressions.display()));
        command
    };
    build_for_addresses(machine, run, &["--manifest-path", PLANTED])?;
    let built = build_for_addresses(machine, run, &["-p", "trunkline-python"])?;
    let library = built.join("libtrunkline_planted.so");
    let tests = machine.root.join("bindings/python/tests");
    for (fault, said) in
        [("read_freed", "heap-use-after-free"), ("leak", "LeakSanitizer: detected")]
    {
        let planted = format!(
            "import ctypes, leaks; ctypes.CDLL({library:?}).{fault}(); exit(leaks.are_there())"
        );
        reports(run, python(&["-c", &planted]).env("PYTHONPATH", &tests), said)?;
    }
    let package = built.join("python");
    let mut copy = machine.command("cp");
    copy.args(["-rT", "bindings/python/python"]).arg(&package);
    run.command(&mut copy)?;
    let module = package.join("trunkline/_trunkline.abi3.so");
    std::fs::copy(built.join("lib_trunkline.so"), &module)
        .map_err(|error| Stop::Failed(format!("{}: {error}", module.display())))?;
    let mut pytest = python(&["-m", "pytest", "-q", "-p", "leaks"]);
    let path = std::env::join_paths([&package, &tests])
        .map_err(|error| Stop::Failed(format!("{}: {error}", tests.display())))?;
    // What uses the native module from threads, loops and callbacks; forks and ends of hosts are
    // for the suite.
    let modules = words(written("sanitizers"), "python").iter();
    pytest.args(modules.map(|module| tests.join(format!("test_{module}.py"))));
    run.command(pytest.env("PYTHONPATH", path))
}

/// A tool that does not see a planted fault shows nothing by its silence.
fn reports(run: &mut Run, command: &mut Command, said: &str) -> Result<(), Stop> {
    let observed = run.observe(command, PLANTED_BOUND)?;
    match !observed.succeeded && observed.text.contains(said) {
        true => Ok(()),
        false => Err(Stop::Failed(format!("a planted fault is not reported: no {said:?}"))),
    }
}

fn components(machine: &Machine, run: &mut Run, names: &[&str]) -> Result<(), Stop> {
    let mut add = machine.command("rustup");
    add.args(["component", "add", "--toolchain", "nightly"]).args(names);
    run.preparation(&format!("{} of a nightly compiler", names.join(" and ")), &mut add)
}

/// Builds a library that the address sanitizer sees into; where it is.
fn build_for_addresses(machine: &Machine, run: &mut Run, what: &[&str]) -> Result<PathBuf, Stop> {
    run.command(sanitized(machine, "address", &["build"]).args(what))?;
    Ok(machine.target.join("san-address").join(TARGET).join("debug"))
}

/// A cargo command of the nightly compiler whose programs are instrumented, in a build folder of
/// their own.
fn sanitized(machine: &Machine, sanitizer: &str, args: &[&str]) -> Command {
    let mut command = nightly(machine, args);
    // Not in the environment: tests build servers of their own.
    let flags = format!("target.{TARGET}.rustflags=['-Zsanitizer={sanitizer}']");
    command.args(["--target", TARGET, "--config", &flags]);
    command.arg("--target-dir").arg(machine.target.join(format!("san-{sanitizer}")));
    command
}

fn nightly(machine: &Machine, args: &[&str]) -> Command {
    let mut command = machine.command("rustup");
    command.args(["run", "nightly", "cargo"]).args(args);
    command
}

type Tool = fn(&Machine, &mut Run) -> Result<(), Stop>;

/// By the part of the row that each is.
const TOOLS: [(&str, Tool); 4] =
    [("miri", miri), ("threads", threads), ("addresses", addresses), ("python", python_addresses)];

/// Faults that the tools must see.
const PLANTED: &str = "tests/planted/Cargo.toml";

/// What building and running one of them may take.
const PLANTED_BOUND: Duration = Duration::from_secs(20 * 60);

/// Of each model; of all together a million.
const ORDERS: u64 = 46_000;

/// What the tools are for: the one that they were tried on.
const TARGET: &str = "x86_64-unknown-linux-gnu";

#[cfg(test)]
mod tests {
    use super::super::rows::{Form, ROWS};
    use super::ORDERS;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The names of the tests that are models: those of the modules `schedules`.
    fn in_code(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                in_code(&path, found);
            } else if path.ends_with("schedules.rs") {
                let module =
                    path.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
                let text = std::fs::read_to_string(&path).unwrap();
                // Each test is one model.
                for test in text.split("#[test]").skip(1) {
                    let name = test.split_once("fn ").unwrap().1.split_once('(').unwrap().0;
                    found.push(format!("{module}: {name}"));
                }
            }
        }
    }

    #[test]
    fn the_models_of_the_code_are_those_of_the_page() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        let mut found = Vec::new();
        in_code(&root.join("core/src"), &mut found);
        in_code(&root.join("ffi/src"), &mut found);
        let orders = found.len() as u64 * ORDERS;
        assert!(orders >= 1_000_000);
        let row = ROWS.iter().find(|row| row.name == "schedules").unwrap();
        assert_eq!(row.full, Form::AtLeast(orders));
        let page = std::fs::read_to_string(root.join("docs/internals/schedules.md")).unwrap();
        let model = |line: &str| {
            let (module, rest) = line.strip_prefix("| `")?.split_once("`: `")?;
            Some(format!("{module}: {}", rest.split_once('`')?.0))
        };
        let listed: Vec<String> = page.lines().filter_map(model).collect();
        assert_eq!(listed.len(), found.len(), "{listed:?}");
        assert_eq!(BTreeSet::from_iter(listed), BTreeSet::from_iter(found));
    }
}
