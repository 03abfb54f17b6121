//! The supervisor: a small process that starts the servers of one host, and lets nothing of them
//! outlive it (SPEC 9.8).
//!
//! A plain program without dependencies, compiled by the build script of the library and carried
//! inside of it. The host starts it with two descriptors: 0, the control socket, and 3, a
//! descriptor of the host's own process.
//!
//! ```text
//! host ── control ──> supervisor ── fork ──> keeper of server 1 ── fork, exec ──> leader ──> …
//!   └── one socket per server ─────────────────┘  └──> keeper of server 2 ──> …
//! ```
//!
//! Every server has a *keeper*, a fork of the supervisor. Each keeper is a subreaper: whatever a
//! server starts has its keeper as an ancestor, no matter who dies between them. So the kernel
//! itself remembers what belongs to which server, and a keeper without children is the proof that
//! nothing is left. The supervisor is a subreaper too, and ends what a killed keeper leaves. No
//! process here has a second thread, so that parent-death signals are safe.
//!
//! That is Linux. On macOS the host starts its servers itself, and this program watches both: see
//! `macos`.
#![allow(missing_docs)]

#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod leader;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "linux")]
mod message;
#[cfg(target_os = "linux")]
#[path = "../src/base/bounded_stream.rs"]
mod stream;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod top;
#[cfg(target_os = "macos")]
mod tracked;
#[cfg(target_os = "linux")]
mod tree;

#[cfg(target_os = "linux")]
fn main() {
    std::process::exit(top::supervise());
}

#[cfg(target_os = "macos")]
fn main() {
    std::process::exit(macos::supervise());
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn main() {}
