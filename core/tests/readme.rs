//! The README's quick start is a program that runs.

mod rig;

use std::path::Path;
use std::process::Command;

const EXAMPLE: &str = include_str!("../examples/quick_start.rs");

/// The example is built with the tests; `trunkline-testserver` is found in `PATH`, as the README has it.
#[test]
fn the_quick_start_of_the_readme_runs() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let (_, rest) = readme.split_once("```rust\n").unwrap();
    let (shown, _) = rest.split_once("```").unwrap();
    let (_, code) = EXAMPLE.split_once("\n\n").unwrap();
    assert_eq!(shown, code);

    let exe = std::env::current_exe().unwrap();
    let program = exe.ancestors().nth(2).unwrap().join("examples/quick_start");
    let folder = rig::testserver().parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let path =
        std::env::join_paths([folder.to_owned()].into_iter().chain(std::env::split_paths(&path)));
    let done = Command::new(program).env("PATH", path.unwrap()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let shown = String::from_utf8(done.stdout).unwrap();
    assert_eq!(shown.trim_end(), r#"{"content":[{"type":"text","text":"hi"}]}"#);
}
