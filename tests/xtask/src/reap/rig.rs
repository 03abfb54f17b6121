//! The fault server, its behaviours, and a folder for the start logs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use super::family::{self, Family, comes_true};
use super::hosts::Host;
use crate::machine::{Machine, write};
use crate::run::{Run, Stop};

/// What a run needs beside its hosts.
pub struct Rig {
    folder: PathBuf,
    program: PathBuf,
    behaviours: Vec<Behaviour>,
    families: AtomicU32,
}

/// One of the twelve.
pub struct Behaviour {
    pub name: String,
    flags: Vec<String>,
    members: usize,
    pub last: Last,
}

/// What happens just before the end.
#[derive(Clone, Copy, PartialEq)]
pub enum Last {
    Nothing,
    LeaderDies,
    Stopped,
    SupervisorDies,
}

/// What the host was told to do with the server before its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    Connecting,
    Idle,
    Calling,
}

impl Rig {
    /// With the behaviours that are named, or all.
    pub fn new(machine: &Machine, run: &mut Run, only: &[&str]) -> Result<Rig, Stop> {
        let program = machine.testserver(run)?.with_file_name("trunkline-faultserver");
        let path = machine.needs("tests/servers/fault/behaviours.json")?;
        let failed = |why: String| Stop::Failed(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
        let written: Value =
            serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        let rows = written["processes"].as_array().into_iter().flatten();
        let behaviours: Option<Vec<Behaviour>> = rows.map(behaviour).collect();
        let behaviours = behaviours.filter(|all| all.len() == BEHAVIOURS);
        let mut behaviours =
            behaviours.ok_or_else(|| failed("not the twelve behaviours".to_owned()))?;
        behaviours.retain(|it| only.is_empty() || only.contains(&it.name.as_str()));
        let folder = machine.target.join(format!("xtask/reap-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| failed(error.to_string()))?;
        // So that a folder that cannot be written to is noticed here.
        write(&folder.join("about"), "start logs of cargo xtask reap\n")?;
        Ok(Rig { folder, program, behaviours, families: AtomicU32::new(0) })
    }

    pub fn behaviours(&self) -> &[Behaviour] {
        &self.behaviours
    }

    pub fn named(&self, name: &str) -> Option<&Behaviour> {
        self.behaviours.iter().find(|behaviour| behaviour.name == name)
    }

    pub fn family(&self) -> Family {
        let number = self.families.fetch_add(1, Ordering::Relaxed);
        Family::new(self.folder.join(format!("family-{number}.starts")))
    }

    /// The words that make a host start a server of this behaviour.
    pub fn server(&self, behaviour: &Behaviour, family: &Family, moment: Moment) -> Value {
        let mut args: Vec<String> = behaviour.flags.clone();
        if moment == Moment::Connecting {
            args.push("--silent".to_owned());
        }
        let mark = family.log().to_string_lossy().into_owned();
        args.extend(["--start-log".to_owned(), mark.clone(), "--mark".to_owned(), mark]);
        json!({ "command": self.program, "args": args })
    }

    /// Has a host bring a server up to this moment; says its leader.
    pub fn establish(
        &self,
        host: &mut Host,
        behaviour: &Behaviour,
        family: &Family,
        moment: Moment,
    ) -> Result<u32, String> {
        let word = if moment == Moment::Connecting { "begin" } else { "connect" };
        let supervision =
            host.ask(&format!("{word} s {}", self.server(behaviour, family, moment)))?;
        let leader = family.leader(behaviour.members)?;
        if moment == Moment::Calling {
            host.ask("call")?;
        }
        if supervision != "supervisor" || family::holders(leader).len() != 2 {
            return Err(format!("the supervision is {supervision}"));
        }
        Ok(leader)
    }

    /// Whatever still runs of any family so far, and the folder goes.
    pub fn sweep(&self) -> Vec<u32> {
        let left = family::marked(&self.folder.to_string_lossy());
        left.iter().for_each(|pid| family::signal(libc::SIGKILL, *pid));
        let _ = std::fs::remove_dir_all(&self.folder);
        left
    }
}

impl Last {
    /// Makes it happen, and waits until it has.
    pub fn provoke(self, leader: u32) -> Result<(), String> {
        let (signal, pid) = match self {
            Last::Nothing => return Ok(()),
            Last::LeaderDies => (libc::SIGKILL, leader),
            Last::Stopped => (libc::SIGSTOP, leader),
            Last::SupervisorDies => {
                let supervisor = family::holders(leader).get(1).copied();
                (libc::SIGKILL, supervisor.ok_or("the supervisor is not there")?)
            }
        };
        family::signal(signal, pid);
        let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let has_happened = || {
            if self == Last::Stopped {
                state().contains(") T ")
            } else {
                !crate::children::is_running(pid)
            }
        };
        if comes_true(family::HANG, has_happened) {
            Ok(())
        } else {
            Err(format!("process {pid} goes on after signal {signal}"))
        }
    }
}

fn behaviour(row: &Value) -> Option<Behaviour> {
    let last = match row.get("last").map(|last| last.as_str()) {
        None => Last::Nothing,
        Some(Some("leader dies")) => Last::LeaderDies,
        Some(Some("stopped")) => Last::Stopped,
        Some(Some("supervisor dies")) => Last::SupervisorDies,
        Some(_) => return None,
    };
    let flags = row["flags"]
        .as_array()?
        .iter()
        .map(|flag| flag.as_str().map(str::to_owned))
        .collect::<Option<_>>()?;
    let members = row["members"].as_u64()? as usize;
    Some(Behaviour { name: row["name"].as_str()?.to_owned(), flags, members, last })
}

/// As many as the scoreboard names.
const BEHAVIOURS: usize = 12;
