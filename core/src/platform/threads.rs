//! Threads that run the host's code.

use std::io;

/// Starts a thread for code of the host's, whose signals are blocked from its first instruction,
/// whichever thread starts it: the host's handlers run on the host's own threads. Those of faults
/// are not, for the code is the host's, and so is its fault.
#[doc(hidden)]
pub fn start_callback_thread(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let start = || std::thread::Builder::new().name(name.to_owned()).spawn(body);
    #[cfg(unix)]
    let start = || super::signals::with_faults_open(start);
    start().map(drop)
}
