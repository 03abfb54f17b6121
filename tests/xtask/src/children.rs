//! Child processes: each in a group of its own, which ends at its hang bound and never outlives us.
//! Threads may run some at the same time.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// How a command ended.
pub enum Ended {
    With(ExitStatus),
    /// It was still running at its hang bound and was killed.
    AtItsBound,
    /// It ended, but a process of its group was still there after the grace.
    LeavingProcesses,
}

/// Runs `command` with its output in `log`, for at most `bound`.
///
/// # Errors
/// When the program cannot be started.
pub fn run(command: &mut Command, log: &File, bound: Duration) -> std::io::Result<Ended> {
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?);
    let mut child = command.process_group(0).spawn()?;
    let group = child.id() as i32;
    let noted = Noted::new(group);
    let deadline = Instant::now() + bound;
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            break Ended::With(status);
        }
        if Instant::now() >= deadline {
            break Ended::AtItsBound;
        }
        std::thread::sleep(POLL);
    };
    let left = !matches!(ended, Ended::AtItsBound) && is_alive_after_grace(group);
    kill_group(group);
    drop(noted);
    if matches!(ended, Ended::AtItsBound) {
        child.wait()?;
    }
    Ok(if left { Ended::LeavingProcesses } else { ended })
}

/// What this thread starts from here on has of the processors what others leave: on Linux a thread
/// has a niceness of its own, which what it starts takes over.
pub fn let_others_go_first() {
    // SAFETY: it changes a number of the calling thread's. Where that is refused, nothing goes
    // first.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, LAST) };
}

/// Sees to it that SIGINT and SIGTERM to us end the groups that are running.
pub fn end_them_with_us() {
    let handler: extern "C" fn(i32) = end_groups_and_exit;
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler loads an atomic, kills and exits, all async-signal-safe.
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
}

/// Whether a process with that id is running; one that has ended and waits to be reaped is not.
pub fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

/// What all children that have ended took of the processors, and theirs.
pub fn processor_time() -> Duration {
    // SAFETY: all zeros are a valid rusage, and the call writes to it alone.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let micros = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    Duration::from_micros(micros(usage.ru_utime) + micros(usage.ru_stime))
}

fn is_alive_after_grace(group: i32) -> bool {
    let deadline = Instant::now() + GRACE;
    loop {
        // SAFETY: signal 0 to a group that we made only asks whether it exists.
        if unsafe { libc::kill(-group, 0) } != 0 {
            return false;
        }
        if Instant::now() >= deadline {
            return true;
        }
        std::thread::sleep(POLL);
    }
}

fn kill_group(group: i32) {
    // SAFETY: the group is one that we made; when it has gone, kill fails and nothing happens.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

extern "C" fn end_groups_and_exit(signal: i32) {
    for group in &GROUPS {
        let group = group.load(Ordering::SeqCst);
        if group > 0 {
            kill_group(group);
        }
    }
    // SAFETY: _exit is async-signal-safe and runs no destructor.
    unsafe { libc::_exit(128 + signal) };
}

/// A group that is running, where the signal handler finds it.
struct Noted(&'static AtomicI32);

impl Noted {
    fn new(group: i32) -> Option<Noted> {
        let is_free = |place: &&AtomicI32| {
            place.compare_exchange(0, group, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        GROUPS.iter().find(is_free).map(Noted)
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.store(0, Ordering::SeqCst);
    }
}

/// The groups that are running, or 0: no more run at once than the suites and what is beside them.
static GROUPS: [AtomicI32; 8] = [const { AtomicI32::new(0) }; 8];

/// The niceness that leaves most to others.
const LAST: i32 = 19;

/// How often a running child is looked at.
const POLL: Duration = Duration::from_millis(20);

/// How long the rest of a group may take to end after its leader.
const GRACE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::{Ended, GROUPS, Noted, let_others_go_first, processor_time, run};
    use std::process::Command;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    fn shell(script: &str, bound: Duration) -> Ended {
        let log = std::fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
        run(Command::new("sh").args(["-c", script]), &log, bound).unwrap()
    }

    #[test]
    fn a_command_that_hangs_is_killed_with_its_children() {
        let ended = shell("sleep 600 & sleep 600", Duration::from_millis(200));
        assert!(matches!(ended, Ended::AtItsBound));
    }

    #[test]
    fn a_command_that_ends_gives_its_status() {
        let Ended::With(status) = shell("exit 3", Duration::from_secs(60)) else { panic!() };
        assert_eq!(status.code(), Some(3));
    }

    #[test]
    fn what_a_command_took_of_the_processor_is_known() {
        let before = processor_time();
        shell("i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done", Duration::from_secs(60));
        assert!(processor_time() > before);
    }

    #[test]
    fn what_is_to_go_last_does_so_and_no_other_does() {
        let niceness = || {
            let Ended::With(status) = shell("exit $(nice)", Duration::from_secs(60)) else {
                panic!()
            };
            status.code()
        };
        let before = niceness();
        let beside = std::thread::spawn(move || {
            let_others_go_first();
            niceness()
        });
        assert_eq!(beside.join().unwrap(), Some(19));
        assert_eq!(niceness(), before);
    }

    #[test]
    fn each_group_that_runs_is_where_a_signal_finds_it() {
        let are_noted = |group: i32| {
            GROUPS.iter().filter(|noted| noted.load(Ordering::SeqCst) == group).count()
        };
        // No such groups are: nothing but a signal would look for them.
        let [one, other] = [i32::MAX, i32::MAX - 1];
        let noted = [one, other].map(|group| Noted::new(group).unwrap());
        assert_eq!([one, other].map(are_noted), [1, 1]);
        drop(noted);
        assert_eq!([one, other].map(are_noted), [0, 0]);
    }

    #[test]
    fn a_process_left_behind_is_noticed() {
        let ended = shell("sleep 600 & exit 0", Duration::from_secs(60));
        assert!(matches!(ended, Ended::LeavingProcesses));
    }
}
