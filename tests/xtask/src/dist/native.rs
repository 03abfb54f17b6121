//! What holds for every library that is shipped: its debug information is apart, and what it needs
//! of the C library is known.

use std::path::Path;

use super::{Dist, copy, failed};
use crate::run::{Run, Stop};

/// Takes everything that a debugger alone needs out of a shared library, into a file which that
/// then names.
pub fn split(dist: &Dist, run: &mut Run, library: &Path, debug: &Path) -> Result<(), Stop> {
    let folder = debug.parent().unwrap_or(debug);
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let tool = |name: &str| dist.machine.command(name);
    run.command(tool("objcopy").arg("--only-keep-debug").arg(library).arg(debug))?;
    run.command(tool("strip").arg("--strip-unneeded").arg(library))?;
    let link = format!("--add-gnu-debuglink={}", debug.display());
    run.command(tool("objcopy").arg(link).arg(library))
}

/// The same of a static library: a debugger needs a whole one.
pub fn split_static(dist: &Dist, run: &mut Run, library: &Path, debug: &Path) -> Result<(), Stop> {
    copy(library, debug)?;
    run.command(dist.machine.command("strip").arg("--strip-debug").arg(library))
}

/// The newest version of glibc that a shared library names, as `2.34`.
pub fn glibc(dist: &Dist, run: &mut Run, library: &Path) -> Result<String, Stop> {
    let listed = run.carry_out(dist.machine.command("objdump").arg("-T").arg(library))?;
    let why = || Stop::Failed(format!("{} names no version of glibc", library.display()));
    newest(&listed).map(|(first, second)| format!("{first}.{second}")).ok_or_else(why)
}

/// The newest version in a list of symbols.
fn newest(listed: &str) -> Option<(u32, u32)> {
    let words = listed.split(|c: char| c.is_whitespace() || "()".contains(c));
    words.filter_map(|word| pair(word.strip_prefix("GLIBC_")?, '.')).max()
}

/// What a wheel's name promises: the first version of glibc that it runs with.
pub fn promised(wheel: &str) -> Option<(u32, u32)> {
    wheel.split(['-', '.']).filter_map(|tag| pair(tag.strip_prefix("manylinux_")?, '_')).min()
}

/// The first two numbers of a version.
pub fn pair(text: &str, between: char) -> Option<(u32, u32)> {
    let mut numbers = text.split(between);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{newest, promised};

    #[test]
    fn the_newest_version_is_by_number() {
        let listed = "0 DF *UND* (GLIBC_2.9) poll\n0 DF *UND* (GLIBC_2.28) statx\n0 DF *UND* (GLIBC_2.2.5) read\n";
        assert_eq!(newest(listed), Some((2, 28)));
        assert_eq!(newest("nothing"), None);
    }

    #[test]
    fn a_wheel_promises_the_oldest_of_its_tags() {
        let wheel = "trunkline-0.1.0-cp310-abi3-manylinux_2_17_x86_64.manylinux_2_34_x86_64.whl";
        assert_eq!(promised(wheel), Some((2, 17)));
        assert_eq!(promised("trunkline-0.1.0-cp310-abi3-linux_x86_64.whl"), None);
    }
}
