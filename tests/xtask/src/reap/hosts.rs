//! Host programs in four languages, which do what they are told a line at a time, and can be
//! killed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use super::family::HANG;
use crate::demo::{LANGUAGES, Language, c_library, node_package, python_command};
use crate::machine::Machine;
use crate::run::{Run, Stop};

/// The hosts that this machine can run.
pub struct Fleet {
    /// Rust first; it is always there.
    pub hosts: Vec<(&'static str, Command)>,
    /// What could not be built, and why.
    pub missing: Option<String>,
}

impl Fleet {
    /// Builds the Rust host, and the others too if `all` are wanted.
    pub fn build(machine: &Machine, run: &mut Run, all: bool) -> Result<Fleet, Stop> {
        run.command(&mut machine.cargo_build("trunkline-reap-host"))?;
        let rust = machine.command(machine.target.join("debug/trunkline-reap-host"));
        let mut fleet = Fleet { hosts: vec![("rust", rust)], missing: None };
        for Language { name, .. } in LANGUAGES.iter().filter(|_| all) {
            let built = match *name {
                "c" => c(machine, run),
                "python" => python_command(machine, run, "tests/reap/host.py"),
                "node" => node_package(machine, run).map(|()| {
                    let mut node = machine.command("node");
                    node.arg("tests/reap/host.mjs");
                    node
                }),
                _ => continue,
            };
            match built {
                Ok(command) => fleet.hosts.push((name, command)),
                Err(Stop::NotRun(why)) => fleet.missing = Some(format!("{name}: {why}")),
                Err(failed) => return Err(failed),
            }
        }
        Ok(fleet)
    }

    /// A new Rust host.
    pub fn rust(&self) -> Result<Host, String> {
        Host::start(&self.hosts[0].1)
    }
}

fn c(machine: &Machine, run: &mut Run) -> Result<Command, Stop> {
    c_library(machine, run, "reap-host")?;
    Ok(machine.command(machine.target.join("c/reap-host")))
}

/// A host that runs. Dropped, it is killed.
pub struct Host {
    process: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl Host {
    pub fn start(command: &Command) -> Result<Host, String> {
        let mut again = Command::new(command.get_program());
        again.args(command.get_args());
        again.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        again.current_dir(command.get_current_dir().unwrap_or(".".as_ref()));
        again.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process =
            again.spawn().map_err(|error| format!("the host does not start: {error}"))?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("the host has no pipes".to_owned());
        };
        let (send, answers) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.for_each(|line| drop(send.send(line)));
        });
        Ok(Host { process, input, answers })
    }

    /// Tells the host what to do and waits for its answer.
    pub fn ask(&mut self, line: &str) -> Result<String, String> {
        let word = line.split(' ').next().unwrap_or_default().to_owned();
        writeln!(self.input, "{line}").map_err(|error| format!("{word}: {error}"))?;
        let answer = self.answers.recv_timeout(HANG).map_err(|error| format!("{word}: {error}"))?;
        if answer.starts_with("error ") { Err(format!("{word}: {answer}")) } else { Ok(answer) }
    }

    /// With SIGKILL; it is gone afterwards.
    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.kill();
    }
}
