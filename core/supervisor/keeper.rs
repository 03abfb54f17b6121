//! The keeper of one server: starts its leader, carries out what the host asks, and ends when
//! nothing of it is left.
//!
//! It asks for nothing but its own eyes: the end of the host is the end of the server's socket, or
//! of its process where a fork of it holds that socket; the end of the supervisor is a signal.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use crate::leader::{self, Leader};
use crate::message::{self, Exit, KILL, Order, Received, TERMINATE};
use crate::sys::{self, Reaped};
use crate::tree;

/// Between SIGTERM and SIGKILL when the host is gone and nobody else counts.
const HOST_GONE_GRACE: Duration = Duration::from_millis(500);

/// How long the tree of a host that is gone is killed; what the kernel has not ended by then, it
/// will not end.
const HOST_GONE_MAX: Duration = Duration::from_secs(10);

/// Between two walks of a killing: soon first, then more rarely, since what is left may be beyond
/// our rights.
pub const WALK_FIRST: Duration = Duration::from_millis(2);
pub const WALK_LAST: Duration = Duration::from_millis(256);

/// Sent by the kernel when the supervisor dies.
const SUPERVISOR_DIED: i32 = sys::SIGUSR1;

/// What a keeper needs of the supervisor that it is a fork of.
pub struct Inheritance {
    pub supervisor: i32,
    /// Where the host orders, and hears what became of it.
    pub server: OwnedFd,
    /// The server's ends of its pipes.
    pub streams: [OwnedFd; 3],
    /// Readable when the host's process has ended.
    pub host: Option<OwnedFd>,
}

struct Keeper {
    server: Option<OwnedFd>,
    host: Option<OwnedFd>,
    stage: Stage,
    ending: Ending,
    /// When the host was found gone.
    alone_since: Option<Instant>,
}

enum Stage {
    /// The order is on its way.
    Ordered { bytes: Vec<u8>, streams: [OwnedFd; 3] },
    /// Forked, on its way to the exec.
    Starting(Leader),
    /// It runs, or has run; `None` once its end was told.
    Running(Option<i32>),
    /// There is no server.
    Nothing,
}

enum Ending {
    NotYet,
    /// To be killed then.
    Terminated(Instant),
    /// Under way: the next walk, and the pause after it.
    Killing(Instant, Duration),
}

/// The body of a keeper's process; gives its exit status, which is 0 when nothing is left.
pub fn keep(inheritance: Inheritance) -> i32 {
    let Inheritance { supervisor, server, streams, host } = inheritance;
    sys::set_name(c"trunkline-keep");
    let signals = sys::signal_descriptor(&[sys::SIGCHLD, SUPERVISOR_DIED]);
    let (true, Some(signals)) = (sys::become_subreaper(), signals) else {
        message::failed(server.as_fd(), 3, sys::errno());
        return 0;
    };
    let mut keeper = Keeper {
        server: Some(server),
        host,
        stage: Stage::Ordered { bytes: Vec::new(), streams },
        ending: Ending::NotYet,
        alone_since: None,
    };
    if !sys::die_with(supervisor, SUPERVISOR_DIED) {
        return 0;
    }
    loop {
        let report = match &keeper.stage {
            Stage::Starting(leader) => Some(leader.report.as_fd()),
            Stage::Ordered { .. } | Stage::Running(_) | Stage::Nothing => None,
        };
        let (server, host) = (keeper.server.as_ref(), keeper.host.as_ref());
        let sources =
            [server.map(AsFd::as_fd), host.map(AsFd::as_fd), report, Some(signals.as_fd())];
        let [ordered, host_ended, reported, signalled] = sys::wait(sources, keeper.timeout_ms());
        // The start is told before the end, and the end of the supervisor outweighs what the host
        // wants.
        if reported {
            keeper.hear_of_start();
        }
        if signalled {
            // The numbers do not matter: both are looked into.
            sys::receive(signals.as_fd(), &mut [0; 512]);
            if !sys::is_child_of(supervisor) {
                keeper.kill();
            }
        }
        if ordered {
            keeper.hear_host();
        }
        if host_ended {
            keeper.host_is_gone();
        }
        if keeper.reap_all() {
            return keeper.finish();
        }
        if keeper.go_on_ending() == Patience::Over {
            return 1;
        }
    }
}

#[derive(PartialEq)]
enum Patience {
    Left,
    Over,
}

impl Keeper {
    fn timeout_ms(&self) -> i32 {
        let next = match self.ending {
            Ending::NotYet => return -1,
            Ending::Terminated(kill) => kill,
            Ending::Killing(walk, _) => walk,
        };
        let left = next.saturating_duration_since(Instant::now());
        // Rounded up, so that the time has come when the wait ends.
        left.as_micros().div_ceil(1000).try_into().unwrap_or(i32::MAX)
    }

    /// Reads what the host says, or that it has gone.
    fn hear_host(&mut self) {
        let Some(server) = &self.server else { return };
        let mut buffer = [0; 16 << 10];
        let count = sys::receive(server.as_fd(), &mut buffer);
        let heard = &buffer[..count];
        if heard.is_empty() {
            self.host_is_gone();
        } else if let Stage::Ordered { bytes, .. } = &mut self.stage {
            bytes.extend_from_slice(heard);
            self.start();
        } else {
            self.obey(heard);
        }
    }

