//! Sign-ins that are kept in a file (SPEC 15.3).

mod damage;
mod hosts;
mod processes;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rig::person::guarded;
use rig::remote::Remote;
use rig::{Rig, apart};
use serde_json::{Value, json};
use trunkline::{AcquireOptions, CallOptions, Error, Lease, Session};

/// A server, and the file that the sign-ins to it are kept in. Both outlive the pools.
struct Home {
    remote: Remote,
    config: Value,
    tokens: PathBuf,
    rig: Rig,
}

impl Home {
    fn new(ways: Value) -> Home {
        let rig = Rig::new(json!({}));
        let (remote, config) = guarded(&rig, &ways, json!({}));
        let tokens = rig.path("tokens").join("tokens.json");
        Home { remote, config, tokens, rig }
    }

    /// A host that begins.
    fn pool(&self) -> Rig {
        Rig::new(json!({ "tokens": self.tokens }))
    }

    /// Its session, which wants nothing unasked.
    async fn session(&self, rig: &Rig) -> Session {
        rig.configure(json!({ "s": self.config })).await;
        rig.session("a")
    }

    fn folder(&self) -> &Path {
        self.tokens.parent().unwrap()
    }

    fn grants(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.tokens).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["grants"].as_array().unwrap().clone()
    }

    fn issued(&self) -> usize {
        super::flows::issued(&self.remote)
    }

    /// A process that does what this test does as a child, behind these words of a shell.
    fn child(&self, test: &str, shell: &str) -> Command {
        let mut child = Command::new("sh");
        child.args(["-c", &format!("{shell} exec \"$@\""), "sh"]);
        child.arg(std::env::current_exe().unwrap());
        let mut child = apart::again_by(child, test, &json!([self.config, self.tokens]));
        // What the child leaves when it is killed goes with the rig.
        child.env("TMPDIR", self.rig.path("")).stdin(Stdio::null());
        child
    }
}

/// The pool of a child of that test, with its server configured.
fn of_child(test: &str) -> Option<(Rig, Value)> {
    let told = apart::given(test)?;
    Some((Rig::new(json!({ "tokens": told[1] })), told[0].clone()))
}

async fn refusal(session: &Session) -> Error {
    let acquired = session.acquire("s", None, &AcquireOptions::default()).await;
    acquired.err().expect("it wants credentials")
}

async fn call(lease: &Lease) -> Result<(), Error> {
    lease.call_tool("echo", r#"{"message":"hi"}"#, &CallOptions::default()).await.map(drop)
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}
