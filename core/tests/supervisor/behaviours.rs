//! How servers behave at their end (SECURITY 9): the reference server, and what a shell starts around it.

use serde_json::{Value, json};
use trunkline::{CallOptions, Lease};

use crate::rig::{testserver, until};
use crate::traces::{Family, kill};

/// One way to make an end hard.
pub struct Behaviour {
    pub name: &'static str,
    /// How many processes there are at the last moment, at least.
    pub members: usize,
    /// What a shell does before it becomes the server.
    before: &'static str,
    /// The server's flags.
    flags: &'static str,
    last: Last,
}

/// What happens just before the end.
enum Last {
    Nothing,
    /// The leader is gone, its helpers are not.
    LeaderDies,
    /// The leader is stopped.
    Stopped,
}

const DETACHED: &str = "</dev/null >/dev/null 2>&1 &";

/// Eleven of the twelve; the last, a killed supervisor, has tests of its own.
pub const BEHAVIOURS: &[Behaviour] = &[
    Behaviour { name: "polite", members: 1, before: "", flags: "", last: Last::Nothing },
    Behaviour {
        name: "slow exit",
        members: 2,
        before: r#"finish() { sleep 0.3; exit; }; trap finish EXIT;"#,
        flags: "--tools 1; true",
        last: Last::Nothing,
    },
    Behaviour {
        name: "deaf to EOF",
        members: 1,
        before: "",
        flags: "--ignore-eof",
        last: Last::Nothing,
    },
    Behaviour {
        name: "deaf to EOF and SIGTERM",
        members: 1,
        before: "",
        flags: "--ignore-eof --ignore-term",
        last: Last::Nothing,
    },
    Behaviour {
        name: "helper in the group",
        members: 2,
        before: "sleep 1000 DETACHED",
        flags: "",
        last: Last::Nothing,
    },
    Behaviour {
        name: "setsid helper",
        members: 2,
        before: "setsid sleep 1000 DETACHED",
        flags: "",
        last: Last::Nothing,
    },
    Behaviour {
        name: "double fork without environment",
        members: 2,
        before: r#"( ( env -i /usr/bin/setsid /bin/sh -c 'trap "" TERM HUP; while :; do sleep 1; done; : MARK' DETACHED ) & );"#,
        flags: "",
        last: Last::Nothing,
    },
    Behaviour {
        name: "helper holding our pipes",
        members: 2,
        before: "exec 3<&0; setsid sleep 1000 <&3 &",
        flags: "",
        last: Last::Nothing,
    },
    Behaviour {
        name: "leader dies first",
        members: 2,
        before: "( setsid sleep 1000 DETACHED ); sleep 1000 DETACHED",
        flags: "",
        last: Last::LeaderDies,
    },
    Behaviour { name: "stopped", members: 1, before: "", flags: "", last: Last::Stopped },
    Behaviour {
        name: "helper that respawns deaf children",
        members: 5,
        before: r#"setsid sh -c 'trap "" TERM; while :; do ( setsid sh -c "trap \"\" TERM; sleep 1000" & ); sleep 0.02; done' DETACHED"#,
        flags: "--ignore-eof",
        last: Last::Nothing,
    },
];

impl Behaviour {
    /// Its configuration. Every process of it carries the family's mark.
    pub fn server(&self, family: &Family) -> Value {
        let exec = if self.flags.contains(';') { "" } else { "exec" };
        let before = self.before.replace("DETACHED", DETACHED).replace("MARK", family.mark());
        let server = testserver().display();
        script(&format!("{before} {exec} {server} {}", self.flags), family)
    }

    /// Brings an established server to its last moment.
    pub async fn provoke(&self, lease: &Lease, pid: u32) {
        match self.last {
            Last::Nothing => {}
            Last::LeaderDies => {
                let died = lease.call_tool("crash", "{}", &CallOptions::default()).await;
                assert!(died.is_err());
            }
            Last::Stopped => {
                kill("STOP", pid);
                let stat = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
                until(|| stat().contains(") T "));
            }
        }
    }
}

/// A server written in shell.
pub fn script(text: &str, family: &Family) -> Value {
    json!({
        "command": "/bin/sh",
        "args": ["-c", text],
        "env": { "TRUNKLINE_TEST_FAMILY": family.mark() },
    })
}
