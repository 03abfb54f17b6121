//! The libraries for C and C++: one archive to unpack anywhere, and one with what debuggers need of
//! it.

use std::path::{Path, PathBuf};

use super::{Dist, c_pages, copy, failed, native};
use crate::machine::write;
use crate::run::{Run, Stop};

pub fn make(dist: &Dist, run: &mut Run) -> Result<(), Stop> {
    dist.build(run, "trunkline-dist")?;
    let name = name(dist);
    let folder = dist.staging(&name)?;
    let debug = dist.staging(&format!("{name}-debug"))?;
    let mut make = dist.machine.command("make");
    make.args(["-s", "-C", "ffi/dist", "install", "PREFIX=", "LIB=lib"]);
    // What is unpacked anywhere says where it is by where its files are.
    make.arg("PC_PREFIX=$${pcfiledir}/../..");
    make.arg(format!("DESTDIR={}", folder.display()));
    run.command(make.arg(format!("BUILT={}", dist.built().display())))?;
    let shared = format!("lib/libtrunkline.so.{}", dist.version);
    let apart = debug.join(format!("{shared}.debug"));
    native::split(dist, run, &folder.join(&shared), &apart)?;
    let archive = "lib/libtrunkline.a";
    native::split_static(dist, run, &folder.join(archive), &debug.join(archive))?;
    let glibc = native::glibc(dist, run, &folder.join(&shared))?;
    dist.build(run, "trunkline-cli")?;
    let program = folder.join("bin/trunkline");
    copy(&dist.built().join("trunkline"), &program)?;
    native::split(dist, run, &program, &debug.join("bin/trunkline.debug"))?;
    c_pages::pages(dist, run, &folder)?;
    c_pages::examples(dist, &folder.join("examples"))?;
    write(&folder.join("README"), &readme(dist, &glibc)?)?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&dist.machine.root.join(licence), &folder.join(licence))?;
    }
    dist.archive(run, &folder, &archived(dist))?;
    dist.archive(run, &debug, &dist.out("c").join(format!("{name}-debug.tar.gz")))?;
    println!("c: needs glibc {glibc}");
    Ok(())
}

/// The name of the folder in the archive.
pub fn name(dist: &Dist) -> String {
    format!("trunkline-c-{}-{}", dist.version, dist.host)
}

/// Where the archive is.
pub fn archived(dist: &Dist) -> PathBuf {
    let name = format!("{}.tar.gz", name(dist));
    Path::new(&dist.out("c")).join(name)
}

/// What the folder says of itself.
fn readme(dist: &Dist, glibc: &str) -> Result<String, Stop> {
    let path = dist.machine.root.join("ffi/dist/README.in");
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
    let marks = [("@VERSION@", &*dist.version), ("@HOST@", &*dist.host), ("@GLIBC@", glibc)];
    Ok(marks.into_iter().fold(text, |text, (mark, value)| text.replace(mark, value)))
}
