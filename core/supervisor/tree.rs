//! Everything below this process: found in `/proc`, signalled only when it is certain to be what it was taken for.

use std::fs;
use std::os::fd::OwnedFd;

use crate::sys;

/// How deep one walk goes. What lies deeper rises when its ancestors die, and is met by a later walk.
const DEPTH_MAX: usize = 200;

/// What a walk does to each process.
#[derive(Clone, Copy, PartialEq)]
pub enum Purpose {
    /// SIGTERM, and SIGCONT so that a stopped process hears of it.
    Terminate,
    /// SIGSTOP on the way down and SIGKILL on the way up: what forks faster than it is killed is frozen first.
    Kill,
}

/// Whether `/proc` shows this process under its own pid. It does not in a PID namespace that did not mount its own.
pub fn is_visible() -> bool {
    let own = fs::read_link("/proc/self").ok();
    own.is_some_and(|own| own.as_os_str() == &*std::process::id().to_string())
}

/// Signals everything below this process, except the children `spared` and what is below those.
pub fn signal_all(purpose: Purpose, spared: &[i32]) {
    let own = std::process::id() as i32;
    let strangers: Vec<_> = children(own).into_iter().filter(|it| !spared.contains(it)).collect();
    walk(purpose, own, &strangers, None, 0);
}

/// Whether this process has children other than these.
pub fn has_others(spared: &[i32]) -> bool {
    children(std::process::id() as i32).iter().any(|pid| !spared.contains(pid))
}

fn walk(purpose: Purpose, parent: i32, below: &[i32], parent_held: Option<&OwnedFd>, depth: usize) {
    for child in below {
        let Some(process) = sys::open_process(*child) else {
            // An old kernel, or no descriptor left: a child of this very process is unreaped, its pid its own.
            if depth == 0 {
                signal_child(purpose, *child);
            }
            continue;
        };
        // The descriptor holds a process. It is the one that was listed when its parent is the one that was listed,
        // and that parent cannot be another with the same pid while it is held and not reaped. A child of this very process
        // is unreaped: it needs no such proof, which `/proc` may refuse (`hidepid`).
        let same = parent_held
            .is_none_or(|held| parent_of(*child) == Some(parent) && sys::signal_process(held, 0));
        if !same {
            continue;
        }
        let first = match purpose {
            Purpose::Terminate => sys::SIGTERM,
            Purpose::Kill => sys::SIGSTOP,
        };
        sys::signal_process(&process, first);
        if depth < DEPTH_MAX {
            walk(purpose, *child, &children(*child), Some(&process), depth + 1);
        }
        let last = match purpose {
            Purpose::Terminate => sys::SIGCONT,
            Purpose::Kill => sys::SIGKILL,
        };
        sys::signal_process(&process, last);
    }
}

fn signal_child(purpose: Purpose, pid: i32) {
    match purpose {
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
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => {
                found.extend(list.split_ascii_whitespace().filter_map(|it| it.parse::<i32>().ok()))
            }
            // A kernel without such lists; or the thread has ended, and the search costs a little time.
            Err(_) => return children_by_search(pid),
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

fn parent_of(pid: i32) -> Option<i32> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The program's name stands in parentheses and may hold anything. After it: the state, then the parent.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// I-01: a child of this very process is signalled whatever `/proc` says of it: under `hidepid` it says nothing.
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
}
