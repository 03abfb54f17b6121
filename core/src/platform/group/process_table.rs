//! The table of processes, as far as it is needed: from `/proc`, or from the kernel's own calls on
//! macOS.

#[cfg(not(target_os = "macos"))]
pub(super) use self::proc::{children, pids, stat};

#[cfg(target_os = "macos")]
pub(super) use self::calls::{children, pids, stat};

/// What is known of one process.
pub(super) struct Stat {
    pub dead: bool,
    /// It is about to be: its descriptors may be closed already.
    pub exiting: bool,
    pub parent: libc::pid_t,
    pub group: libc::pid_t,
    pub session: libc::pid_t,
    /// In clock ticks since the machine started, or in microseconds since 1970.
    pub started: u64,
}

/// Whether a process that was there has ended, or is about to. `false` where that cannot be seen.
pub(in crate::platform) fn is_ending(pid: libc::pid_t) -> bool {
    match stat(pid) {
        Some(stat) => stat.dead || stat.exiting,
        None => stat(std::process::id().cast_signed()).is_some(),
    }
}

#[cfg(not(target_os = "macos"))]
mod proc {
    use std::fs;

    use super::Stat;
    use crate::base::bounded_reader;

    /// More than one line of numbers.
    const STAT_BYTES_MAX: usize = 1 << 16;

    /// The kernel's flag of a process that is on its way out, which it has before its descriptors
    /// are closed.
    const PF_EXITING: u32 = 4;

    /// The numbers of more processes than a machine has.
    const CHILDREN_BYTES_MAX: usize = 64 << 20;

    /// What `/proc/<pid>/stat` says.
    pub(in super::super) fn stat(pid: libc::pid_t) -> Option<Stat> {
        let text =
            bounded_reader::file(format!("/proc/{pid}/stat").as_ref(), STAT_BYTES_MAX).ok()?;
        // The program's name stands in parentheses and may hold anything.
        let end = text.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let dead = matches!(fields.next()?, "Z" | "X" | "x");
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        let exiting = fields.nth(2)?.parse::<u32>().ok()? & PF_EXITING != 0;
        let started = fields.nth(12)?.parse().ok()?;
        Some(Stat { dead, exiting, parent, group, session, started })
    }

    /// The children of every thread of a process.
    pub(in super::super) fn children(pid: libc::pid_t) -> Vec<libc::pid_t> {
        let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
            return Vec::new();
        };
        let lists = threads.flatten().filter_map(|thread| {
            bounded_reader::text(&thread.path().join("children"), CHILDREN_BYTES_MAX).ok()
        });
        lists
            .flat_map(|list| {
                list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Every process there is.
    pub(in super::super) fn pids() -> Vec<libc::pid_t> {
        let Ok(table) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        table.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }
}

#[cfg(target_os = "macos")]
mod calls {
    use std::mem::MaybeUninit;
    use std::ptr;

    use super::Stat;

    /// The kernel's flag of a process that is on its way out.
    const PROC_FLAG_INEXIT: u32 = 4;

    /// Room for processes that start between two calls.
    const SPARE_PIDS: usize = 64;

    /// What the kernel says of a process; `None` when there is none, or it is not ours to look at.
    pub(in super::super) fn stat(pid: libc::pid_t) -> Option<Stat> {
        let mut answer = MaybeUninit::<libc::proc_bsdinfo>::zeroed();
        let bytes = libc::c_int::try_from(size_of_val(&answer)).ok()?;
        // SAFETY: the structure is as large as is said; all zeros is a valid one. `getsid` only
        // asks.
        let (written, answer, session) = unsafe {
            let kind = libc::PROC_PIDTBSDINFO;
            let written = libc::proc_pidinfo(pid, kind, 0, answer.as_mut_ptr().cast(), bytes);
            (written, answer.assume_init(), libc::getsid(pid))
        };
        (written == bytes).then(|| Stat {
            dead: answer.pbi_status == libc::SZOMB,
            exiting: answer.pbi_flags & PROC_FLAG_INEXIT != 0,
            parent: answer.pbi_ppid.cast_signed(),
            group: answer.pbi_pgid.cast_signed(),
            session,
            started: answer.pbi_start_tvsec * 1_000_000 + answer.pbi_start_tvusec,
        })
    }

    /// The children of a process.
    pub(in super::super) fn children(pid: libc::pid_t) -> Vec<libc::pid_t> {
        // SAFETY: the list is valid for the size that is given with it.
        listed(|list, bytes| unsafe { libc::proc_listchildpids(pid, list, bytes) })
    }

    /// Every process there is.
    pub(in super::super) fn pids() -> Vec<libc::pid_t> {
        // SAFETY: as above.
        listed(|list, bytes| unsafe { libc::proc_listallpids(list, bytes) })
    }

    /// Asks how many there are, then for the list. Both calls answer with a number of pids.
    fn listed(call: impl Fn(*mut libc::c_void, libc::c_int) -> libc::c_int) -> Vec<libc::pid_t> {
        let count = usize::try_from(call(ptr::null_mut(), 0)).unwrap_or(0);
        let mut pids = vec![0; count + SPARE_PIDS];
        let bytes = libc::c_int::try_from(size_of_val(&*pids)).unwrap_or(libc::c_int::MAX);
        let count = call(pids.as_mut_ptr().cast(), bytes);
        pids.truncate(usize::try_from(count).unwrap_or(0));
        pids.retain(|pid| *pid > 0);
        pids
    }
}
