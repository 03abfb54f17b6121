//! The program of `docs/guide/serving.md`.

use std::path::Path;
use std::process::Command;

use rig::Folder;

/// It is built with the tests; `trunkline-testserver` is found in `PATH`, as the page has it.
#[test]
fn the_program_of_the_page_serves_and_leaves_nothing() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/serving.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```rust\n").unwrap();
    let (_, code) = include_str!("../../../examples/serving.rs").split_once("\n\n").unwrap();
    assert_eq!(rest.split_once("```").unwrap().0, code);

    let exe = std::env::current_exe().unwrap();
    let program = exe.ancestors().nth(2).unwrap().join("examples/serving");
    let programs = rig::testserver().parent().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap();
    let path = std::env::join_paths([programs].into_iter().chain(std::env::split_paths(&path)));
    let home = Folder::new();
    let run = Command::new(program)
        .env("PATH", path.unwrap())
        .env("TRUNKLINE_HOME", home.join("home"))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let shown = String::from_utf8(run.stdout).unwrap();
    assert!(shown.starts_with("http://127.0.0.1:") && shown.contains("/mcp/demo"), "{shown}");
    assert!(!home.join("home/serve").exists(), "a file of the endpoint is left");
}
