//! The processes of the family: helpers that leave, hide, hold on or multiply, and how the leader
//! ends.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::flags::Flags;

/// A process that the server starts beside itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Companion {
    /// In the server's process group.
    Group,
    /// In a session of its own.
    Setsid,
    /// An orphan in a session of its own, without the environment, deaf to SIGTERM.
    Double,
    /// In a session of its own, with the server's pipes.
    Pipes,
    /// Deaf to SIGTERM, and makes orphans that are deaf too, in sessions of their own, one after
    /// the other.
    Respawn,
}

const COMPANIONS: [(&str, Companion); 5] = [
    ("group", Companion::Group),
    ("setsid", Companion::Setsid),
    ("double", Companion::Double),
    ("pipes", Companion::Pipes),
    ("respawn", Companion::Respawn),
];

impl Companion {
    pub fn named(name: &str) -> Option<Companion> {
        COMPANIONS.iter().find(|(known, _)| *known == name).map(|(_, companion)| *companion)
    }
}

/// Writes the start log, and starts the helpers.
pub fn begin(flags: &Flags) {
    if flags.ignore_term {
        ignore_term();
    }
    log(flags, "server");
    for companion in &flags.companions {
        match companion {
            Companion::Group => child(flags, |_| silence()),
            Companion::Setsid => child(flags, |_| {
                own_session();
                silence();
            }),
            Companion::Double => orphan(flags, |flags| become_held(flags)),
            Companion::Pipes => child(flags, |_| own_session()),
            Companion::Respawn => child(flags, respawn),
        }
    }
}

/// What the leader does once its input has ended.
pub fn end(flags: &Flags) {
    if flags.ignore_eof {
        wait_for_a_signal();
    }
    std::thread::sleep(flags.slow_exit);
}

/// Runs as a helper that was executed anew.
pub fn hold(flags: &Flags) -> ! {
    if flags.ignore_term {
        ignore_term();
    }
    wait_for_a_signal();
}

/// Waits until a signal ends this process, but not for ever: a test that failed must not fill its
/// machine.
pub fn wait_for_a_signal() -> ! {
    // SAFETY: these two have no preconditions; the default of SIGALRM ends the process.
    unsafe {
        libc::alarm(LIFE_SECONDS);
        loop {
            libc::pause();
        }
    }
}

/// Lets go of standard output alone: what reads it sees an end.
pub fn shut_output() {
    // SAFETY: nothing here owns the standard streams, and writing to a closed one is an error that
    // is ignored.
    unsafe { libc::close(1) };
}

/// Starts a child that prepares itself and then waits.
fn child(flags: &Flags, prepare: impl FnOnce(&Flags)) {
    if fork().is_none() {
        log(flags, "child");
        prepare(flags);
        wait_for_a_signal();
    }
}

/// The same with a child between, which ends at once.
fn orphan(flags: &Flags, prepare: impl FnOnce(&Flags)) {
    let Some(between) = fork() else {
        own_session();
        child(flags, prepare);
        std::process::exit(0);
    };
    // SAFETY: waits for the child of the line above; the status is not wanted.
    unsafe { libc::waitpid(between, std::ptr::null_mut(), 0) };
}

fn become_held(flags: &Flags) -> ! {
    let mut held = Command::new("/proc/self/exe");
    held.args(["--hold", "--ignore-term", "--mark", &flags.mark]);
    if let Some(log) = &flags.start_log {
        held.arg("--start-log").arg(log);
    }
    held.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let error = held.exec();
    eprintln!("the helper could not be executed: {error}");
    std::process::exit(3);
}

fn respawn(flags: &Flags) {
    own_session();
    silence();
    ignore_term();
    for _ in 0..RESPAWNED_MAX {
        orphan(flags, |_| {});
        std::thread::sleep(RESPAWN_EVERY);
    }
}

/// The child's pid in the parent, nothing in the child.
fn fork() -> Option<libc::pid_t> {
    // SAFETY: this process has one thread, so its child may use everything that it may.
    match unsafe { libc::fork() } {
        0 => None,
        pid if pid > 0 => Some(pid),
        _ => std::process::exit(3),
    }
}

fn own_session() {
    // SAFETY: no preconditions; it fails in the leader of a group, which no fork is.
    unsafe { libc::setsid() };
}

fn ignore_term() {
    // SAFETY: SIG_IGN is a valid disposition and no handler of ours runs.
    unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
}

/// Lets go of the pipes.
fn silence() {
    let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") else { return };
    for stream in 0..3 {
        // SAFETY: both are descriptors of this process, and nothing here owns the standard streams.
        unsafe { libc::dup2(null.as_raw_fd(), stream) };
    }
}

fn log(flags: &Flags, role: &str) {
    let Some(path) = &flags.start_log else { return };
    let line = format!("{} {role}\n", std::process::id());
    let opened = OpenOptions::new().create(true).append(true).open(path);
    if let Err(error) = opened.and_then(|mut file| file.write_all(line.as_bytes())) {
        eprintln!("start log {}: {error}", path.display());
        std::process::exit(2);
    }
}

/// How long a process that nobody ends stays.
const LIFE_SECONDS: u32 = 600;

const RESPAWN_EVERY: Duration = Duration::from_millis(20);

/// Ten seconds of respawning: more than a close takes, and fewer than a machine notices.
const RESPAWNED_MAX: usize = 500;
