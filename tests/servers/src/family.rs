//! Processes: the start log, helpers that outlive their parent, and signals.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};

use crate::flags::Flags;

/// Whether a helper stays in this process's session.
#[derive(Clone, Copy, PartialEq)]
pub enum Session {
    Same,
    Own,
}

/// Appends `<pid> server` (or `wrapper`) to the start log and says how many servers have started by
/// now.
pub fn log_start(flags: &Flags) -> usize {
    let role = if flags.wrapped { "wrapper" } else { "server" };
    append_to_log(flags, std::process::id(), role);
    let log = flags.start_log.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
    log.map_or(1, |text| text.lines().filter(|line| line.ends_with(" server")).count())
}

/// Does what the flags want before the first request: signals, stderr, helpers, early ends.
pub fn begin(flags: &Flags, starts: usize) {
    if flags.ignore_term {
        // SAFETY: SIG_IGN is a valid disposition and no handler of ours runs.
        unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    }
    if let Some(text) = &flags.stderr_text {
        eprintln!("{text}");
    }
    if flags.fork_child {
        spawn_holder(flags, Session::Same);
    }
    if flags.setsid_child {
        spawn_holder(flags, Session::Own);
    }
    if let Some(code) = flags.exit_at_start {
        std::process::exit(code);
    }
    if flags.fail_starts.as_ref().is_some_and(|failing| failing.contains(&starts)) {
        eprintln!("start {starts} fails as asked");
        std::thread::sleep(flags.initialize_delay);
        std::process::exit(1);
    }
    if flags.silent_starts.as_ref().is_some_and(|silent| silent.contains(&starts)) {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    }
}

/// Starts a helper that ignores the end of its input and holds this process's output open, and
/// says its pid.
pub fn spawn_holder(flags: &Flags, session: Session) -> Option<u32> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.arg("--hold").stdin(Stdio::null());
    if session == Session::Own {
        // SAFETY: setsid is async-signal-safe and touches nothing of the parent.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                Ok(())
            });
        }
    }
    let child = command.spawn().ok()?;
    append_to_log(flags, child.id(), "child");
    Some(child.id())
}

/// Runs as a helper: waits until a signal ends it.
pub fn hold() -> ! {
    loop {
        std::thread::park();
    }
}

/// Runs the server as a child with the same descriptors, as a package runner does, and ends as it
/// ended. SIGTERM is passed on.
pub fn wrap() -> ! {
    let args = std::env::args().skip(1).filter(|arg| arg != "--wrapped");
    let child =
        std::env::current_exe().and_then(|program| Command::new(program).args(args).spawn());
    let Ok(mut child) = child else { std::process::exit(1) };
    WRAPPED.store(child.id() as i32, Ordering::SeqCst);
    let handler: extern "C" fn(i32) = pass_on;
    // SAFETY: the handler only loads an atomic and calls kill, both async-signal-safe.
    unsafe { libc::signal(libc::SIGTERM, handler as libc::sighandler_t) };
    let code = child.wait().ok().and_then(|status| status.code());
    std::process::exit(code.unwrap_or(1));
}

extern "C" fn pass_on(signal: i32) {
    // SAFETY: the pid is that of our own child, which has not been waited for yet.
    unsafe { libc::kill(WRAPPED.load(Ordering::SeqCst), signal) };
}

/// Appends the name of a message that was seen to the message log.
pub fn log_message(flags: &Flags, method: &str) {
    append(flags.message_log.as_deref(), method);
}

/// Appends this moment to the log of lists.
pub fn log_list(flags: &Flags) {
    if flags.list_log.is_some() {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to our own.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
        let nanos = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
        append(flags.list_log.as_deref(), &nanos.to_string());
    }
}

fn append_to_log(flags: &Flags, pid: u32, role: &str) {
    append(flags.start_log.as_deref(), &format!("{pid} {role}"));
}

fn append(log: Option<&Path>, line: &str) {
    let Some(path) = log else { return };
    let opened = OpenOptions::new().create(true).append(true).open(path);
    if let Err(error) = opened.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())) {
        eprintln!("log {}: {error}", path.display());
        std::process::exit(2);
    }
}

static WRAPPED: AtomicI32 = AtomicI32::new(0);
