//! The npm packages: one with the JavaScript files and the sources of the addon, and one with the
//! addon that is built for this platform.
//!
//! The first asks for the second, which npm leaves out on any other platform; there the first
//! builds its sources when it is installed.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{Dist, copy, crates, failed, native};
use crate::machine::write;
use crate::run::{Run, Stop};

pub fn make(dist: &Dist, run: &mut Run) -> Result<(), Stop> {
    super::emptied(&dist.out("npm"))?;
    dist.build(run, ADDON)?;
    let platform = platform(dist)?;
    carrier(dist, run, platform)?;
    main(dist, run, platform)
}

/// What npm calls a platform.
pub struct Platform {
    target: &'static str,
    os: &'static str,
    cpu: &'static str,
    libc: Option<&'static str>,
    /// The package with its addon; `bindings/node/lib/addon.cjs` looks for that name.
    pub package: &'static str,
}

static PLATFORMS: [Platform; 3] = [
    Platform {
        target: "x86_64-unknown-linux-gnu",
        os: "linux",
        cpu: "x64",
        libc: Some("glibc"),
        package: "trunkline-linux-x64-gnu",
    },
    Platform {
        target: "aarch64-unknown-linux-gnu",
        os: "linux",
        cpu: "arm64",
        libc: Some("glibc"),
        package: "trunkline-linux-arm64-gnu",
    },
    Platform {
        target: "aarch64-apple-darwin",
        os: "darwin",
        cpu: "arm64",
        libc: None,
        package: "trunkline-darwin-arm64",
    },
];

/// That of this machine.
pub fn platform(dist: &Dist) -> Result<&'static Platform, Stop> {
    let found = PLATFORMS.iter().find(|platform| platform.target == dist.host);
    found.ok_or_else(|| Stop::NotRun(format!("npm has no name for {}", dist.host)))
}

/// Where a package is.
pub fn packed(dist: &Dist, package: &str) -> PathBuf {
    dist.out("npm").join(format!("{package}-{}.tgz", dist.version))
}

/// The package with the addon.
fn carrier(dist: &Dist, run: &mut Run, platform: &Platform) -> Result<(), Stop> {
    let folder = dist.staging(platform.package)?;
    let addon = folder.join("trunkline.node");
    copy(&dist.built().join(library_name(platform.target)), &addon)?;
    let name = format!("trunkline-node-{}-{}-debug", dist.version, dist.host);
    let debug = dist.staging(&name)?;
    native::split(dist, run, &addon, &debug.join("trunkline.node.debug"))?;
    let glibc = native::glibc(dist, run, &addon)?;
    let whole = manifest(dist)?;
    let mut manifest = json!({
        "name": platform.package,
        "version": dist.version,
        "description": format!("The native addon of trunkline for {}, glibc {glibc} or later.", dist.host),
        "license": whole["license"],
        "engines": whole["engines"],
        "os": [platform.os],
        "cpu": [platform.cpu],
        "main": "trunkline.node",
        "files": ["trunkline.node", "LICENSE-APACHE", "LICENSE-MIT"],
    });
    if let Some(libc) = platform.libc {
        manifest["libc"] = json!([libc]);
    }
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&dist.machine.root.join(licence), &folder.join(licence))?;
    }
    pack(dist, run, &folder, &manifest)?;
    dist.archive(run, &debug, &dist.out("npm").join(format!("{name}.tar.gz")))?;
    println!("npm: needs glibc {glibc}");
    Ok(())
}

/// What cargo calls the addon's library file for a target.
fn library_name(target: &str) -> &'static str {
    if target.contains("-apple-") {
        "libtrunkline_node.dylib"
    } else if target.contains("-windows-") {
        "trunkline_node.dll"
    } else {
        "libtrunkline_node.so"
    }
}

/// The package that users name.
fn main(dist: &Dist, run: &mut Run, platform: &Platform) -> Result<(), Stop> {
    let folder = dist.staging("trunkline")?;
    let mut manifest = manifest(dist)?;
    let files = manifest["files"].as_array().cloned().unwrap_or_default();
    let mut files: Vec<&str> = files.iter().filter_map(Value::as_str).collect();
    files.retain(|name| *name != "trunkline.node");
    let mut listed = dist.machine.command("git");
    listed.args(["ls-files", "--"]).args(&files).arg(BUILDER);
    let package = dist.machine.root.join(PACKAGE);
    for name in run.carry_out(listed.current_dir(&package))?.lines() {
        copy(&package.join(name), &folder.join(name))?;
    }
    sources(dist, run, &folder.join("source"))?;
    files.extend([BUILDER, "source"]);
    manifest["files"] = json!(files);
    manifest["scripts"] = json!({ "install": format!("node {BUILDER} --if-needed --release") });
    let mut optional = Map::new();
    optional.insert(platform.package.into(), json!(dist.version));
    manifest["optionalDependencies"] = Value::Object(optional);
    pack(dist, run, &folder, &manifest)
}

