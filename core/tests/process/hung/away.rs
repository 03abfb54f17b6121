//! A file system that is away: what is asked of folders that are named here gets no answer until
//! they are back.
//!
//! The kernel hands the calls that look at paths to this process before it carries them out, which
//! is how sandboxes intercept them. So the calls block as they do on a share whose server is gone,
//! and nothing in the library knows of it.

use std::collections::BTreeSet;
use std::ffi::{CStr, OsStr, c_int, c_ulong, c_void};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex};

/// Folders that are away.
static AWAY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What is asked for by each call that waits for one of them.
static WAITING: (Mutex<Vec<PathBuf>>, Condvar) = (Mutex::new(Vec::new()), Condvar::new());

/// Paths below a folder that somebody asked for, while somebody counts them.
static ASKED: Mutex<Option<(PathBuf, BTreeSet<PathBuf>)>> = Mutex::new(None);

/// What is asked for below a folder while `work` is done; for one test at a time.
pub fn asked_below(folder: &Path, work: impl FnOnce()) -> BTreeSet<PathBuf> {
    *ASKED.lock().unwrap() = Some((folder.canonicalize().unwrap(), BTreeSet::new()));
    work();
    ASKED.lock().unwrap().take().unwrap().1
}

/// A folder that is away until this is dropped.
pub struct Away(PathBuf);

impl Away {
    /// Takes a folder away, for every thread that is [intercepted](intercept).
    pub fn new(folder: &Path) -> Away {
        let folder = folder.canonicalize().unwrap();
        AWAY.lock().unwrap().push(folder.clone());
        Away(folder)
    }

    /// Takes a folder away for children of this process that are to work in it, and for nobody
    /// else.
    pub fn to_enter(folder: &Path) -> Away {
        let folder = entered(&folder.canonicalize().unwrap());
        AWAY.lock().unwrap().push(folder.clone());
        Away(folder)
    }

    /// Waits until somebody waits for it.
    pub fn until_asked(&self) {
        let (waiting, bell) = &WAITING;
        let waiting = waiting.lock().unwrap();
        let is_unasked =
            |waiting: &mut Vec<PathBuf>| !waiting.iter().any(|path| path.starts_with(&self.0));
        let over = bell.wait_timeout_while(waiting, rig::HANG, is_unasked);
        assert!(!over.unwrap().1.timed_out(), "nobody asks for {:?}", self.0);
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        AWAY.lock().unwrap().retain(|folder| *folder != self.0);
        WAITING.1.notify_all();
    }
}

/// Has the kernel ask before each call that names a path, of this thread and of those that it
/// starts. The thread that answers is not one of them.
pub fn intercept() {
    let (hand_over, handed_over) = sync_channel(1);
    std::thread::spawn(move || answer_all(handed_over.recv().unwrap()));
    let paths = [
        libc::SYS_openat,
        libc::SYS_statx,
        libc::SYS_newfstatat,
        libc::SYS_readlinkat,
        libc::SYS_chdir,
    ];
    #[cfg(target_arch = "x86_64")]
    let paths =
        [&paths[..], &[libc::SYS_open, libc::SYS_stat, libc::SYS_lstat, libc::SYS_readlink]]
            .concat();
    let step = |code: u32, jt: usize, jf: u8, k: u32| libc::sock_filter {
        code: u16::try_from(code).unwrap(),
        jt: u8::try_from(jt).unwrap(),
        jf,
        k,
    };
    // The number of the call is the first word of what a filter is given.
    let mut program = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    let equals = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    for (place, call) in paths.iter().enumerate() {
        program.push(step(equals, paths.len() - place, 0, u32::try_from(*call).unwrap()));
    }
    let ends = libc::BPF_RET | libc::BPF_K;
    program.push(step(ends, 0, 0, libc::SECCOMP_RET_ALLOW));
    program.push(step(ends, 0, 0, libc::SECCOMP_RET_USER_NOTIF));
    let filter = libc::sock_fprog {
        len: u16::try_from(program.len()).unwrap(),
        filter: program.as_mut_ptr(),
    };
    // SAFETY: `prctl` takes no pointer here.
    let privileges = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(privileges, 0);
    let (mode, flags) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
    // SAFETY: the program outlives the call, which copies it.
    let listener = unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const filter) };
    assert!(listener >= 0, "{}", std::io::Error::last_os_error());
    hand_over.send(c_int::try_from(listener).unwrap()).unwrap();
}

