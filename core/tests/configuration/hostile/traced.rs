//! A run of a test under a trace of its system calls, and what the trace has of starts, dials and
//! writes.

use std::path::{Path, PathBuf};
use std::process::Command;

use rig::{Rig, apart, testserver};
use serde_json::{Value, json};

/// Where nobody listens: what the pool of the host itself dials, what servers dial that somebody
/// let in, and what nobody may dial.
pub const OWN: u16 = 1;
pub const LET_IN: u16 = 2;
pub const SHUT: u16 = 9;

/// The folder of the programs that somebody lets in, of those that nobody does, and of the
/// temporary files.
pub struct Folders {
    pub let_in: PathBuf,
    pub shut: PathBuf,
    temporary: PathBuf,
}

/// Between these two looks, which find nothing, the host writes nothing of its own.
const BEGIN: &str = "/nowhere/the-host-is-ready";
const END: &str = "/nowhere/the-host-is-done";

/// The calls by which a process is started, somebody is dialled or told something, and a file is
/// made, changed or taken away.
const CALLS: &str = "trace=execve,execveat,connect,sendto,sendmsg,sendmmsg,?open,openat,?openat2,?creat,?mkdir,mkdirat,?mknod,mknodat,\
    ?rename,?renameat,?renameat2,?link,linkat,?symlink,symlinkat,?unlink,unlinkat,?rmdir,truncate,?chmod,fchmodat,?fchmodat2,?chown,\
    ?lchown,fchownat";

/// What notes that it was started, and ends.
const NOTING: &str = "#!/bin/sh\n: > \"$0.started\"\n";

impl Folders {
    /// Empty but for one program, under each of these names.
    pub fn new(rig: &Rig, programs: impl Fn(&Path) -> Vec<PathBuf>) -> Folders {
        let [let_in, shut, temporary] = ["let-in", "shut", "tmp"].map(|name| rig.path(name));
        for folder in [&let_in, &shut, &temporary] {
            std::fs::create_dir(folder).unwrap();
        }
        let noting = rig.path("noting");
        std::fs::write(&noting, NOTING).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&noting, mode).unwrap();
        for program in [&let_in, &shut].into_iter().flat_map(|folder| programs(folder)) {
            std::fs::hard_link(&noting, program).unwrap();
        }
        Folders { let_in, shut, temporary }
    }

    pub fn to_json(&self) -> Value {
        json!([self.let_in, self.shut, self.temporary])
    }

    pub fn of_json(given: &Value) -> Folders {
        let path = |at: usize| PathBuf::from(given[at].as_str().unwrap());
        Folders { let_in: path(0), shut: path(1), temporary: path(2) }
    }

    /// The programs of a folder that were started, as they noted it.
    pub fn noted(folder: &Path) -> usize {
        let files = std::fs::read_dir(folder).unwrap();
        let is_note = |file: &PathBuf| file.extension().is_some_and(|it| it == "started");
        files.filter(|file| is_note(&file.as_ref().unwrap().path())).count()
    }
}

/// Runs `face` between the two looks.
pub fn between<T>(face: impl FnOnce() -> T) -> T {
    assert!(std::fs::File::open(BEGIN).is_err());
    let out = face();
    assert!(std::fs::File::open(END).is_err());
    out
}

