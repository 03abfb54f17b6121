//! A settings file that is edited while the servers in it run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use trunkline::{LoadOptions, Session};

use crate::{Rig, testserver, until};

/// A pool, a session that wants every server, and a file of the user's.
pub struct Edited {
    /// The pool and its folder.
    pub rig: Rig,
    /// It wants every server.
    pub session: Session,
    /// The file of the user.
    pub file: PathBuf,
}

/// Servers by name, each with its label.
pub type Labels = BTreeMap<String, String>;

impl Edited {
    /// The file is watched, and need not be there.
    pub fn new(file: &str) -> Edited {
        let options = json!({ "trusted": true, "drain_delay_ms": 0, "exit_grace_ms": 2000 });
        Edited::with(options, file)
    }

    /// The same of a pool with these options.
    pub fn with(options: Value, file: &str) -> Edited {
        let rig = Rig::new(options);
        let session = rig.session_with(json!({ "id": "a" }));
        let file = rig.path(file);
        std::fs::write(rig.path("noted.sh"), NOTED).unwrap();
        Edited { rig, session, file }
    }

    /// Loads the file and watches it.
    pub fn load(&self) -> Value {
        self.load_as(&self.file, json!({ "watch": true }))
    }

    /// Loads a file with these options.
    pub fn load_as(&self, file: &Path, options: Value) -> Value {
        let (pool, file) = (self.rig.pool.clone(), file.to_owned());
        let options = LoadOptions::from_json(&options.to_string()).unwrap();
        self.rig.pool.block_on(async move { pool.load(file, &options).await }).unwrap()
    }

    /// Writes these servers, and loads them.
    pub fn begin(&self, labels: &Labels) {
        self.save(labels);
        self.load();
        self.settles(labels);
    }

    /// Writes these servers into the file.
    pub fn save(&self, labels: &Labels) {
        std::fs::write(&self.file, self.text(labels)).unwrap();
    }

    /// Puts another file in the place of the one that is watched, so that nobody reads half of a
    /// text.
    pub fn replace(&self, text: &str) {
        let beside = self.file.with_extension("beside");
        std::fs::write(&beside, text).unwrap();
        std::fs::rename(&beside, &self.file).unwrap();
    }

    /// The text of a file with these servers.
    pub fn text(&self, labels: &Labels) -> String {
        let servers: Map<String, Value> =
            labels.iter().map(|(name, label)| (name.clone(), self.server(name, label))).collect();
        format!("{:#}", json!({ "mcpServers": servers }))
    }

    /// A server that notes its process, and whether the one before it still runs.
    pub fn server(&self, name: &str, label: &str) -> Value {
        let (pid, log) = (self.rig.path(name), self.rig.path("starts"));
        let args = [json!(self.rig.path("noted.sh")), json!(pid), json!(testserver())];
        let flags = [json!("--label"), json!(mark(name, label)), json!("--start-log"), json!(log)];
        let args = [&args[..], &flags[..]].concat();
        json!({ "command": "sh", "args": args })
    }

    /// Waits until these servers run, and no others.
    #[track_caller]
    pub fn settles(&self, labels: &Labels) {
        let expected: BTreeSet<String> =
            labels.iter().map(|(name, label)| mark(name, label)).collect();
        until(|| {
            let running = self.rig.running();
            let marks: BTreeSet<String> = running.iter().filter_map(|pid| mark_of(*pid)).collect();
            running.len() == labels.len() && marks == expected
        });
    }

    /// The processes of servers, by name.
    pub fn pids(&self) -> BTreeMap<String, u32> {
        let named = |pid: u32| Some((mark_of(pid)?.split_once('=')?.0.to_owned(), pid));
        self.rig.running().into_iter().filter_map(named).collect()
    }

    /// The process of a server.
    pub fn pid(&self, name: &str) -> u32 {
        self.pids()[name]
    }

    /// Servers with two processes at one time.
    pub fn overlaps(&self) -> Vec<PathBuf> {
        let folder = self.rig.path("starts");
        let entries = folder.parent().unwrap_or(Path::new("/")).read_dir().unwrap();
        let paths = entries.flatten().map(|entry| entry.path());
        paths.filter(|path| path.extension().is_some_and(|it| it == "overlap")).collect()
    }
}

/// What a process of a server has among its arguments.
fn mark(name: &str, label: &str) -> String {
    format!("{name}={label}")
}

fn mark_of(pid: u32) -> Option<String> {
    let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut arguments = arguments.split(|byte| *byte == 0).skip_while(|it| *it != b"--label");
    String::from_utf8(arguments.nth(1)?.to_vec()).ok()
}

/// Labels by name.
pub fn labels<const N: usize>(labels: [(&str, &str); N]) -> Labels {
    labels.map(|(name, label)| (name.to_owned(), label.to_owned())).into()
}

/// Becomes the server that its arguments name, and notes its process in the file of the server's
/// name. The process noted before is known by its label: its number may be another's by now. A
/// script in a file, since a text of settings has variables of its own.
const NOTED: &str = r#"
noted=$1
shift
if old=$(cat "$noted" 2>/dev/null) && grep -qaz "^${noted##*/}=" "/proc/$old/cmdline" 2>/dev/null; then : > "$noted.overlap"; fi
echo $$ > "$noted"
exec "$@""#;
