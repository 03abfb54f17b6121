//! The examples of `docs/guide/cli.md` and `cli-servers.md`, run in their order.

use std::path::Path;
use std::process::Command;

use crate::rig::{Home, ran, testserver};

/// A command of the page and what it writes.
struct Example {
    line: String,
    output: String,
}

/// The text of each block in that language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    page.split(&begin).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for line in blocks(page, "console").iter().flat_map(|block| block.lines()) {
        match line.strip_prefix("$ ") {
            Some(command) => {
                examples.push(Example { line: command.into(), output: String::new() });
            }
            None => examples.last_mut().unwrap().output.push_str(&format!("{line}\n")),
        }
    }
    examples
}

/// Runs the examples of a page, in a home of their own.
fn run(name: &str, files: &[&str]) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide").join(name);
    let page = std::fs::read_to_string(page).unwrap();
    let settings = blocks(&page, "json");
    let home = Home::new();
    for (file, text) in files.iter().zip(settings) {
        home.write(file, text);
    }
    let folders = [Path::new(env!("CARGO_BIN_EXE_trunkline")), testserver()];
    let folders = folders.map(|program| program.parent().unwrap().display().to_string());
    let examples = examples(&page);
    assert!(examples.len() >= 10);
    for Example { line, output } in examples {
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(home.path("ws")).env_clear();
        shell
            .env("HOME", home.path(""))
            .env("PATH", format!("{}:/usr/bin:/bin", folders.join(":")));
        let ran = ran(shell.output().unwrap());
        let stdout = ran.stdout.replace(home.path("").to_str().unwrap(), "~/");
        let stdout = stdout.replace(testserver().to_str().unwrap(), "SERVER");
        assert_eq!(stdout, output, "{line}: {ran:?}");
    }
}

#[test]
fn every_example_writes_what_the_page_says() {
    run("cli.md", &[".cursor/mcp.json", "ws/.mcp.json"]);
}

#[test]
fn every_example_about_one_server_writes_what_the_page_says() {
    run("cli-servers.md", &[]);
}
