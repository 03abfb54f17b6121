//! The program of the reference server.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The reference server: the one that the environment names, else built here.
pub fn testserver() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        if let Some(path) = std::env::var_os("TRUNKLINE_TESTSERVER") {
            return path.into();
        }
        let exe = std::env::current_exe().unwrap();
        let profile = exe.ancestors().nth(2).unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "trunkline-testserver", "--target-dir"]);
        build.arg(profile.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
        if profile.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success());
        profile.join("trunkline-testserver")
    })
}
