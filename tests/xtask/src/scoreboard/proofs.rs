//! What the long form alone carries out: threads in many orders, and memory under tools that see each use of it.

use std::process::Command;

use crate::machine::Machine;
use crate::run::{Run, Stop};

/// The models in `schedules` modules, by shuttle.
pub fn schedules(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    for package in ["trunkline", "trunkline-ffi"] {
        let args = ["test", "-p", package, "--lib", "--features", "schedules", "schedules::"];
        run.command(machine.cargo(&args).env("TRUNKLINE_SCHEDULES", SCHEDULES))?;
    }
    Ok(())
}

/// Tests under Miri, the thread sanitizer and, through C, the address and the leak sanitizer. One that this machine lacks keeps the others
/// from nothing, but the row is not run then.
pub fn sanitizers(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let mut missing = Vec::new();
    for tool in [miri, threads, addresses] {
        let before = run.counted;
        match tool(machine, run) {
            Ok(()) => run.note_score("sanitizers", run.counted - before),
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
    for (package, tests) in MIRI {
        let mut miri = nightly(machine, &["miri", "test", "-p", package, "--lib", "--"]);
        // The clock is the machine's.
        miri.env("MIRIFLAGS", "-Zmiri-disable-isolation");
        run.command(miri.args(*tests))?;
    }
    Ok(())
}

/// With a standard library that is instrumented as well: without it what is clean is reported.
fn threads(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    components(machine, run, &["rust-src"])?;
    machine.testserver(run)?;
    let target = machine.target.join("tsan");
    for (programs, tests) in THREADS {
        let mut test = nightly(machine, &["test", "-Zbuild-std", "--target", TARGET]);
        // Not in the environment: tests build servers of their own.
        test.arg("--config").arg(format!("target.{TARGET}.rustflags=['-Zsanitizer=thread']"));
        test.arg("--target-dir").arg(&target).args(*programs).arg("--").args(*tests);
        run.command(&mut test)?;
    }
    Ok(())
}

fn addresses(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    run.preparation("a C compiler", machine.command("cc").arg("--version"))?;
    crate::suites::c_programs(machine, run, &["sanitized"])
}

fn components(machine: &Machine, run: &mut Run, names: &[&str]) -> Result<(), Stop> {
    let mut add = machine.command("rustup");
    add.args(["component", "add", "--toolchain", "nightly"]).args(names);
    run.preparation(&format!("{} of a nightly compiler", names.join(" and ")), &mut add)
}

fn nightly(machine: &Machine, args: &[&str]) -> Command {
    let mut command = machine.command("rustup");
    command.args(["run", "nightly", "cargo"]).args(args);
    command
}

/// Of each model; there are fourteen.
const SCHEDULES: &str = "72000";

/// What the tools are for: the one that they were tried on.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What has few steps, starts no process and calls nothing foreign. A payload that panics when it is dropped is let go of on purpose, and so
/// is left out.
const MIRI: &[(&str, &[&str])] = &[
    (
        "trunkline-ffi",
        &[
            "table::tests::a_",
            "error::",
            "guard::",
            "completion::",
            "--skip=a_panic_payload_that_panics_when_dropped",
            "--skip=an_operation_that_panics_later",
        ],
    ),
    ("trunkline", &["wakes::", "driver::subscriber"]),
    ("trunkline-pool", &["in_flight::", "id_map::"]),
];

/// Where threads meet: in the library, in its C ABI, and with servers.
const THREADS: &[(&[&str], &[&str])] = &[
    (
        &["-p", "trunkline", "-p", "trunkline-ffi", "--lib"],
        &[
            "wakes::",
            "driver::hub",
            "driver::subscriber",
            "client::tests::calls",
            "in_flight",
            "table::",
            "queue::",
            "completion::",
        ],
    ),
    (
        &["-p", "trunkline", "--test", "stress"],
        &["polls::", "events::", "cancels::", "canaries::", "acquires::"],
    ),
];
