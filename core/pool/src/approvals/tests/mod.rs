//! What is asked, what is shown, what is decided.

mod books;
mod hashes;
mod lines;
mod names;
mod reached;
mod requests;
mod risks;
mod texts;
mod tools;

use serde_json::Value;

use super::{Candidate, CandidateLaunch, Identity, ProjectRoot};
use crate::config::ServerSpec;

/// The configuration of that JSON.
fn spec(value: &Value) -> ServerSpec {
    ServerSpec::from_value("s", value).unwrap()
}

/// A process of that command line.
fn process(command: &str, args: &[&str]) -> CandidateLaunch {
    CandidateLaunch::Process {
        command: command.to_owned(),
        program: Some(format!("/usr/bin/{command}")),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        cwd: None,
        in_workspace: Vec::new(),
    }
}

/// What a decision about a command line is about.
fn identity(command: &str, args: &[&str]) -> Identity {
    let spec = spec(&serde_json::json!({ "command": command, "args": args }));
    Candidate::of_spec(&spec, &process(command, args)).identity()
}

fn root(path: &str) -> ProjectRoot {
    ProjectRoot::of_canonical(path)
}