/// Runs the test again as a host under a trace; what it said, and the trace.
pub fn run(rig: &Rig, folders: &Folders, test: &str, given: &Value) -> (String, Trace) {
    let file = rig.path("trace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "--seccomp-bpf", "-qq", "-s", "256", "-e", CALLS, "-o"]);
    strace.arg(&file).arg(std::env::current_exe().unwrap());
    let mut strace = apart::again_by(strace, test, given);
    strace.env("TRUNKLINE_TESTSERVER", testserver()).env("TMPDIR", &folders.temporary);
    let output = strace.output().expect("strace is installed");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    (said, Trace::of(&std::fs::read_to_string(&file).unwrap(), folders))
}

/// What the trace of the host and of all that it started has.
#[derive(Debug, Default)]
pub struct Trace {
    /// Starts of the host itself, and of the server of its own pool.
    pub own_starts: usize,
    pub server_starts: usize,
    /// What somebody let in: starts, dials, and files that are written.
    pub let_in: [usize; 3],
    /// Dials of the host's own pool, and writes of its decisions.
    pub own_dials: usize,
    pub own_writes: usize,
    /// Everything else that is a start, a dial or a write, as it is in the trace.
    pub others: Vec<String>,
}

impl Trace {
    fn of(text: &str, folders: &Folders) -> Trace {
        let mut trace = Trace::default();
        let mut is_between = false;
        // A call that was interrupted stands twice, the first time with its arguments.
        for line in text.lines().filter(|line| !line.contains(" resumed>")) {
            let is_other = match line {
                _ if line.contains(BEGIN) || line.contains(END) => {
                    is_between = line.contains(BEGIN);
                    false
                }
                _ if line.contains("execve") => trace.is_other_start(line, folders),
                _ if line.contains("connect(") || line.contains("send") => {
                    trace.is_other_dial(line, folders)
                }
                _ => is_between && trace.is_other_write(line, folders),
            };
            if is_other {
                trace.others.push(line.to_owned());
            }
        }
        trace
    }

    fn is_other_start(&mut self, line: &str, folders: &Folders) -> bool {
        let own = format!("execve({:?},", std::env::current_exe().unwrap());
        // By its path, or by a descriptor of the file that its name says.
        let of = |path: &Path| {
            let path = path.display();
            let is_by_descriptor = || line.contains(&format!(", \"\", [\"{path}"));
            line.contains(&format!("execve(\"{path}"))
                || line.contains("execveat(") && is_by_descriptor()
        };
        // The supervisor is a program without a path.
        let is_supervisor = line.contains("execveat(") && line.contains(", \"\", [\"trunkline-");
        self.own_starts += usize::from(line.contains(&own));
        self.server_starts += usize::from(of(testserver()));
        self.let_in[0] += usize::from(of(&folders.let_in));
        !is_supervisor && !line.contains(&own) && !of(testserver()) && !of(&folders.let_in)
    }

    fn is_other_dial(&mut self, line: &str, folders: &Folders) -> bool {
        if !line.contains("connect(") {
            return line.contains("sin_port") || line.contains("sin6");
        }
        let to = |port: u16| line.contains(&format!("htons({port})"));
        let socket = format!("sun_path=\"{}", folders.let_in.display());
        let is_let_in = to(LET_IN) || line.contains(&socket);
        self.own_dials += usize::from(to(OWN));
        self.let_in[1] += usize::from(is_let_in);
        !to(OWN) && !is_let_in
    }

    /// Whether it changes a file that is neither the test's own nor where decisions are kept.
    fn is_other_write(&mut self, line: &str, folders: &Folders) -> bool {
        const WRITES: [&str; 4] = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"];
        let is_open = line.contains(" open(") || line.contains("openat");
        if is_open && !WRITES.iter().any(|flag| line.contains(flag)) {
            return false;
        }
        let path = Path::new(line.split('"').nth(1).unwrap_or_default());
        let is_let_in = path.starts_with(&folders.let_in);
        self.let_in[2] += usize::from(is_let_in);
        let own = path.strip_prefix(&folders.temporary).ok().and_then(|path| {
            // Behind the name of the rig's own folder.
            path.iter().nth(1)?.to_str()
        });
        let is_own = own.is_some_and(|name| name == KEPT || name.starts_with(FILE));
        self.own_writes += usize::from(own == Some(KEPT));
        !is_let_in && !is_own && path != Path::new("/dev/null")
    }
}

/// How the names of the settings files begin that the host writes.
pub const FILE: &str = "hostile.";

/// The folder of a rig in which decisions are kept.
pub const KEPT: &str = "kept";
