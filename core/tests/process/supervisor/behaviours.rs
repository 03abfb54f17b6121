//! How servers behave at their end (SECURITY 9): the fault server's behaviours, which stand as data
//! beside it.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use rig::traces::{Family, kill};
use rig::{testserver, until};
use serde::Deserialize;
use serde_json::{Value, json};

/// One way to make an end hard.
#[derive(Deserialize)]
pub struct Behaviour {
    pub name: String,
    /// How many processes there are once it is established, at least.
    pub members: usize,
    /// How long its close takes.
    pub close: Close,
    flags: Vec<String>,
    /// What happens just before the end.
    last: Option<String>,
}

/// What ends a server that is closed, by how long that takes.
#[derive(Clone, Copy, Debug, Deserialize)]
pub enum Close {
    /// It reads the end of its input, and ends.
    #[serde(rename = "at once")]
    AtOnce,
    /// The same, but it takes its time.
    #[serde(rename = "in its own time")]
    InItsOwnTime,
    /// SIGTERM.
    #[serde(rename = "exit grace")]
    ExitGrace,
    /// SIGKILL.
    #[serde(rename = "both graces")]
    BothGraces,
}

impl Close {
    /// The graces of its pool: those that its close does not wait for are longer than any test.
    pub fn graces(self) -> Value {
        let (exit, kill) = match self {
            Close::AtOnce | Close::InItsOwnTime => (NEVER_MS, NEVER_MS),
            Close::ExitGrace => (GRACE_MS, NEVER_MS),
            Close::BothGraces => (GRACE_MS, GRACE_MS),
        };
        json!({ "exit_grace_ms": exit, "kill_grace_ms": kill })
    }

    /// How long it takes at least under these graces.
    pub fn takes(self) -> Duration {
        Duration::from_millis(match self {
            Close::AtOnce => 0,
            Close::InItsOwnTime => 300,
            // It may have begun with the loss of the leader, shortly before the close.
            Close::ExitGrace => GRACE_MS - 100,
            Close::BothGraces => 2 * GRACE_MS - 100,
        })
    }
}

/// A grace that is waited for, and one that nobody may wait for.
const GRACE_MS: u64 = 1_000;
const NEVER_MS: u64 = 200_000;

/// Eleven of the twelve; the last, a killed supervisor, has tests of its own.
pub static BEHAVIOURS: LazyLock<Vec<Behaviour>> = LazyLock::new(|| {
    let written: Value =
        serde_json::from_str(include_str!("../../../../tests/servers/fault/behaviours.json"))
            .unwrap();
    let rows = written["processes"].as_array().unwrap().iter();
    let rows = rows.filter(|row| row["last"] != "supervisor dies").cloned();
    let all: Vec<Behaviour> = rows.map(|row| serde_json::from_value(row).unwrap()).collect();
    assert_eq!(all.len(), 11);
    all
});

pub fn named(name: &str) -> &'static Behaviour {
    BEHAVIOURS.iter().find(|it| it.name == name).unwrap()
}

impl Behaviour {
    /// Its configuration. Every process of it carries the family's mark.
    pub fn server(&self, family: &Family) -> Value {
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        faultserver(&flags, family)
    }

    /// Brings an established server to its last moment.
    pub fn provoke(&self, pid: u32) {
        match self.last.as_deref() {
            None => {}
            Some("leader dies") => {
                kill("KILL", pid);
                until(|| !rig::runs(pid));
            }
            Some("stopped") => {
                kill("STOP", pid);
                let stat = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
                until(|| stat().contains(") T "));
            }
            Some(last) => panic!("{last}?"),
        }
    }
}

/// The fault server with these flags.
pub fn faultserver(flags: &[&str], family: &Family) -> Value {
    let program: PathBuf = testserver().with_file_name("trunkline-faultserver");
    let args = [flags, &["--mark", family.mark()]].concat();
    json!({ "command": program, "args": args })
}