    fn obey(&mut self, commands: &[u8]) {
        for command in commands {
            match *command {
                TERMINATE => tree::terminate_all(|| commands.contains(&KILL) || self.is_called()),
                KILL => self.kill(),
                // There are no others.
                _ => {}
            }
        }
    }

    /// Whether the host has said more, or is gone.
    fn is_called(&self) -> bool {
        let (server, host) = (self.server.as_ref(), self.host.as_ref());
        sys::wait([server.map(AsFd::as_fd), host.map(AsFd::as_fd)], 0).contains(&true)
    }

    /// Starts the leader if the order is whole.
    fn start(&mut self) {
        let Stage::Ordered { bytes, .. } = &self.stage else { return };
        let (order, after) = match Order::from_bytes(bytes) {
            Received::Part => return,
            Received::Whole(order, after) => (order, after),
            Received::Nonsense => {
                self.stage = Stage::Nothing;
                return;
            }
        };
        let Stage::Ordered { streams, .. } = std::mem::replace(&mut self.stage, Stage::Nothing)
        else {
            return;
        };
        match leader::start(&order, streams) {
            Ok(leader) => self.stage = Stage::Starting(leader),
            Err((step, errno)) => self.tell(|host| message::failed(host, step, errno)),
        }
        self.obey(&after);
    }

    /// The report's pipe was closed by the exec, or holds the step and the error number of a
    /// failure.
    fn hear_of_start(&mut self) {
        let Stage::Starting(leader) = &self.stage else { return };
        let mut words = [0; 8];
        let pid = leader.pid;
        if sys::receive(leader.report.as_fd(), &mut words) < words.len() {
            self.tell(|host| message::started(host, pid));
            self.stage = Stage::Running(Some(pid));
        } else {
            let [step, errno] = [0, 4].map(|at| {
                let word = words[at..at + 4].first_chunk().copied();
                i32::from_le_bytes(word.unwrap_or_default())
            });
            self.tell(|host| message::failed(host, step, errno));
            self.stage = Stage::Nothing;
        }
    }

    /// Reaps what has ended; `true` when there is nothing left below this process, and nothing to
    /// come.
    fn reap_all(&mut self) -> bool {
        loop {
            match sys::reap() {
                Reaped::One(pid, status) => self.note_end(pid, status),
                Reaped::NoneEnded => return false,
                Reaped::NoneLeft => return !self.is_to_come(),
            }
        }
    }

    fn is_to_come(&self) -> bool {
        match self.stage {
            Stage::Ordered { .. } => self.alone_since.is_none(),
            Stage::Starting(_) => true,
            Stage::Running(_) | Stage::Nothing => false,
        }
    }

    fn note_end(&mut self, pid: i32, status: i32) {
        // Its exec closed the report long before its end, which must not be told first.
        self.hear_of_start_of(pid);
        if let Stage::Running(leader) = &mut self.stage
            && *leader == Some(pid)
        {
            *leader = None;
            let exit = match status & 0x7f {
                0 => Exit::Status((status >> 8) & 0xff),
                signal => Exit::Signal(signal),
            };
            self.tell(|host| message::exited(host, exit));
        }
    }

    fn hear_of_start_of(&mut self, pid: i32) {
        if matches!(&self.stage, Stage::Starting(leader) if leader.pid == pid) {
            self.hear_of_start();
        }
    }

    fn host_is_gone(&mut self) {
        self.server = None;
        self.host = None;
        if self.alone_since.is_none() {
            self.alone_since = Some(Instant::now());
            if let Ending::NotYet = self.ending {
                tree::terminate_all(|| false);
                self.ending = Ending::Terminated(Instant::now() + HOST_GONE_GRACE);
            }
        }
    }

    fn kill(&mut self) {
        if !matches!(self.ending, Ending::Killing(..)) {
            self.ending = Ending::Killing(Instant::now(), WALK_FIRST);
        }
    }

    /// Does what is due of the ending; its patience is over when the kernel does not end what was
    /// killed.
    fn go_on_ending(&mut self) -> Patience {
        let now = Instant::now();
        match self.ending {
            Ending::NotYet => {}
            Ending::Terminated(kill) if kill > now => {}
            Ending::Terminated(_) => self.kill(),
            Ending::Killing(walk, _) if walk > now => {}
            Ending::Killing(_, pause) => {
                tree::kill_all(&[]);
                self.ending = Ending::Killing(now + pause, (pause * 2).min(WALK_LAST));
            }
        }
        match self.alone_since {
            Some(since) if now.duration_since(since) > HOST_GONE_MAX => Patience::Over,
            _ => Patience::Left,
        }
    }

    fn finish(&self) -> i32 {
        if let Stage::Running(_) = self.stage {
            self.tell(message::ended);
        }
        0
    }

    fn tell(&self, tell: impl FnOnce(std::os::fd::BorrowedFd<'_>)) {
        if let Some(server) = &self.server {
            tell(server.as_fd());
        }
    }
}
