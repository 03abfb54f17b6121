//! A home and a workspace of a test, and runs of the program in them.

#[path = "../../../tests/rig/folder.rs"]
mod folder;
#[path = "../../../tests/rig/testserver.rs"]
mod testserver;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

pub use testserver::testserver;

/// What a run wrote, and how it exited.
#[derive(Debug)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub exit: i32,
}

impl Ran {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// An empty home with the workspace `ws` in it.
pub struct Home(folder::Folder);

impl Home {
    pub fn new() -> Home {
        let home = Home(folder::Folder::new());
        std::fs::create_dir(home.path("ws")).unwrap();
        home
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file, with the folders that it is in.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes settings with these servers, as most products have them.
    pub fn settings(&self, name: &str, servers: &Value) -> PathBuf {
        self.write(name, &json!({ "mcpServers": servers }).to_string())
    }

    /// The reference server with these flags; its starts are logged.
    pub fn server(&self, flags: &[&str]) -> Value {
        let log = self.path("starts");
        let args = flags.iter().map(|flag| json!(flag));
        let args: Vec<Value> = args.chain([json!("--start-log"), json!(log)]).collect();
        json!({ "command": testserver(), "args": args })
    }

    /// The program, in the workspace, with nothing of the environment of who runs the test.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        command.args(words).current_dir(self.path("ws")).env_clear();
        command.env("HOME", self.path("")).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        ran(self.command(words).output().unwrap())
    }

    /// The same with something to read.
    pub fn run_with(&self, words: &[&str], input: &str) -> Ran {
        let mut child = self.command(words).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        ran(child.wait_with_output().unwrap())
    }

    /// The servers that were started.
    pub fn starts(&self) -> Vec<u32> {
        let log = std::fs::read_to_string(self.path("starts")).unwrap_or_default();
        log.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
    }

    /// Looks once whether any of them runs, or of what they started: a run has ended all of it when
    /// it is over.
    pub fn has_no_process(&self) {
        if !Path::new("/proc/self").exists() {
            return;
        }
        let log = std::fs::read_to_string(self.path("starts")).unwrap_or_default();
        let left: Vec<&str> = log.lines().filter(|line| self.runs(line)).collect();
        assert!(left.is_empty(), "{left:?} of {log:?}");
    }

    /// Whether that is running which a line of the log is about: its number may have passed to
    /// another process.
    fn runs(&self, line: &str) -> bool {
        let (pid, role) = line.split_once(' ').unwrap();
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let log = self.path("starts");
        let own = match role {
            "child" => b"--hold",
            _ => log.as_os_str().as_encoded_bytes(),
        };
        arguments.split(|byte| *byte == 0).any(|argument| argument == own)
    }

    /// Compares with what is written down in `golden`, where the home and the reference server have
    /// names of their own. `UPDATE_GOLDEN` writes it down.
    pub fn is_as_written(&self, name: &str, text: &str) {
        let text = text.replace(testserver().to_str().unwrap(), "SERVER");
        let text = text.replace(self.path("").to_str().unwrap(), "HOME/");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/golden").join(name);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(text, std::fs::read_to_string(&path).unwrap_or_default(), "{name}");
    }
}

/// The reference server over HTTP. It ends with the value.
pub struct Remote {
    child: Child,
    pub url: String,
}

impl Remote {
    pub fn start(flags: &[&str]) -> Remote {
        let mut command = Command::new(testserver());
        command.args(["--http", "0"]).args(flags).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Remote { child, url: url.trim().to_owned() }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

pub fn ran(output: Output) -> Ran {
    Ran {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        exit: output.status.code().expect("no signal ends it"),
    }
}
