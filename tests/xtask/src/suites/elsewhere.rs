//! Machines and systems that this one is not, where what is compiled for them can be run here: 64-bit ARM by qemu, Windows by Wine.
//!
//! Neither is the real thing. docs/platforms.md says what of the suites they carry, and what they do not.

use std::path::PathBuf;

use crate::machine::{Machine, write};
use crate::run::{Run, Stop};

const ARM: &str = "aarch64-unknown-linux-gnu";

const WINDOWS: &str = "x86_64-pc-windows-gnu";

/// Where Debian has the libraries of the other machine.
const ARM_ROOT: &str = "/usr/aarch64-linux-gnu";

/// Tests of the library that qemu does not carry: they start their own program, which the kernel cannot without qemu's help, or ask the
/// kernel to make them a subreaper or to start a program from memory, which qemu refuses; or count descriptors, of which qemu has its own.
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

/// Steps of the simulator: a processor that is emulated takes some thirty times as long.
const SIMULATOR_STEPS: &str = "20000";

/// The pure crate and the library's own tests, compiled for 64-bit ARM. The servers that these start are programs of this machine.
pub fn arm(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let mut qemu = machine.command("qemu-aarch64");
    run.preparation("qemu (Debian: qemu-user)", qemu.arg("--version"))?;
    let compiler = "aarch64-linux-gnu-gcc";
    let mut cc = machine.command(compiler);
    run.preparation("a compiler (Debian: gcc-aarch64-linux-gnu)", cc.arg("--version"))?;
    run.preparation("the target", machine.command("rustup").args(["target", "add", ARM]))?;
    machine.testserver(run)?;
    let tested = |package: &str, rest: &[&str]| {
        let mut cargo = machine.cargo(&["test", "--lib", "--target", ARM, "-p", package, "--"]);
        cargo.args(rest).env("TRUNKLINE_SIMULATOR_STEPS", SIMULATOR_STEPS);
        cargo.env("CC_aarch64_unknown_linux_gnu", compiler);
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", compiler);
        let runner = format!("qemu-aarch64 -L {ARM_ROOT}");
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", runner);
        cargo
    };
    run.command(&mut tested("trunkline-pool", &[]))?;
    let skipped: Vec<&str> = NOT_UNDER_QEMU.iter().flat_map(|name| ["--skip", name]).collect();
    run.command(&mut tested("trunkline", &skipped))
}

/// The pure crate, compiled for Windows.
pub fn windows(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let compiler = "x86_64-w64-mingw32-gcc";
    let mut cc = machine.command(compiler);
    run.preparation("a compiler (Debian: gcc-mingw-w64-x86-64)", cc.arg("--version"))?;
    run.preparation("the target", machine.command("rustup").args(["target", "add", WINDOWS]))?;
    let wine = wine(machine, run, compiler)?;
    let mut cargo = machine.cargo(&["test", "--lib", "--target", WINDOWS, "-p", "trunkline-pool"]);
    cargo.env("TRUNKLINE_SIMULATOR_STEPS", SIMULATOR_STEPS);
    run.command(cargo.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", wine))
}

/// A program that runs another under Wine, with a home of its own. Rust's programs ask a library of Windows 10 for random numbers that
/// Wine 8 has not; one that asks Wine for them stands in for it.
fn wine(machine: &Machine, run: &mut Run, compiler: &str) -> Result<PathBuf, Stop> {
    run.preparation("Wine (Debian: wine64)", machine.command("wine").arg("--version"))?;
    let home = machine.target.join("xtask/wine");
    std::fs::create_dir_all(&home).map_err(|error| Stop::Failed(format!("wine: {error}")))?;
    let (source, library) = (home.join("random.c"), home.join("bcryptprimitives.dll"));
    write(&source, RANDOM)?;
    let mut cc = machine.command(compiler);
    run.command(cc.args(["-shared", "-o"]).arg(&library).arg(&source).arg("-ladvapi32"))?;
    let runner = home.join("run");
    let script = format!(
        "#!/bin/sh\nexport WINEPREFIX='{home}/prefix' WINEDEBUG=-all WINEPATH='{home}'\n\
         wine \"$@\"\ncode=$?\nwineserver -k\nwineserver -w\nexit $code\n",
        home = home.display()
    );
    write(&runner, &script)?;
    let mut shell = machine.command("chmod");
    run.command(shell.arg("+x").arg(&runner))?;
    Ok(runner)
}

const RANDOM: &str = "#include <windows.h>\n#include <ntsecapi.h>\n\
    __declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {\n\
    \x20   return RtlGenRandom(data, (ULONG)size);\n}\n";
