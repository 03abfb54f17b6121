//! The supervisor on macOS: watches the host and the forks of its servers, and ends what a host
//! leaves (SPEC 9.8).
//!
//! There are no subreapers and no parent-death signals, so the host starts its servers itself, and
//! this program follows them by pid and start time. It ends what is left of a server when the host
//! says that it is over. It ends what is left of all when the host's socket or its process ends. A
//! helper that forks twice and leaves the session within the moment that passes before it is looked
//! at escapes.

mod sys;

use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use crate::tracked::{Family, Line};
use sys::{Event, Queue};

/// What the host says: sixteen bytes, the kind, a pid, and when that process started, little
/// endian.
const MESSAGE_BYTES: usize = 16;
/// Who it is.
const HOST: i32 = 0;
/// A server has begun: its leader.
const BEGUN: i32 = 1;
/// A server is over: its leader.
const OVER: i32 = 2;

/// Between SIGTERM and SIGKILL when the host is gone.
const HOST_GONE_GRACE: Duration = Duration::from_millis(500);

/// How long the processes of a host that is gone are killed.
const HOST_GONE_MAX: Duration = Duration::from_secs(10);

/// How soon the table is read again while processes fork.
const LOOK_PAUSE: Duration = Duration::from_millis(2);

/// How soon it is read again while something has to end.
const WALK_PAUSE: Duration = Duration::from_millis(16);

struct Supervisor {
    queue: Queue,
    families: Vec<Family>,
    /// What the host called over, and something of it may be left.
    over: Vec<Family>,
    /// Part of a message.
    heard: Vec<u8>,
    host: i32,
    gone_since: Option<Instant>,
    /// When the table was last read, and whether something has forked since.
    looked: Instant,
    has_forked: bool,
}

/// Serves until the host is gone and nothing is left; gives the exit status.
pub fn supervise() -> i32 {
    sys::detach();
    let Some(queue) = Queue::new() else { return 1 };
    let input = std::io::stdin().as_raw_fd();
    if !queue.watch_input(input) {
        return 1;
    }
    let hello = [0, std::process::id() as i32, 0].map(i32::to_le_bytes).concat();
    // The socket is the standard input, in both directions.
    let socket = std::io::stdin().lock();
    let mut socket = match std::os::fd::AsFd::as_fd(&socket).try_clone_to_owned() {
        Ok(socket) => std::os::unix::net::UnixStream::from(socket),
        Err(_) => return 1,
    };
    if socket.write_all(&hello).is_err() {
        return 1;
    }
    let mut supervisor = Supervisor {
        queue,
        families: Vec::new(),
        over: Vec::new(),
        heard: Vec::new(),
        host: 0,
        gone_since: None,
        looked: Instant::now(),
        has_forked: false,
    };
    loop {
        let pause = supervisor.pause();
        for event in supervisor.queue.wait(pause) {
            match event {
                Event::Readable if supervisor.gone_since.is_none() => {
                    supervisor.hear(&mut socket);
                }
                // The input was closed, and stays readable.
                Event::Readable => std::thread::sleep(LOOK_PAUSE),
                Event::Ended(pid) if pid == supervisor.host => supervisor.host_is_gone(),
                Event::Ended(_) => {}
                Event::Forked(_) => supervisor.has_forked = true,
            }
        }
        supervisor.go_on();
        let patience_over = supervisor.gone_since.is_some_and(|it| it.elapsed() > HOST_GONE_MAX);
        let nothing_left = supervisor.families.is_empty() && supervisor.over.is_empty();
        if supervisor.gone_since.is_some() && (nothing_left || patience_over) {
            return 0;
        }
    }
}

impl Supervisor {
    fn pause(&self) -> Option<Duration> {
        if self.has_forked {
            Some(LOOK_PAUSE.saturating_sub(self.looked.elapsed()))
        } else if self.gone_since.is_some() || !self.over.is_empty() {
            Some(WALK_PAUSE)
        } else {
            None
        }
    }

    fn hear(&mut self, socket: &mut impl Read) {
        let mut bytes = [0; 64 * MESSAGE_BYTES];
        match socket.read(&mut bytes) {
            Ok(count @ 1..) => self.heard.extend_from_slice(&bytes[..count]),
            Ok(0) | Err(_) => return self.host_is_gone(),
        }
        let heard = std::mem::take(&mut self.heard);
        let mut messages = heard.chunks_exact(MESSAGE_BYTES);
        for message in messages.by_ref() {
            let word = |at| i32::from_le_bytes(std::array::from_fn(|byte| message[at + byte]));
            let started = u64::from_le_bytes(std::array::from_fn(|byte| message[8 + byte]));
            self.obey(word(0), word(4), started);
        }
        self.heard = messages.remainder().to_vec();
    }

    fn obey(&mut self, kind: i32, pid: i32, started: u64) {
        match kind {
            HOST => {
                self.host = pid;
                if !self.queue.watch_process(pid) {
                    self.host_is_gone();
                }
            }
            BEGUN => {
                self.queue.watch_process(pid);
                self.families.push(Family::new(pid, started));
                self.has_forked = true;
            }
            OVER => {
                if let Some(at) = self.families.iter().position(|it| it.leader == pid) {
                    self.over.push(self.families.swap_remove(at));
                }
            }
            // There are no others.
            _ => {}
        }
    }

    fn host_is_gone(&mut self) {
        if self.gone_since.is_none() {
            self.gone_since = Some(Instant::now());
            self.look();
            let members = self.families.iter().flat_map(Family::members);
            members.for_each(|member| {
                sys::signal(member, sys::SIGTERM);
                sys::signal(member, sys::SIGCONT);
            });
        }
    }

    /// Looks at the table if it is due, and kills what has to end.
    fn go_on(&mut self) {
        if self.gone_since.is_some_and(|it| it.elapsed() >= HOST_GONE_GRACE) {
            self.over.append(&mut self.families);
        }
        let is_ending = self.gone_since.is_some() || !self.over.is_empty();
        if is_ending || (self.has_forked && self.looked.elapsed() >= LOOK_PAUSE) {
            self.look();
        }
        for family in &self.over {
            // Stopped first, so that nothing forks while the others are killed.
            let members = || family.members().iter();
            members().for_each(|member| sys::signal(member, sys::SIGSTOP));
            members().for_each(|member| sys::signal(member, sys::SIGKILL));
        }
        self.over.retain(|family| !family.members().is_empty());
        if self.gone_since.is_some() {
            self.families.retain(|family| !family.members().is_empty());
        }
    }

    fn look(&mut self) {
        self.has_forked = false;
        self.looked = Instant::now();
        let table: Vec<Line> = sys::table();
        for family in self.families.iter_mut().chain(&mut self.over) {
            for found in family.look(&table) {
                // What it has forked before it was watched is found by the next look.
                self.has_forked |= self.queue.watch_process(found.pid);
            }
        }
    }
}
