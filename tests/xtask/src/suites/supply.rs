//! What the library is built of: licences, sources and bans, by cargo-deny
//! (<https://github.com/EmbarkStudios/cargo-deny>). Advisories are `cargo xtask advisories`.

use crate::machine::Machine;
use crate::run::{Run, Stop};

const VERSION: &str = "0.20.2";

/// Installs it once, below the target folder, and asks it.
pub fn supply(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let root = machine.target.join("deny");
    let program = root.join("bin/cargo-deny");
    if !program.exists() {
        let install = ["install", "--quiet", "--locked", "cargo-deny", "--version", VERSION];
        run.command(machine.cargo(&install).arg("--root").arg(&root))?;
    }
    let rules = ["--config", ".ci/deny.toml", "check", "licenses", "bans", "sources"];
    run.command(machine.command(program).args(rules))
}
