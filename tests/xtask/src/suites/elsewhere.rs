//! Machines and systems that this one is not, where what is compiled for them can be run here:
//! 64-bit ARM by qemu, Windows by Wine.
//!
//! Neither is the real thing. docs/guide/platforms.md says what of the suites they carry, and what
//! they do not.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::{Machine, write};
use crate::run::{Run, Stop};

const ARM: &str = "aarch64-unknown-linux-gnu";

const WINDOWS: &str = "x86_64-pc-windows-gnu";

/// Where Debian has the libraries of the other machine.
const ARM_ROOT: &str = "/usr/aarch64-linux-gnu";

/// Tests of the library that qemu does not carry: they start their own program, which the kernel
/// cannot without qemu's help, or ask the kernel to make them a subreaper or to start a program
/// from memory, which qemu refuses; or count descriptors, since qemu has its own.
const NOT_UNDER_QEMU: [&str; 9] = [
    "processes::",
    "client::tests::host::",
    "platform::",
    "a_child_has_three_descriptors_a_session_of_its_own_and_plain_signals",
    "a_save_that_fails_or_is_killed_leaves_the_old_file_or_the_new",
    "two_hundred_failed_starts_and_two_hundred_dropped_attempts_leave_nothing",
    "a_flood_on_stderr_costs_no_memory",
    "a_full_disk_leaves_the_old_catalog",
    "a_hundred_watchers_leave_nothing",
];

/// Of the Makefile of the C programs, what qemu carries. Left out are `exit` and `exit_inside`,
/// whose hosts start their own program, and `real`, whose server leaves what a group does not hold;
/// valgrind and the sanitizers are of this machine.
const C_UNDER_QEMU: [&str; 20] = [
    "headers",
    "wrapper",
    "exports",
    "static-check",
    "examples",
    "plain-abuse",
    "plain-basics",
    "plain-bad_input",
    "plain-callbacks",
    "plain-canaries",
    "plain-fork",
    "plain-handlers",
    "plain-hosted",
    "plain-queue",
    "plain-raii",
    "plain-signals",
    "plain-sources",
    "plain-throws",
    "plain-waiting",
    "behaviour",
];

/// The behaviour cases but those that need the supervisor, since whatever leaves its group and its
/// parent is found by a subreaper alone, and those of hundreds of requests against a clock, which
/// qemu does not always make.
const CASES_UNDER_QEMU: &str = "--without 'double fork' respawns 'a hundred at a time'";

/// Seconds after which a C program under qemu hangs.
const PROGRAM_SECONDS: &str = "900";

/// Steps of the simulator: a processor that is emulated takes some thirty times as long.
const SIMULATOR_STEPS: &str = "20000";

/// The pure crate, the library's own tests and the C programs, compiled for 64-bit ARM. The servers
/// that these start are programs of this machine.
pub fn arm(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let mut qemu = machine.command("qemu-aarch64");
    run.preparation("qemu (Debian: qemu-user)", qemu.arg("--version"))?;
    let compiler = "aarch64-linux-gnu-gcc";
    for (name, package) in [(compiler, "gcc"), ("aarch64-linux-gnu-g++", "g++")] {
        let mut cc = machine.command(name);
        let what = format!("a compiler (Debian: {package}-aarch64-linux-gnu)");
        run.preparation(&what, cc.arg("--version"))?;
    }
    run.preparation("the target", machine.command("rustup").args(["target", "add", ARM]))?;
    machine.testserver(run)?;
    let runner = format!("qemu-aarch64 -L {ARM_ROOT}");
    let cargo = |args: &[&str]| {
        let mut cargo = machine.cargo(args);
        cargo.args(["--target", ARM]).env("TRUNKLINE_SIMULATOR_STEPS", SIMULATOR_STEPS);
        cargo.env("CC_aarch64_unknown_linux_gnu", compiler);
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", compiler);
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", &runner);
        cargo
    };
    run.command(&mut cargo(&["test", "--lib", "-p", "trunkline-pool"]))?;
    let skipped = NOT_UNDER_QEMU.iter().flat_map(|name| ["--skip", name]);
    run.command(cargo(&["test", "--lib", "-p", "trunkline"]).arg("--").args(skipped))?;
    run.command(&mut cargo(&["build", "-p", "trunkline-dist"]))?;
    run.command(&mut arm_c(machine, &runner))
}

