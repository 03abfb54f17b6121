//! How servers behave at their end (SECURITY 9): the fault server's behaviours, which stand as data beside it.

use std::path::PathBuf;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::rig::{testserver, until};
use crate::traces::{Family, kill};

/// One way to make an end hard.
#[derive(Deserialize)]
pub struct Behaviour {
    pub name: String,
    /// How many processes there are once it is established, at least.
    pub members: usize,
    flags: Vec<String>,
    /// What happens just before the end.
    last: Option<String>,
}

/// Eleven of the twelve; the last, a killed supervisor, has tests of its own.
pub static BEHAVIOURS: LazyLock<Vec<Behaviour>> = LazyLock::new(|| {
    let written: Value =
        serde_json::from_str(include_str!("../../../tests/servers/fault/behaviours.json")).unwrap();
    let mut all: Vec<Behaviour> = serde_json::from_value(written["processes"].clone()).unwrap();
    all.retain(|it| it.last.as_deref() != Some("supervisor dies"));
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
                until(|| !crate::rig::runs(pid));
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
