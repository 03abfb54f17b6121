//! A server that is somebody else: what comes in goes to an address, and what comes from there goes
//! out.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

/// Until either end is over.
pub fn run(address: &str) {
    let there = TcpStream::connect(address).unwrap();
    let (mut from, mut to) = (there.try_clone().unwrap(), there);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
    let (mut out, mut part) = (std::io::stdout(), [0; 16 << 10]);
    while let Ok(read @ 1..) = from.read(&mut part) {
        if out.write_all(&part[..read]).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}
