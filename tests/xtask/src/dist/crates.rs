//! The crates, for crates.io.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Dist, copy};
use crate::run::{Run, Stop};

/// What is published, in the order of publishing.
pub const PUBLISHED: [&str; 4] = ["trunkline-pool", "trunkline", "trunkline-ffi", "trunkline-cli"];

/// Packs them, and builds each from what was packed, in a build folder of their own: for cargo a
/// packed crate of the same version is the same crate, whatever is in it, so that what an earlier
/// run built of it would be taken.
pub fn make(dist: &Dist, run: &mut Run) -> Result<(), Stop> {
    let folder = dist.staging("packages")?;
    let printed = run.carry_out(package(dist, &PUBLISHED).arg("--target-dir").arg(&folder))?;
    clean(&printed)?;
    for name in PUBLISHED {
        let file = packed_in(dist, &folder, name);
        if let Some(name) = file.file_name() {
            copy(&file, &dist.out("crates").join(name))?;
        }
    }
    Ok(())
}

/// Says what would be packed, which takes no build.
pub fn list(dist: &Dist, run: &mut Run) -> Result<(), Stop> {
    let printed = run.carry_out(package(dist, &PUBLISHED).arg("--list"))?;
    clean(&printed)?;
    let licences = printed.lines().filter(|line| line.starts_with("LICENSE-")).count();
    let wanted = 2 * PUBLISHED.len();
    let why = || Stop::Failed(format!("{licences} licences in the crates, not {wanted}"));
    if licences == wanted { Ok(()) } else { Err(why()) }
}

/// Packs crates, without building them.
pub fn pack(dist: &Dist, run: &mut Run, names: &[&str]) -> Result<(), Stop> {
    run.command(package(dist, names).arg("--no-verify"))
}

/// Where [`pack`] puts a crate.
pub fn packed(dist: &Dist, name: &str) -> PathBuf {
    packed_in(dist, &dist.machine.target, name)
}

fn packed_in(dist: &Dist, folder: &Path, name: &str) -> PathBuf {
    folder.join("package").join(format!("{name}-{}.crate", dist.version))
}

fn package(dist: &Dist, names: &[&str]) -> Command {
    // What is packed is what stands in the tree, committed or not.
    let mut cargo = dist.machine.cargo(&["package", "--allow-dirty"]);
    for name in names {
        cargo.args(["-p", name]);
    }
    cargo
}

/// A crate that is ready to be published is packed without a warning.
fn clean(printed: &str) -> Result<(), Stop> {
    match printed.lines().find(|line| line.trim_start().starts_with("warning")) {
        Some(warning) => Err(Stop::Failed(format!("cargo package: {warning}"))),
        None => Ok(()),
    }
}