fn answer_all(listener: c_int) {
    loop {
        let Some((id, path)) = asked(listener) else { continue };
        if let Some((folder, asked)) = &mut *ASKED.lock().unwrap()
            && path.starts_with(&*folder)
            && path != *folder
        {
            asked.insert(path.clone());
        }
        match is_away(&path) {
            false => go_on(listener, id),
            true => drop(std::thread::spawn(move || wait(listener, id, &path))),
        }
    }
}

/// The next call, and the path that it names.
fn asked(listener: c_int) -> Option<(u64, PathBuf)> {
    // SAFETY: all zeros is a value of it, and what the kernel wants it to be.
    let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes a whole `seccomp_notif` there.
    let taken = unsafe { libc::ioctl(listener, RECEIVE, (&raw mut asked).cast::<c_void>()) };
    if taken != 0 {
        return None;
    }
    let call = asked.data;
    let is_at = [libc::SYS_openat, libc::SYS_statx, libc::SYS_newfstatat, libc::SYS_readlinkat]
        .contains(&i64::from(call.nr));
    let address = call.args[usize::from(is_at)];
    let path = match i64::from(call.nr) {
        libc::SYS_chdir => child_path_at(asked.pid, address).as_deref().map(entered),
        _ => path_at(asked.pid, address),
    };
    Some((asked.id, path.unwrap_or_default()))
}

/// What stands for a folder that a child enters.
fn entered(folder: &Path) -> PathBuf {
    Path::new("/entered").join(folder.strip_prefix("/").unwrap_or(folder))
}

/// The path at an address of a child.
fn child_path_at(child: u32, address: u64) -> Option<PathBuf> {
    let mut text = vec![0; 4096];
    let memory = File::open(format!("/proc/{child}/mem")).ok()?;
    let count = memory.read_at(&mut text, address).ok()?;
    let text = CStr::from_bytes_until_nul(&text[..count]).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(text.to_bytes())))
}

/// The path at an address of that thread; nothing of another process, whose calls all go on.
fn path_at(thread: u32, address: u64) -> Option<PathBuf> {
    // SAFETY: it takes no pointer. A signal of 0 sends nothing.
    let is_ours = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, 0) } == 0;
    if !is_ours || address == 0 {
        return None;
    }
    // SAFETY: a thread of this process gave the address of a text to a call that it is still in.
    let text = unsafe { CStr::from_ptr(address as *const std::ffi::c_char) };
    Some(PathBuf::from(OsStr::from_bytes(text.to_bytes())))
}

fn is_away(path: &Path) -> bool {
    AWAY.lock().unwrap().iter().any(|folder| path.starts_with(folder))
}

/// Leaves a call without an answer until its folder is back.
fn wait(listener: c_int, id: u64, path: &Path) {
    let (waiting, bell) = &WAITING;
    let mut paths = waiting.lock().unwrap();
    paths.push(path.to_owned());
    bell.notify_all();
    while is_away(path) {
        paths = bell.wait(paths).unwrap();
    }
    let place = paths.iter().position(|one| one == path);
    paths.swap_remove(place.expect("it waited"));
    drop(paths);
    go_on(listener, id);
}

/// The call is carried out.
fn go_on(listener: c_int, id: u64) {
    let flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).unwrap();
    let mut answer = libc::seccomp_notif_resp { id, val: 0, error: 0, flags };
    // SAFETY: the kernel reads a whole `seccomp_notif_resp` there. Of a call that is over it wants
    // no answer.
    let _ = unsafe { libc::ioctl(listener, SEND, (&raw mut answer).cast::<c_void>()) };
}

/// `SECCOMP_IOCTL_NOTIF_RECV`.
const RECEIVE: c_ulong = 0xc050_2100;

/// `SECCOMP_IOCTL_NOTIF_SEND`.
const SEND: c_ulong = 0xc018_2101;
