//! Everything below this process: found in `/proc`, signalled only when it is certain to be what it
//! was taken for.
//!
//! SIGTERM goes to a tree that stands still: a process that ends by it takes the way to its
//! children along. One walk from the top would miss what is forked meanwhile.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::stream;
use crate::sys::{self, Signalled};

/// The numbers of more children than a process has.
const PROC_BYTES_MAX: usize = 64 << 20;

/// How deep one walk goes. What lies deeper rises when its ancestors die, and is met by a later
/// walk.
const DEPTH_MAX: usize = 200;

/// Between two looks at a tree that is to stand still.
const STOP_PAUSE: Duration = Duration::from_millis(1);

/// How long a process that does not stop since it waits in the kernel, as for a disk that is away,
/// keeps the others waiting.
const STUCK_MAX: Duration = Duration::from_millis(250);

/// How long one that is to run before it stops does: a machine at work has others first.
const MOVING_MAX: Duration = Duration::from_secs(1);

/// What a walk does to each process.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    /// SIGSTOP on the way down.
    Freeze,
    /// SIGTERM on the way up, and SIGCONT so that a stopped process hears of it.
    Terminate,
    /// SIGSTOP on the way down and SIGKILL on the way up: what forks faster than it is killed is
    /// frozen first.
    Kill,
}

/// How a tree was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    /// Everything in it stood still, or was dead, before it was looked for what is below.
    Still,
    /// But for what waits in the kernel.
    Stuck,
    /// Something still ran, or has ended meanwhile, and something below it may have been missed.
    Moving,
}

/// Whether `/proc` shows this process under its own pid. It does not in a PID namespace that did
/// not mount its own.
pub fn is_visible() -> bool {
    let own = fs::read_link("/proc/self").ok();
    own.is_some_and(|own| own.as_os_str() == &*std::process::id().to_string())
}

/// Asks everything below this process to end.
///
/// Who ends takes the way to its children along, and who forks has one more that nobody has seen.
/// So the whole tree stands still before anything in it is told, and nothing goes on before
/// everything below it was told. Where `is_hurried`, what is to come next waits already.
pub fn terminate_all(is_hurried: impl Fn() -> bool) {
    let (own, begun) = (std::process::id() as i32, Instant::now());
    let mut looks_still = 0;
    // By the second, those whose parent was found dead in the first are children of this very
    // process.
    while looks_still < 2 {
        let patience = match walk(Purpose::Freeze, own, &children(own), None, 0) {
            Found::Still => {
                looks_still += 1;
                continue;
            }
            Found::Stuck => STUCK_MAX,
            Found::Moving => MOVING_MAX,
        };
        if begun.elapsed() > patience || is_hurried() {
            break;
        }
        looks_still = 0;
        std::thread::sleep(STOP_PAUSE);
    }
    walk(Purpose::Terminate, own, &children(own), None, 0);
}

/// Kills everything below this process that can be found now, except the children `spared` and what
/// is below those.
pub fn kill_all(spared: &[i32]) {
    let own = std::process::id() as i32;
    let strangers: Vec<_> = children(own).into_iter().filter(|it| !spared.contains(it)).collect();
    walk(Purpose::Kill, own, &strangers, None, 0);
}

/// Whether this process has children other than these.
pub fn has_others(spared: &[i32]) -> bool {
    children(std::process::id() as i32).iter().any(|pid| !spared.contains(pid))
}

fn walk(
    purpose: Purpose,
    parent: i32,
    below: &[i32],
    parent_held: Option<&OwnedFd>,
    depth: usize,
) -> Found {
    let mut found = Found::Still;
    for child in below {
        let Some(process) = sys::open_process(*child) else {
            // An old kernel, or no descriptor left: a child of this very process is unreaped, its
            // pid its own.
            match depth {
                0 => signal_child(purpose, *child),
                _ => found = Found::Moving,
            }
            continue;
        };
        // The descriptor holds a process. It is the one that was listed when its parent is the one
        // that was listed. That parent cannot be another with the same pid while it is held and not
        // reaped. A child of this very process is unreaped: it needs no such proof, which `/proc`
        // may refuse (`hidepid`).
        let is_there = |held| sys::signal_process(held, 0) != Signalled::Gone;
        let listed = parent_of(*child);
        let same = parent_held.is_none_or(|held| listed == Some(parent) && is_there(held));
        if !same {
            // Of what `/proc` hides (`hidepid`), nothing is learnt by waiting.
            let seen = if listed.is_some() { Found::Moving } else { Found::Still };
            found = found.max(told(&process, 0, || seen));
            continue;
        }
        if purpose != Purpose::Terminate {
            found = found.max(told(&process, sys::SIGSTOP, || state(&process, *child)));
        }
        if depth < DEPTH_MAX {
            found = found.max(walk(purpose, *child, &children(*child), Some(&process), depth + 1));
        }
        match purpose {
            Purpose::Freeze => {}
            Purpose::Terminate => signal(&process, &[sys::SIGTERM, sys::SIGCONT]),
            Purpose::Kill => signal(&process, &[sys::SIGKILL]),
        }
    }
    found
}

