//! macOS: everything that is shipped for it, built and linked here by zig, which carries what a
//! linker needs of its C library. Nothing of it runs.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use super::mach_o::{self, Library};
use crate::machine::{Machine, write};
use crate::run::{Run, Stop};

const TARGET: &str = "aarch64-apple-darwin";

/// As zig calls it.
const ZIG_TARGET: &str = "aarch64-macos";

/// A linker for macOS, and what has cargo use it.
const PACKAGES: [&str; 2] = ["ziglang==0.17.1", "cargo-zigbuild==0.24.1"];

/// What is built, each with the library of it that is looked at and with what of other libraries it
/// may look up when it is loaded: functions of the frameworks, for which nobody here has what a
/// linker needs, and those of a Python that loads it.
const BUILT: [(&str, &str, &[&str]); 3] = [
    ("trunkline-dist", "libtrunkline.dylib", &[]),
    ("trunkline-node", "libtrunkline_node.dylib", &[]),
    ("trunkline-python", "lib_trunkline.dylib", &["Py", "_Py"]),
];

const FRAMEWORKS: [&str; 3] = ["CoreFoundation", "CoreServices", "Security"];

/// How the names of those begin.
const FRAMEWORK_NAMES: [&str; 6] = ["CF", "kCF", "FSEvent", "Sec", "kSec", "Authorization"];

/// The libraries, and the modules of Python and Node; what each exports and what it lacks; and a C
/// program, linked with either library.
pub fn macos(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    run.preparation("the target", machine.command("rustup").args(["target", "add", TARGET]))?;
    let tools = machine.python_environment(run, "zig-venv", &PACKAGES)?.join("bin");
    let sdk = machine.target.join("xtask/macos-sdk");
    stand_ins(&sdk)?;
    let built = machine.target.join(TARGET).join("debug");
    let functions = std::fs::read(machine.root.join("tests/c/exports.txt")).map_err(failed)?;
    let functions = String::from_utf8_lossy(&functions).into_owned();
    for (package, file, lent) in BUILT {
        run.command(&mut zigbuild(machine, &tools, &sdk, package))?;
        let library = looked_at(&built.join(file))?;
        let wanted = match package {
            "trunkline-dist" => functions.lines().collect(),
            "trunkline-node" => vec!["napi_register_module_v1"],
            _ => vec!["PyInit__trunkline"],
        };
        is_whole(file, &library, &wanted, lent)?;
        run.note_passed(wanted.len() as u64);
    }
    linked_programs(machine, run, &tools, &sdk, &built)
}

/// What is linked with the shared library, and with the static one, by a C compiler.
fn linked_programs(
    machine: &Machine,
    run: &mut Run,
    tools: &Path,
    sdk: &Path,
    built: &Path,
) -> Result<(), Stop> {
    for library in ["libtrunkline.dylib", "libtrunkline.a"] {
        let mut cc = machine.command(tools.join("python"));
        cc.args(["-m", "ziglang", "cc", "-target", ZIG_TARGET, "-std=c99", "-Iinclude"]);
        cc.arg("tests/c/install/main.c").arg(built.join(library));
        cc.arg("-F").arg(sdk.join(FRAMEWORKS_FOLDER));
        for name in FRAMEWORKS {
            cc.args(["-framework", name]);
        }
        cc.args(["-undefined", "dynamic_lookup", "-o"]);
        let program = machine.target.join("xtask/macos-program");
        run.command(cc.arg(&program))?;
        is_whole(&format!("a program with {library}"), &looked_at(&program)?, &[], &[])?;
        run.note_passed(1);
    }
    Ok(())
}

/// A shared library, linked against what is there of macOS. What is not is looked up when it is
/// loaded.
fn zigbuild(machine: &Machine, tools: &Path, sdk: &Path, package: &str) -> Command {
    let mut cargo = machine.command(tools.join("cargo-zigbuild"));
    cargo.args(["rustc", "-p", package, "--lib", "--target", TARGET, "--"]);
    cargo.args(["-C", "link-arg=-undefined", "-C", "link-arg=dynamic_lookup"]);
    // It looks for its Python, which has zig, there.
    let mut path = OsString::from(tools);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    cargo.env("PATH", path).env("SDKROOT", sdk);
    // As maturin builds the module: against the stable ABI, and for a Python that is there when it
    // is loaded.
    cargo.env("PYO3_NO_PYTHON", "1").env("PYO3_BUILD_EXTENSION_MODULE", "1");
    cargo
}

/// Frameworks that a linker finds, under the names of the real ones, and that promise it nothing.
fn stand_ins(sdk: &Path) -> Result<(), Stop> {
    for name in FRAMEWORKS {
        let folder = sdk.join(FRAMEWORKS_FOLDER).join(format!("{name}.framework"));
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let text = format!(
            "--- !tapi-tbd\ntbd-version: 4\ntargets: [ arm64-macos ]\n\
             install-name: '/{FRAMEWORKS_FOLDER}/{name}.framework/Versions/A/{name}'\n...\n"
        );
        write(&folder.join(format!("{name}.tbd")), &text)?;
    }
    Ok(())
}

fn looked_at(path: &Path) -> Result<Library, Stop> {
    let bytes = std::fs::read(path).map_err(failed)?;
    let none = || Stop::Failed(format!("{} is nothing for macOS", path.display()));
    mach_o::read(&bytes).ok_or_else(none)
}

/// All that is wanted is exported, and nothing is looked up that no framework and no host has.
fn is_whole(file: &str, library: &Library, wanted: &[&str], lent: &[&str]) -> Result<(), Stop> {
    let missing: Vec<&&str> =
        wanted.iter().filter(|name| !library.exports.contains(**name)).collect();
    let known = |name: &&String| {
        FRAMEWORK_NAMES.iter().chain(lent).any(|beginning| name.starts_with(beginning))
    };
    let unknown: Vec<&String> = library.looked_up.iter().filter(|name| !known(name)).collect();
    if !missing.is_empty() || !unknown.is_empty() {
        let why = format!("{file} does not export {missing:?}, and looks up {unknown:?}");
        return Err(Stop::Failed(why));
    }
    let name = library.name.as_deref().unwrap_or_default();
    if file == "libtrunkline.dylib" && name != "@rpath/libtrunkline.dylib" {
        return Err(Stop::Failed(format!("{file} calls itself {name}")));
    }
    Ok(())
}

fn failed(error: std::io::Error) -> Stop {
    Stop::Failed(error.to_string())
}

const FRAMEWORKS_FOLDER: &str = "System/Library/Frameworks";

#[cfg(test)]
mod tests {
    use super::is_whole;
    use crate::suites::mach_o::Library;

    #[test]
    fn a_function_that_is_not_exported_or_that_nobody_has_fails() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
        let library = |exports: &[&str], looked_up: &[&str]| Library {
            name: Some("@rpath/libtrunkline.dylib".to_owned()),
            exports: names(exports),
            looked_up: names(looked_up),
        };
        let file = "libtrunkline.dylib";
        assert_eq!(is_whole(file, &library(&["f"], &["CFRelease"]), &["f"], &[]), Ok(()));
        assert!(is_whole(file, &library(&[], &[]), &["f"], &[]).is_err());
        assert!(is_whole(file, &library(&["f"], &["PyList_New"]), &["f"], &[]).is_err());
        assert_eq!(is_whole(file, &library(&["f"], &["PyList_New"]), &["f"], &["Py"]), Ok(()));
        let elsewhere = Library { name: Some("/built/here".to_owned()), ..library(&["f"], &[]) };
        assert!(is_whole(file, &elsewhere, &["f"], &[]).is_err());
    }
}
