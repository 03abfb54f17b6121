//! Another origin, where nothing of ours may arrive.

use std::net::TcpListener;

/// Listens, and answers nothing.
pub struct Trap(TcpListener);

impl Trap {
    pub fn new() -> Trap {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Trap(listener)
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.0.local_addr().unwrap())
    }

    /// Whether nobody came.
    pub fn is_untouched(&self) -> bool {
        self.0.accept().is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    }
}
