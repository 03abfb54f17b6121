//! How a process ended, and hearing of it without a signal handler and without reaping.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use tokio::io::unix::AsyncFd;
use tokio::sync::watch;

use crate::platform::fork::child::exit_descriptor;
use crate::platform::{Exit, signals};

/// Starts to watch a child of ours; the answer stays `None` while it lives. It is not reaped by
/// this.
pub(super) fn watch(pid: libc::pid_t) -> io::Result<watch::Receiver<Option<Exit>>> {
    let (sender, receiver) = watch::channel(None);
    // SAFETY: an owned descriptor stays open, and the same, as long as it is owned.
    match exit_descriptor(pid).map(|descriptor| unsafe { AsyncFd::register(descriptor) }) {
        Some(Ok(descriptor)) => {
            tokio::spawn(watch_descriptor(descriptor, pid, sender));
        }
        // An old kernel, a full table of descriptors, or another system.
        Some(Err(_)) | None => watch_on_thread(pid, sender)?,
    }
    Ok(receiver)
}

async fn watch_descriptor(
    descriptor: AsyncFd<OwnedFd>,
    pid: libc::pid_t,
    sender: watch::Sender<Option<Exit>>,
) {
    // An error can only be the end of the runtime, with which this task ends anyway.
    if descriptor.readable().await.is_ok() {
        sender.send_replace(Some(peek(pid, libc::WNOHANG).unwrap_or(Exit::Unknown)));
    }
}

fn watch_on_thread(pid: libc::pid_t, sender: watch::Sender<Option<Exit>>) -> io::Result<()> {
    const STACK_BYTES: usize = 64 * 1024;
    let thread = std::thread::Builder::new().name("trunkline-exit".into()).stack_size(STACK_BYTES);
    signals::with_signals_blocked(|| {
        thread.spawn(move || {
            sender.send_replace(Some(peek(pid, 0).unwrap_or(Exit::Unknown)));
        })
    })?;
    Ok(())
}

/// The end of a child, which stays unreaped so that its pid and its group remain its own; `None`
/// while it lives.
fn peek(pid: libc::pid_t, flags: libc::c_int) -> Option<Exit> {
    let id = libc::id_t::try_from(pid).ok()?;
    let mut found = MaybeUninit::<libc::siginfo_t>::zeroed();
    loop {
        // SAFETY: `found` is zeroed and valid for the call to write.
        let result = unsafe {
            libc::waitid(libc::P_PID, id, found.as_mut_ptr(), libc::WEXITED | libc::WNOWAIT | flags)
        };
        if result == 0 {
            break;
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            // No such child any more.
            return Some(Exit::Unknown);
        }
    }
    // SAFETY: zeroed before, and written by a successful `waitid`, which fills these two fields for
    // a child's end.
    let (child, code, status) = unsafe {
        let found = found.assume_init();
        (found.si_pid(), found.si_code, found.si_status())
    };
    match (child, code) {
        (0, _) => None,
        (_, libc::CLD_EXITED) => Some(Exit::Status(status)),
        (_, _) => Some(Exit::Signal(status)),
    }
}
