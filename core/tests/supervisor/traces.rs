//! Finding processes by what they carry, and hosts that can be killed.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::rig::Folder;

/// What a test that runs again in a process of its own is given.
const GIVEN: &str = "TRUNKLINE_TEST_HOST";

/// All processes of one server, marked by their arguments.
pub struct Family(String);

impl Family {
    pub fn new(name: &str) -> Family {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = name.replace(' ', "-");
        Family(format!("family-{}-{number}-{name}-", std::process::id()))
    }

    pub fn of(mark: &str) -> Family {
        Family(mark.to_owned())
    }

    pub fn mark(&self) -> &str {
        &self.0
    }

    /// Those that live, the tests' own processes apart.
    pub fn members(&self) -> Vec<u32> {
        let table = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = table.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid| self.has(*pid)).collect()
    }

    fn has(&self, pid: u32) -> bool {
        let carried = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        carried.windows(self.0.len()).any(|it| it == self.0.as_bytes()) && crate::rig::runs(pid)
    }
}

/// The parent of a process.
pub fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

/// Whether it is a supervisor or a keeper.
pub fn is_ours(pid: u32) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.starts_with("trunkline-")
}

pub fn children(pid: u32) -> usize {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    list.split_whitespace().count()
}

pub fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

pub fn kill(signal: &str, pid: u32) {
    let kill = Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status();
    assert!(kill.unwrap().success());
}

/// In a process that was started by [`Host::start`] for this test: what it was given.
pub fn in_host(test: &str) -> Option<Value> {
    let given: Value = serde_json::from_str(&std::env::var(GIVEN).ok()?).unwrap();
    (given[0] == test).then(|| given[1].clone())
}

fn again(test: &str, given: &Value) -> Command {
    again_by(Command::new(std::env::current_exe().unwrap()), test, given)
}

/// The same test again, by a command that ends with this program.
pub fn again_by(mut again: Command, test: &str, given: &Value) -> Command {
    let given = Value::from(vec![test.into(), given.clone()]);
    again.args(["--exact", test, "--nocapture"]).env(GIVEN, given.to_string());
    again
}

/// Runs a test in a process of its own.
pub fn alone(test: &str, run: impl FnOnce()) {
    alone_with(test, ("TRUNKLINE_TEST_NOTHING", ""), run);
}

/// The same, with a variable set in it.
pub fn alone_with(test: &str, (name, value): (&str, &str), run: impl FnOnce()) {
    match in_host(test) {
        Some(_) => run(),
        None => {
            let again = again(test, &Value::Null).env(name, value).status().unwrap();
            assert!(again.success(), "{test} failed in its own process");
        }
    }
}

/// Another process that plays the host: the same test again. It ends with this, and what it leaves in its folder goes.
pub struct Host {
    _folder: Folder,
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Host {
    pub fn start(test: &str, given: &Value) -> Host {
        let folder = Folder::new();
        let mut again = again(test, given);
        let again = again.env("TMPDIR", &*folder).stdout(Stdio::piped());
        let mut process = again.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Host { _folder: folder, process, output }
    }

    /// What it says after `ready`.
    pub fn read_line(&mut self) -> String {
        let mut seen = String::new();
        loop {
            let mut line = String::new();
            let count = self.output.read_line(&mut line).unwrap();
            assert!(count > 0, "the host ended: {seen}");
            if let Some(said) = line.strip_prefix("ready") {
                return said.to_owned();
            }
            seen += &line;
        }
    }

    /// With SIGKILL, and waits until it is gone.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // One that was killed is not there any more.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
