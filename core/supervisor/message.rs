//! What a keeper and the host say to each other over a server's socket.
//!
//! From the host: a length of four bytes, that many bytes of an [`Order`], and from then on single
//! bytes: [`TERMINATE`] and [`KILL`]. To the host: messages of three 32-bit numbers, whose first is
//! one of the constants below. All numbers are little endian. The host's half of this is in
//! `platform/supervised/messages.rs`.

use std::ffi::{CStr, CString, c_char};
use std::os::fd::BorrowedFd;
use std::ptr;

use crate::sys;

/// Ask the whole tree to end.
pub const TERMINATE: u8 = b'T';
/// End the whole tree.
pub const KILL: u8 = b'K';

/// The leader runs: its pid.
const STARTED: i32 = 1;
/// It could not be started: the step, the error number.
const FAILED: i32 = 2;
/// The leader ended: an [`ExitKind`], its value.
const EXITED: i32 = 3;
/// Nothing of the tree is left.
const ENDED: i32 = 4;

/// No order is longer: the system's own bound on arguments and environment is below it.
const ORDER_BYTES_MAX: usize = 16 << 20;

/// How a leader ended.
#[derive(Clone, Copy)]
pub enum Exit {
    Status(i32),
    Signal(i32),
    /// Its keeper was killed, and it went with it.
    KeeperLost,
}

pub fn started(host: BorrowedFd<'_>, pid: i32) {
    tell(host, [STARTED, pid, 0]);
}

pub fn failed(host: BorrowedFd<'_>, step: i32, errno: i32) {
    tell(host, [FAILED, step, errno]);
}

pub fn exited(host: BorrowedFd<'_>, exit: Exit) {
    let (kind, value) = match exit {
        Exit::Status(status) => (0, status),
        Exit::Signal(signal) => (1, signal),
        Exit::KeeperLost => (2, 0),
    };
    tell(host, [EXITED, kind, value]);
}

pub fn ended(host: BorrowedFd<'_>) {
    tell(host, [ENDED, 0, 0]);
}

/// A host that is gone hears nothing, and need not.
pub fn tell(host: BorrowedFd<'_>, words: [i32; 3]) {
    let mut bytes = [0; 12];
    for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    sys::send(host, &bytes);
}

/// What to start.
pub struct Order {
    /// Program, working directory, arguments, environment.
    texts: Vec<CString>,
    args: usize,
    /// Files that were looked at, the program first, and what each has to be.
    looked_at: Vec<(CString, Stamp)>,
    /// Whether the program is executed by its descriptor.
    is_binary: bool,
}

/// Device, inode, size, then seconds and nanoseconds of the last write and of the last change.
pub type Stamp = [u64; 7];

/// How much of an order has arrived.
pub enum Received {
    Part,
    /// With the bytes that followed it.
    Whole(Order, Vec<u8>),
    Nonsense,
}

impl Order {
    /// Reads an order from the bytes received so far.
    pub fn from_bytes(bytes: &[u8]) -> Received {
        let Some((length, rest)) = number(bytes) else {
            return Received::Part;
        };
        if length > ORDER_BYTES_MAX {
            return Received::Nonsense;
        }
        let Some((body, after)) = rest.split_at_checked(length) else {
            return Received::Part;
        };
        match Order::parse(body) {
            Some(order) => Received::Whole(order, after.to_vec()),
            None => Received::Nonsense,
        }
    }

    /// The number of arguments, whether it is a binary, the number of files that were looked at,
    /// then texts that each end with a zero byte: program, folder, arguments, each file and its
    /// stamp, environment.
    fn parse(body: &[u8]) -> Option<Order> {
        let (args, rest) = number(body)?;
        let (is_binary, rest) = number(rest)?;
        let (files, texts) = number(rest)?;
        let texts = texts.strip_suffix(&[0])?.split(|byte| *byte == 0);
        let texts: Vec<_> = texts.map(CString::new).collect::<Result<_, _>>().ok()?;
        let (from, count) = (args.checked_add(2)?, files.checked_mul(2)?);
        let pairs = texts.get(from..from.checked_add(count)?)?;
        let looked_at = pairs.chunks_exact(2).map(|pair| Some((pair[0].clone(), stamp(&pair[1])?)));
        let looked_at = looked_at.collect::<Option<Vec<_>>>()?;
        let mut texts = texts;
        texts.drain(from..from + count);
        Some(Order { texts, args, looked_at, is_binary: is_binary != 0 })
    }

    pub fn program(&self) -> *const c_char {
        self.texts[0].as_ptr()
    }

    pub fn cwd(&self) -> *const c_char {
        self.texts[1].as_ptr()
    }

    pub fn looked_at(&self) -> &[(CString, Stamp)] {
        &self.looked_at
    }

    pub fn is_binary(&self) -> bool {
        self.is_binary
    }

    /// Pointers into this order, ended by a null.
    pub fn argv(&self) -> Vec<*const c_char> {
        pointers(&self.texts[2..2 + self.args])
    }

    /// Pointers into this order, ended by a null.
    pub fn envp(&self) -> Vec<*const c_char> {
        pointers(&self.texts[2 + self.args..])
    }
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
}

/// Seven numbers with a blank between them.
fn stamp(text: &CStr) -> Option<Stamp> {
    let words = text.to_str().ok()?.split(' ').map(|word| word.parse().ok());
    words.collect::<Option<Vec<u64>>>()?.try_into().ok()
}

fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number) as usize, rest))
}
