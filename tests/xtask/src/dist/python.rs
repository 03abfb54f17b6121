//! The Python package: a wheel for this machine, and the sources, from which pip builds one for any
//! other.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::{Dist, copy, emptied, files_below, native};
use crate::run::{Run, Stop};

pub fn make(dist: &Dist, run: &mut Run) -> Result<(), Stop> {
    let tools = dist.machine.python_environment(run, "dist-venv", &TOOLS)?;
    let (staged, out) = (dist.staging("python")?, dist.out("python"));
    let maturin = |command: &str, to: &PathBuf| {
        let mut maturin = dist.building(tools.join("bin/maturin"));
        maturin.args([command, "--manifest-path", "bindings/python/Cargo.toml", "--out"]).arg(to);
        maturin
    };
    // Of the tags that hold for what the library names, maturin takes the one that promises most.
    run.command(maturin("build", &staged).args(["--profile", &dist.profile]))?;
    run.command(&mut maturin("sdist", &out))?;
    let built = wheel(dist, &staged)?;
    let promised = built.file_name().and_then(OsStr::to_str).and_then(native::promised);
    let wheels = |command: &str| {
        let mut wheel = dist.building(tools.join("bin/python"));
        wheel.args(["-m", "wheel", command]);
        wheel
    };
    let unpacked = staged.join("unpacked");
    run.command(wheels("unpack").arg("--dest").arg(&unpacked).arg(&built))?;
    let files = files_below(&unpacked)?;
    let is_library = |file: &&PathBuf| file.extension().is_some_and(|name| name == "so");
    let none = || Stop::Failed(format!("no library in {}", built.display()));
    let library = files.iter().find(is_library).ok_or_else(none)?;
    let debug = format!("trunkline-python-{}-{}-debug", dist.version, dist.host);
    let apart = dist.staging(&debug)?;
    native::split(dist, run, library, &apart.join("_trunkline.abi3.so.debug"))?;
    let needed = native::glibc(dist, run, library)?;
    // A name that promises an older glibc than the library names would be a lie.
    if promised.is_some_and(|promised| native::pair(&needed, '.').is_none_or(|it| it > promised)) {
        return Err(Stop::Failed(format!("{} needs glibc {needed}", built.display())));
    }
    let folder = dist.machine.target.join("staged/python/unpacked");
    let folder = folder.join(format!("trunkline-{}", dist.version));
    emptied(&staged.join("packed"))?;
    run.command(wheels("pack").arg("--dest-dir").arg(staged.join("packed")).arg(folder))?;
    let packed = wheel(dist, &staged.join("packed"))?;
    copy(&packed, &out.join(packed.file_name().unwrap_or_default()))?;
    dist.archive(run, &apart, &out.join(format!("{debug}.tar.gz")))?;
    println!("python: needs glibc {needed}");
    Ok(())
}

/// The one wheel in a folder.
pub fn wheel(dist: &Dist, folder: &std::path::Path) -> Result<PathBuf, Stop> {
    let begins = format!("trunkline-{}-", dist.version);
    let mut wheels = files_below(folder)?;
    wheels.retain(|path| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        name.starts_with(&begins) && name.ends_with(".whl")
    });
    match wheels.as_slice() {
        [one] => Ok(one.clone()),
        _ => Err(Stop::Failed(format!("{} wheels in {}", wheels.len(), folder.display()))),
    }
}

/// Where the sources are.
pub fn sources(dist: &Dist) -> PathBuf {
    dist.out("python").join(format!("trunkline-{}.tar.gz", dist.version))
}

/// What builds wheels, and what opens them.
const TOOLS: [&str; 2] = ["maturin==1.16.0", "wheel==0.48.0"];
