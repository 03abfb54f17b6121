//! The same server over Streamable HTTP, HTTP+SSE or a websocket: a front of plain threads before
//! the one that reads and answers lines.
//!
//! The front gives the server pipes for its standard input and output, and numbers the requests of
//! all its clients anew. The process ends with its own standard input; without one, as with
//! `/dev/null`, a signal ends it.

mod authority;
mod events;
mod exchange;
mod faults;
mod front;
mod modern;
mod place;
mod routes;
mod socket;
mod wall;

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;

use crate::flags::Flags;
use authority::Authority;
use faults::Faults;
use front::Front;
use place::Place;
pub use routes::RELATED;

/// Puts the front before the server that runs afterwards in this process. Prints the address as a
/// line.
pub fn begin(flags: &Flags) {
    let Some(Place { streams, address, origin, speech }) = Place::of(flags) else { return };
    let faults = match Faults::parse(flags.http_faults.as_deref().unwrap_or_default()) {
        Ok(faults) => faults,
        Err(message) => refuse(&message),
    };
    let authority = flags.http_auth.as_deref();
    let place = match speech {
        front::Speech::Streamable => "/mcp",
        front::Speech::Events => events::STREAM_PATH,
        front::Speech::Socket => socket::SOCKET_PATH,
    };
    let authority = authority.map(|ways| Authority::parse(ways, &origin, place));
    let authority = match authority.transpose() {
        Ok(authority) => authority,
        Err(message) => refuse(&message),
    };
    let (own_input, mut own_output) = (take_over(0, Side::Read), take_over(1, Side::Write));
    let _ = writeln!(own_output.own, "{address}");
    let _ = own_output.own.flush();
    if !is_nothing(&own_input.own) {
        let mut rest = own_input.own;
        std::thread::spawn(move || {
            while matches!(rest.read(&mut [0; 64]), Ok(1..)) {}
            std::process::exit(0);
        });
    }
    let mut front = Front::new(flags, faults, own_input.other, speech);
    front.authority = authority;
    let front: &'static Front = Box::leak(Box::new(front));
    std::thread::spawn(move || {
        for line in BufReader::new(own_output.other).lines().map_while(Result::ok) {
            front.routes.deliver(&line);
        }
    });
    std::thread::spawn(move || {
        for stream in streams {
            std::thread::spawn(move || front.serve(stream));
        }
    });
}

/// Whether it is `/dev/null` or another device that nobody types at, whose end says nothing.
fn is_nothing(input: &File) -> bool {
    let is_device = input.metadata().is_ok_and(|about| about.file_type().is_char_device());
    is_device && !input.is_terminal()
}

fn refuse(message: &str) -> ! {
    eprintln!("trunkline-testserver: {message}");
    std::process::exit(2);
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Read,
    Write,
}

/// What a standard stream was, and the other end of the pipe that it is now.
struct Taken {
    own: File,
    other: File,
}

/// Makes a standard stream one end of a new pipe.
fn take_over(standard: i32, side: Side) -> Taken {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors; each is owned once below, and the standard ones
    // are no one's.
    unsafe {
        let own = libc::fcntl(standard, libc::F_DUPFD_CLOEXEC, 3);
        if own < 0 || libc::pipe(ends.as_mut_ptr()) < 0 {
            refuse("no descriptors");
        }
        let (mine, other) =
            if side == Side::Read { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
        if libc::dup2(mine, standard) < 0 {
            refuse("no descriptors");
        }
        libc::close(mine);
        libc::fcntl(other, libc::F_SETFD, libc::FD_CLOEXEC);
        Taken {
            own: File::from(OwnedFd::from_raw_fd(own)),
            other: File::from(OwnedFd::from_raw_fd(other)),
        }
    }
}
