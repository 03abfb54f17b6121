//! The supervisor itself: makes a keeper for each server, and ends what a keeper leaves that did
//! not end by itself.
//!
//! The host forks it twice, by `clone` without an exit signal. So a host that waits for any child
//! notices nothing.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use crate::keeper::{self, Inheritance, WALK_FIRST, WALK_LAST};
use crate::message::{self, Exit};
use crate::sys::{self, Parcel, Reaped};
use crate::tree;

/// The control socket, and the descriptor of the host's process.
const CONTROL: i32 = 0;
const HOST: i32 = 3;

/// How long the trees of killed keepers are killed once the host is gone.
const HOST_GONE_MAX: Duration = Duration::from_secs(10);

struct Supervisor {
    /// `None` once the host is gone, or wants no more of this supervisor.
    control: Option<OwnedFd>,
    host: Option<OwnedFd>,
    /// `None` in a keeper, which makes one of its own.
    signals: Option<OwnedFd>,
    keepers: Vec<Kept>,
    /// The servers whose keepers did not end by themselves.
    lost: Vec<OwnedFd>,
    /// The next walk that ends what these left, and the pause after it.
    walk: (Instant, Duration),
    alone_since: Option<Instant>,
}

struct Kept {
    keeper: i32,
    /// A second hold on the server's socket, so that its end can be told when its keeper cannot.
    server: OwnedFd,
}

/// Serves until the host is gone and nothing is left; gives the exit status.
pub fn supervise() -> i32 {
    sys::block_signals();
    sys::set_name(c"trunkline-super");
    // SAFETY: the host arranged these two, and nothing here has taken them.
    let (control, host) = unsafe { (sys::inherited(CONTROL), sys::inherited(HOST)) };
    let Some(control) = control else { return 2 };
    let able = tree::is_visible() && sys::become_subreaper();
    let signals = sys::signal_descriptor(&[sys::SIGCHLD]).filter(|_| able);
    let Some(signals) = signals else {
        message::tell(control.as_fd(), [1, 0, sys::errno()]);
        return 1;
    };
    message::tell(control.as_fd(), [0, std::process::id() as i32, 0]);
    let mut supervisor = Supervisor {
        control: Some(control),
        host,
        signals: Some(signals),
        keepers: Vec::new(),
        lost: Vec::new(),
        walk: (Instant::now(), WALK_FIRST),
        alone_since: None,
    };
    loop {
        let sources = [&supervisor.control, &supervisor.host, &supervisor.signals];
        let sources = sources.map(|source| source.as_ref().map(AsFd::as_fd));
        let [asked, host_ended, signalled] = sys::wait(sources, supervisor.timeout_ms());
        if asked && let Some(status) = supervisor.hear_host() {
            return status;
        }
        if host_ended {
            supervisor.host_is_gone();
        }
        if signalled {
            supervisor.reap_all();
        }
        supervisor.end_strangers();
        if supervisor.is_done() {
            return 0;
        }
    }
}

impl Supervisor {
    fn timeout_ms(&self) -> i32 {
        if self.lost.is_empty() {
            return -1;
        }
        let left = self.walk.0.saturating_duration_since(Instant::now());
        left.as_micros().div_ceil(1000).try_into().unwrap_or(i32::MAX)
    }

    /// Takes one message. In the keeper that it makes for it, gives that one's exit status.
    fn hear_host(&mut self) -> Option<i32> {
        let control = self.control.as_ref()?;
        match sys::receive_parcel(control.as_fd()) {
            Parcel::Server([server, stdin, stdout, stderr]) => {
                self.make_keeper(server, [stdin, stdout, stderr])
            }
            Parcel::Other => None,
            Parcel::End => {
                self.host_is_gone();
                None
            }
        }
    }

    fn make_keeper(&mut self, server: OwnedFd, streams: [OwnedFd; 3]) -> Option<i32> {
        let supervisor = std::process::id() as i32;
        // SAFETY: this process has one thread.
        match unsafe { sys::fork() } {
            0 => {
                self.leave_to_supervisor();
                let host = self.host.take();
                Some(keeper::keep(Inheritance { supervisor, server, streams, host }))
            }
            keeper if keeper > 0 => {
                self.keepers.push(Kept { keeper, server });
                None
            }
            _ => {
                message::failed(server.as_fd(), 3, sys::errno());
                None
            }
        }
    }

    /// In a new keeper: closes what is the supervisor's, so that the end of each socket means what
    /// it should.
    fn leave_to_supervisor(&mut self) {
        self.signals = None;
        self.keepers.clear();
        self.lost.clear();
        if let Some(control) = self.control.take() {
            // SAFETY: both are open: 1 leads nowhere, and takes the place of the control socket,
            // which is not to be closed a second time.
            unsafe { sys::dup2(1, control.as_raw_fd()) };
            std::mem::forget(control);
        }
    }

    fn reap_all(&mut self) {
        if let Some(signals) = &self.signals {
            sys::receive(signals.as_fd(), &mut [0; 512]);
        }
        while let Reaped::One(pid, status) = sys::reap() {
            let Some(at) = self.keepers.iter().position(|kept| kept.keeper == pid) else {
                continue;
            };
            let Kept { server, .. } = self.keepers.swap_remove(at);
            if status != 0 {
                message::exited(server.as_fd(), Exit::KeeperLost);
                self.lost.push(server);
                self.walk = (Instant::now(), WALK_FIRST);
            }
        }
    }

    /// Kills what killed keepers left: every child that is no keeper.
    fn end_strangers(&mut self) {
        if self.lost.is_empty() || self.walk.0 > Instant::now() {
            return;
        }
        let keepers: Vec<_> = self.keepers.iter().map(|kept| kept.keeper).collect();
        if tree::has_others(&keepers) {
            tree::kill_all(&keepers);
            let pause = self.walk.1;
            self.walk = (Instant::now() + pause, (pause * 2).min(WALK_LAST));
        } else {
            for server in self.lost.drain(..) {
                message::ended(server.as_fd());
            }
        }
    }

    fn host_is_gone(&mut self) {
        self.control = None;
        self.host = None;
        self.alone_since.get_or_insert_with(Instant::now);
    }

    /// Whether there is nothing more to do. The keepers see for themselves that the host is gone.
    fn is_done(&self) -> bool {
        let patience_over = self.alone_since.is_some_and(|it| it.elapsed() > HOST_GONE_MAX);
        self.control.is_none() && self.keepers.is_empty() && (self.lost.is_empty() || patience_over)
    }
}
