//! `cargo xtask`: the project's commands `demo`, `test`, `plant`, `fuzz`, `conformance`, `bench`,
//! `reap`, `docs`, `scoreboard`, `advisories` and `dist`.

mod advisories;
mod bench;
mod children;
mod conformance;
mod demo;
mod dist;
mod docs;
#[cfg(test)]
#[path = "../../../core/tests/rig/folder.rs"]
mod folder;
mod fuzz;
mod machine;
mod passages;
mod plant;
mod reap;
mod report;
mod run;
#[cfg(test)]
#[path = "../../../core/tests/rig/score.rs"]
mod score;
mod scoreboard;
mod suites;
mod tables;

use std::process::ExitCode;

use machine::{Machine, Reach};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match args.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", &[][..]),
    };
    let reach = if rest.iter().any(|arg| arg == "--full") { Reach::Full } else { Reach::Default };
    let chosen: Vec<&str> =
        rest.iter().map(String::as_str).filter(|arg| *arg != "--full").collect();
    children::end_them_with_us();
    let mut machine = match Machine::new(reach) {
        Ok(machine) => machine,
        Err(message) => {
            eprintln!("xtask: {message}");
            return ExitCode::FAILURE;
        }
    };
    machine.is_whole = command == "test" && chosen.is_empty();
    match command {
        "test" => suites::test(&machine, &chosen),
        "bench" => bench::bench(&machine, &chosen),
        "demo" => demo::demo(&machine, &chosen),
        "docs" => docs::docs(&machine),
        "reap" => reap::reap(&machine, &chosen),
        "dist" => dist::dist(&machine, &chosen),
        "conformance" => conformance::conformance(&machine, &chosen),
        "fuzz" => fuzz::fuzz(&machine, &chosen),
        "plant" => plant::plant(&machine, &chosen),
        "scoreboard" => scoreboard::scoreboard(&machine, &chosen),
        "advisories" => advisories::advisories(&machine, &chosen),
        // For the suite `core` alone.
        "programs" => suites::programs(chosen.first().unwrap_or(&"")),
        _ => {
            println!("{HELP}");
            suites::list();
            if command == "help" { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
    }
}

const HELP: &str = "\
cargo xtask demo [LANGUAGE...]         show the main job in each language: rust c python node
cargo xtask demo real                  show servers of others in each language; installs them
cargo xtask test [--full] [SUITE...]   run the suites, or those named; --full adds the long forms
cargo xtask plant [PART...]            plant bugs that the simulator must find; or those whose names hold a part
cargo xtask fuzz [--seconds N] [--rounds N] [--keep] [TARGET...]  look for inputs that break what reads them
cargo xtask conformance [CLIENT...]    the official conformance suite against: c python node; or against servers: serve
cargo xtask bench [--rounds N] [--only GROUP] [--quick ROW] [CLIENT...]  compare clients: pipe epoll checked rust foreign c rmcp python mcp node sdk real
cargo xtask bench --against FOLDER [...]  compare with another checkout, in turns; fails where a row is 5 % slower
cargo xtask bench --instructions       count the instructions of a call, against what is written down
cargo xtask reap [--close] [--host-kill] [--time] [--full] [BEHAVIOUR...]  look for survivors of closes, of hosts
cargo xtask docs                       the documentation as a site, in target/docs
cargo xtask scoreboard [--full] [ROW...]  put every promise to the test, and write docs/evidence/scoreboard.md
cargo xtask advisories [FOLDER]        hold the lock files against known advisories; FOLDER: a clone to ask anew
cargo xtask dist [--profile NAME] [--check] [PART...]  make what is published, and try it out: crates c python npm

Suites, in order:";
