//! Sockets between the host and its supervisor, and descriptors sent over them.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

/// Two ends of a socket of this type, closed on exec.
pub(super) fn socket_pair(kind: libc::c_int) -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    let kind = kind | libc::SOCK_CLOEXEC;
    // SAFETY: the array has room for both.
    if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both were just opened, and nobody else owns them.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Sends without waiting, and without SIGPIPE.
///
/// # Errors
/// `WouldBlock` when it is full, `BrokenPipe` when the other end is closed.
pub(super) fn send(to: RawFd, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the buffer is valid for its length.
    count(unsafe { libc::send(to, bytes.as_ptr().cast(), bytes.len(), flags) })
}

/// Takes what is there, without waiting; 0 at the end.
pub(super) fn receive(from: RawFd, bytes: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is valid for its length.
    count(unsafe { libc::recv(from, bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT) })
}

/// Ends what this side of a connection has to say, for every copy of the descriptor.
pub(super) fn end(socket: RawFd) {
    // SAFETY: the descriptor is open.
    unsafe { libc::shutdown(socket, libc::SHUT_WR) };
}

/// Sends one byte with descriptors, all or nothing, without waiting.
///
/// # Errors
/// `WouldBlock` when there is no room for it at present.
pub(super) fn send_descriptors<const N: usize>(
    to: &OwnedFd,
    descriptors: &[OwnedFd; N],
) -> io::Result<()> {
    const CONTROL_BYTES: usize = 64;
    #[repr(C, align(8))]
    struct Control([u8; CONTROL_BYTES]);
    let numbers: [RawFd; N] = std::array::from_fn(|at| descriptors[at].as_raw_fd());
    let size = libc::c_uint::try_from(size_of_val(&numbers)).unwrap_or(libc::c_uint::MAX);
    let mut control = Control([0; CONTROL_BYTES]);
    let mut part = libc::iovec { iov_base: b"L".as_ptr().cast_mut().cast(), iov_len: 1 };
    let mut header = MaybeUninit::<libc::msghdr>::zeroed();
    // SAFETY: all zeros is a valid header; every pointer put into it outlives the call. The control
    // buffer is aligned and has room for one message of `size` bytes, as the assertion says.
    let sent = unsafe {
        assert!(libc::CMSG_SPACE(size) as usize <= CONTROL_BYTES, "few descriptors fit");
        let header = header.assume_init_mut();
        header.msg_iov = &mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = libc::CMSG_SPACE(size) as _;
        let first = libc::CMSG_FIRSTHDR(header);
        (*first).cmsg_level = libc::SOL_SOCKET;
        (*first).cmsg_type = libc::SCM_RIGHTS;
        (*first).cmsg_len = libc::CMSG_LEN(size) as _;
        ptr::copy_nonoverlapping(numbers.as_ptr(), libc::CMSG_DATA(first).cast(), N);
        libc::sendmsg(to.as_raw_fd(), header, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
    };
    match count(sent) {
        Ok(_) => Ok(()),
        // Too many descriptors are under way.
        Err(error) if error.raw_os_error() == Some(libc::ETOOMANYREFS) => {
            Err(io::ErrorKind::WouldBlock.into())
        }
        Err(error) => Err(error),
    }
}

fn count(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}