fn signal(process: &OwnedFd, signals: &[i32]) {
    for signal in signals {
        sys::signal_process(process, *signal);
    }
}

/// The same of a child that cannot be held: what is below it cannot be told from a stranger.
fn signal_child(purpose: Purpose, pid: i32) {
    match purpose {
        Purpose::Freeze => {}
        Purpose::Terminate => {
            sys::signal_child(pid, sys::SIGTERM);
            sys::signal_child(pid, sys::SIGCONT);
        }
        Purpose::Kill => sys::signal_child(pid, sys::SIGKILL),
    }
}

/// The children of every thread of a process, dead ones that were not reaped included.
fn children(pid: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for thread in threads.flatten() {
        match text_of(&thread.path().join("children")) {
            Some(list) => {
                found.extend(list.split_ascii_whitespace().filter_map(|it| it.parse::<i32>().ok()))
            }
            // A kernel without such lists; or the thread has ended, and the search costs a little
            // time.
            None => return children_by_search(pid),
        }
    }
    found
}

fn children_by_search(parent: i32) -> Vec<i32> {
    let Ok(table) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = table.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| parent_of(*pid) == Some(parent)).collect()
}

/// Sends a process this, and how it is found then. What takes no signal of ours is told nothing
/// later either: there is nothing to wait for.
fn told(process: &OwnedFd, signal: i32, found: impl FnOnce() -> Found) -> Found {
    match sys::signal_process(process, signal) {
        Signalled::Done => found(),
        Signalled::NotOurs => Found::Still,
        Signalled::Gone => Found::Moving,
    }
}

/// How a process that was told to stop is found, each thread of it. Amid a fork it completes that
/// first. One that `/proc` hides is taken to stand.
fn state(process: &OwnedFd, pid: i32) -> Found {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return told(process, 0, || Found::Still);
    };
    let found = threads.flatten().filter_map(|thread| stat(&thread.path())).map(|it| match it.0 {
        'T' | 't' | 'Z' | 'X' => Found::Still,
        'D' => Found::Stuck,
        _ => Found::Moving,
    });
    found.max().unwrap_or(Found::Moving)
}

fn parent_of(pid: i32) -> Option<i32> {
    stat(Path::new(&format!("/proc/{pid}"))).map(|(_, parent)| parent)
}

/// The state of a thread, and the parent of its process.
fn stat(thread: &Path) -> Option<(char, i32)> {
    let text = bytes_of(&thread.join("stat"))?;
    // The program's name stands in parentheses and may hold anything. After it: the state, then the
    // parent.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn text_of(path: &Path) -> Option<String> {
    String::from_utf8(bytes_of(path)?).ok()
}

/// A file of `/proc`, if it is there and no longer than any of these.
fn bytes_of(path: &Path) -> Option<Vec<u8>> {
    stream::up_to(fs::File::open(path).ok()?, PROC_BYTES_MAX).ok()?
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// I-01: a child of this very process is signalled whatever `/proc` says of it: under `hidepid`
    /// it says nothing.
    #[test]
    fn an_own_child_is_signalled_whoever_is_said_to_be_its_parent() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        walk(Purpose::Kill, 1, &[child.id().cast_signed()], None, 0);
        let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
        let mut ended = child.try_wait().unwrap();
        while ended.is_none() && std::time::Instant::now() < end {
            std::thread::sleep(std::time::Duration::from_millis(5));
            ended = child.try_wait().unwrap();
        }
        let _ = child.kill();
        child.wait().unwrap();
        assert!(ended.is_some());
    }

    /// SPEC 9.8: another user's process cannot be told anything, so that nobody's grace is spent on
    /// it.
    #[test]
    fn what_is_another_users_is_not_waited_for() {
        let first = sys::open_process(1).unwrap();
        let found = std::thread::spawn(move || {
            // SAFETY: of this thread alone, which ends here. Where it is nobody's to change, the
            // first process is another's already.
            unsafe { libc::syscall(libc::SYS_setresuid, 65_534, 65_534, 65_534) };
            told(&first, sys::SIGSTOP, || state(&first, 1))
        });
        assert_eq!(found.join().unwrap(), Found::Still);
        let own = sys::open_process(std::process::id().cast_signed()).unwrap();
        assert_eq!(told(&own, 0, || Found::Stuck), Found::Stuck);
    }

    /// SPEC 9.8: nor is one of the same user that `/proc` says nothing of, as it does under
    /// `hidepid` of those that are not dumpable.
    #[test]
    fn what_is_hidden_is_not_waited_for() {
        const NOBODY: i32 = i32::MAX;
        let own = sys::open_process(std::process::id().cast_signed()).unwrap();
        assert_eq!(state(&own, NOBODY), Found::Still);
        let mut child = Command::new("true").spawn().unwrap();
        let over = sys::open_process(child.id().cast_signed()).unwrap();
        child.wait().unwrap();
        assert_eq!(state(&over, NOBODY), Found::Moving);
    }
}
