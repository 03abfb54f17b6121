//! The Node package: its tests, its types, and the packages that npm installs.

use crate::machine::Machine;
use crate::run::{Run, Stop};

pub fn node(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    machine.needs("bindings/node/test")?;
    machine.testserver(run)?;
    let real = machine.real_servers(run).map(drop);
    run.command(machine.command("node").arg("bindings/node/build.mjs"))?;
    // Its files wait more than they compute.
    let tests = ["--test", "--test-concurrency=3", "bindings/node/test/"];
    let tests = |run: &mut Run| run.command(machine.command("node").args(tests));
    let others = |run: &mut Run| {
        types(machine, run)?;
        if real.is_ok() {
            // The servers from npm bring the SDK along, whose users one of the adapters is for.
            let modules = machine.npm_packages(run, &FRAMEWORKS)?;
            super::adapters::node(machine, run, &modules, &["ai", "otel", "sdk"])?;
        }
        crate::dist::smoke(machine, run)
    };
    run.together([&tests, &others])?;
    real
}

/// The tests of one file.
pub fn tests(machine: &Machine, run: &mut Run, file: &str) -> Result<(), Stop> {
    machine.testserver(run)?;
    run.command(machine.command("node").arg("bindings/node/build.mjs"))?;
    run.command(machine.command("node").args(["--test", file]))
}

/// The declarations, used by a file of the tests, under the strictest settings.
fn types(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let project = machine.needs("bindings/node/test/tsconfig.json")?;
    let modules = machine.npm_packages(run, &PACKAGES)?;
    // The page of the declarations is written from them, by the compiler's own reader.
    let reference = machine.needs("bindings/node/testing/reference.mjs")?;
    run.command(machine.command("node").arg(reference).arg(&modules))?;
    let mut tsc = machine.command("node");
    tsc.arg(modules.join("typescript/bin/tsc")).arg("--noEmit").arg("-p").arg(project);
    run.command(tsc.arg("--typeRoots").arg(modules.join("@types")))
}

/// The compiler, and Node's own types.
pub const PACKAGES: [&str; 2] = [TYPESCRIPT, NODE_TYPES];

pub const TYPESCRIPT: &str = "typescript@5.9.3";

pub const NODE_TYPES: &str = "@types/node@20.19.25";

/// What its adapters are tried with.
pub const FRAMEWORKS: [&str; 4] = [AI_SDK, OTEL[0], OTEL[1], OTEL[2]];

/// A framework that one of the adapters is for.
pub const AI_SDK: &str = "ai@7.0.173";

/// OpenTelemetry: what hosts call, and its own providers for the tests.
pub const OTEL: [&str; 3] = [
    "@opentelemetry/api@1.9.0",
    "@opentelemetry/sdk-metrics@2.12.1",
    "@opentelemetry/sdk-trace-base@2.12.1",
];
