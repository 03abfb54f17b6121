//! The libraries for C and C++: one archive to unpack anywhere, and one with what debuggers need of
//! it.

use std::path::{Path, PathBuf};

use super::{Dist, copy, native};
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
    write(&folder.join("README"), &readme(dist, &glibc))?;
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

fn readme(dist: &Dist, glibc: &str) -> String {
    format!(
        "trunkline {} for C and C++, built for {}; the shared library needs glibc {glibc} or later.\n\
         \n\
         This folder works wherever it is put. With pkg-config:\n\
         \n\
         \x20   export PKG_CONFIG_PATH=$PWD/lib/pkgconfig\n\
         \x20   cc host.c $(pkg-config --cflags --libs trunkline) -Wl,-rpath,$PWD/lib\n\
         \n\
         With CMake: find_package(trunkline REQUIRED), then link trunkline::trunkline or trunkline::trunkline_static;\n\
         trunkline_DIR is lib/cmake/trunkline. What debuggers need is in the archive whose name ends with -debug.\n",
        dist.version, dist.host
    )
}