/// The C programs for 64-bit ARM, which have a folder of their own.
fn arm_c(machine: &Machine, runner: &str) -> Command {
    let mut make = machine.command("make");
    make.args(["-j", "3", "--output-sync=target", "-C", "tests/c"]).args(C_UNDER_QEMU);
    make.args(["CC=aarch64-linux-gnu-gcc", "CXX=aarch64-linux-gnu-g++", "NM=aarch64-linux-gnu-nm"]);
    for (name, folder) in [("OUT", "c-arm"), ("BUILT", "aarch64-unknown-linux-gnu/debug")] {
        make.arg(format!("{name}={}", machine.target.join(folder).display()));
    }
    make.arg(format!("RUN={runner}")).arg(format!("CASES={CASES_UNDER_QEMU}"));
    make.arg(format!("PROGRAM_SECONDS={PROGRAM_SECONDS}"));
    // The long forms of the programs are for the machine itself.
    make.env_remove("TRUNKLINE_FULL");
    make
}

/// The pure crate, and C and C++ programs, compiled for Windows.
pub fn windows(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let compiler = "x86_64-w64-mingw32-gcc";
    for (name, package) in [(compiler, "gcc"), ("x86_64-w64-mingw32-g++-posix", "g++")] {
        let mut cc = machine.command(name);
        let what = format!("a compiler (Debian: {package}-mingw-w64-x86-64)");
        run.preparation(&what, cc.arg("--version"))?;
    }
    run.preparation("the target", machine.command("rustup").args(["target", "add", WINDOWS]))?;
    let home = machine.target.join("xtask/wine");
    let wine = wine(machine, run, compiler, &home)?;
    let mut cargo = machine.cargo(&["test", "--lib", "--target", WINDOWS, "-p", "trunkline-pool"]);
    cargo.env("TRUNKLINE_SIMULATOR_STEPS", SIMULATOR_STEPS);
    run.command(cargo.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", &wine))?;
    run.command(&mut machine.cargo(&["build", "--target", WINDOWS, "-p", "trunkline-dist"]))?;
    let mut make = machine.command("make");
    make.args(["-C", "tests/c/windows"]).arg(format!("RUN={}", wine.display()));
    make.arg(format!("OUT={}", home.join(PROGRAMS).display()));
    let built = machine.target.join(WINDOWS).join("debug");
    run.command(make.arg(format!("BUILT={}", built.display())))
}

/// A program that runs another under Wine, with a home of its own. Rust's programs ask a library of
/// Windows 10 for random numbers that Wine 8 has not; one that asks Wine for them stands in for it.
fn wine(machine: &Machine, run: &mut Run, compiler: &str, home: &Path) -> Result<PathBuf, Stop> {
    run.preparation("Wine (Debian: wine64)", machine.command("wine").arg("--version"))?;
    std::fs::create_dir_all(home).map_err(|error| Stop::Failed(format!("wine: {error}")))?;
    let (source, library) = (home.join("random.c"), home.join("bcryptprimitives.dll"));
    write(&source, RANDOM)?;
    let mut cc = machine.command(compiler);
    run.command(cc.args(["-shared", "-o"]).arg(&library).arg(&source).arg("-ladvapi32"))?;
    let runner = home.join("run");
    let script = format!(
        "#!/bin/sh\nexport WINEPREFIX='{home}/prefix' WINEDEBUG=-all WINEPATH='Z:{home};Z:{home}/{PROGRAMS}'\n\
         wine \"$@\"\ncode=$?\nwineserver -k\nwineserver -w\nexit $code\n",
        home = home.display(),
    );
    write(&runner, &script)?;
    let mut shell = machine.command("chmod");
    run.command(shell.arg("+x").arg(&runner))?;
    Ok(runner)
}

/// Where the C programs are, below that home; Windows looks there for what they start.
const PROGRAMS: &str = "c";

const RANDOM: &str = "#include <windows.h>\n#include <ntsecapi.h>\n\
    __declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {\n\
    \x20   return RtlGenRandom(data, (ULONG)size);\n}\n";