/// The crates that the addon is made of, as they would be published, as one workspace.
fn sources(dist: &Dist, run: &mut Run, folder: &Path) -> Result<(), Stop> {
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    crates::pack(dist, run, &CRATES)?;
    for name in CRATES {
        let mut tar = dist.machine.command("tar");
        run.command(tar.arg("-xzf").arg(crates::packed(dist, name)).arg("-C").arg(folder))?;
    }
    let whole = dist.machine.root.join("Cargo.toml");
    let whole = std::fs::read_to_string(&whole).map_err(|error| failed(&whole, &error))?;
    write(&folder.join("Cargo.toml"), &workspace(&dist.version, &whole))?;
    // The versions that everything was tested with.
    copy(&dist.machine.root.join("Cargo.lock"), &folder.join("Cargo.lock"))
}

/// The manifest of that workspace: the profiles are those of the whole one.
fn workspace(version: &str, whole: &str) -> String {
    let mut text = String::from("[workspace]\nresolver = \"3\"\nmembers = [");
    text.extend(CRATES.map(|name| format!("\"{name}-{version}\", ")));
    text.push_str("]\n\n[patch.crates-io]\n");
    // What nothing depends on is nothing's replacement.
    let parts = CRATES.iter().filter(|name| **name != ADDON);
    text.extend(parts.map(|name| format!("{name} = {{ path = \"{name}-{version}\" }}\n")));
    let mut is_kept = false;
    for line in whole.lines() {
        if line.starts_with('[') {
            // Those of single crates are for tests.
            is_kept = line.starts_with("[profile.") && !line.contains(".package.");
            text.push_str(if is_kept { "\n" } else { "" });
        }
        if is_kept && !line.is_empty() && !line.starts_with('#') {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

fn manifest(dist: &Dist) -> Result<Value, Stop> {
    let path = dist.machine.root.join(PACKAGE).join("package.json");
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
    serde_json::from_str(&text)
        .map_err(|error| Stop::Failed(format!("{}: {error}", path.display())))
}

fn pack(dist: &Dist, run: &mut Run, folder: &Path, manifest: &Value) -> Result<(), Stop> {
    write(&folder.join("package.json"), &format!("{manifest:#}\n"))?;
    let mut npm = dist.building("npm");
    npm.args(["pack", "--ignore-scripts", "--loglevel=warn", "--pack-destination"]);
    run.command(npm.arg(dist.out("npm")).current_dir(folder))
}

const PACKAGE: &str = "bindings/node";

const BUILDER: &str = "build.mjs";

/// The crate of the addon, and all that it is made of.
const CRATES: [&str; 4] = ["trunkline-pool", "trunkline", "trunkline-cli", ADDON];

const ADDON: &str = "trunkline-node";

#[cfg(test)]
mod tests {
    use super::{library_name, workspace};

    #[test]
    fn cargo_names_a_library_as_its_platform_does() {
        assert_eq!(library_name("aarch64-unknown-linux-gnu"), "libtrunkline_node.so");
        assert_eq!(library_name("aarch64-apple-darwin"), "libtrunkline_node.dylib");
        assert_eq!(library_name("x86_64-pc-windows-msvc"), "trunkline_node.dll");
    }

    #[test]
    fn the_sources_are_a_workspace_with_the_profiles_of_the_whole() {
        let whole = "[workspace]\nmembers = []\n\n[profile.dev]\ndebug = 1\n\n# Why.\n\
                     [profile.dev.package.x]\nopt-level = 2\n[profile.release]\n# Why.\nlto = \"thin\"\n";
        let text = workspace("1.2.3", whole);
        assert!(text.contains("trunkline-cli = { path = \"trunkline-cli-1.2.3\" }\n"), "{text}");
        assert!(
            text.ends_with("}\n\n[profile.dev]\ndebug = 1\n\n[profile.release]\nlto = \"thin\"\n")
        );
    }
}
