//! The process at the far end of a wire, where it is one of this machine.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::platform::{Exit, Process};

/// A server's process and what it wrote to stderr.
pub(crate) struct Child {
    pub(super) process: Process,
    pub(super) stderr: StderrTail,
}

impl Child {
    /// The leader's pid. Never to be signalled by it.
    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// How the leader ended; `None` while it lives.
    pub(crate) fn exit_now(&self) -> Option<Exit> {
        self.process.exit_now()
    }

    /// Whether the leader has ended or is about to, though nobody told how yet.
    pub(crate) fn is_ending(&self) -> bool {
        self.process.is_ending()
    }

    /// Waits for the end of the leader. A dropped future changes nothing.
    pub(crate) async fn exited(&self) -> Exit {
        self.process.exited().await
    }

    /// What is kept of stderr, escaped, oldest line first.
    pub(crate) fn stderr_lines(&self) -> Vec<String> {
        self.stderr.lines()
    }
}

/// The last lines, oldest first, bounded by their bytes and what each takes beside them.
pub(super) struct StderrTail {
    ring: Mutex<Ring>,
    bytes_max: usize,
}

#[derive(Default)]
struct Ring {
    lines: VecDeque<String>,
    bytes: usize,
}

impl StderrTail {
    pub(super) fn new(bytes_max: usize) -> Self {
        StderrTail { ring: Mutex::default(), bytes_max }
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.lock().lines.iter().cloned().collect()
    }

    pub(super) fn push(&self, line: String) {
        let mut ring = self.lock();
        ring.bytes += taken_by(&line);
        ring.lines.push_back(line);
        while ring.bytes > self.bytes_max {
            let Some(oldest) = ring.lines.pop_front() else {
                break;
            };
            ring.bytes -= taken_by(&oldest);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A blank line takes room as well.
fn taken_by(line: &str) -> usize {
    line.len() + size_of::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 4.7, S-24: a line without anything in it takes room as well.
    #[test]
    fn blank_lines_are_bounded() {
        let lines_of = |bytes_max| {
            let tail = StderrTail::new(bytes_max);
            (0..10_000).for_each(|_| tail.push(String::new()));
            tail.lines().len()
        };
        assert!((1..1000).contains(&lines_of(1000)));
        assert_eq!(lines_of(0), 0);
    }
}
