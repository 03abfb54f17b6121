//! What servers say of themselves, as leases and sessions can be asked (SPEC 16.8).

use super::lease::Lease;
use super::session::Session;
use crate::Result;
use crate::client::Introduction;

impl Lease {
    /// What the server said of itself when it was connected to last: its `instructions`,
    /// `server_info`, `capabilities` and `protocol_version`. Nothing before it was connected to.
    pub fn introduction(&self) -> Option<Introduction> {
        self.cell().introduction()
    }
}

impl Session {
    /// The same of a server that the session holds, by its name; nothing of one that it wants and
    /// that was not connected to yet.
    ///
    /// # Errors
    /// `not_admitted` for a server that nobody has configured, `closed`, `forked`.
    pub fn introduction(&self, server: &str) -> Result<Option<Introduction>> {
        let core = self.core();
        core.check()?;
        match core.holds.cell_of(server) {
            Some(cell) => Ok(cell.introduction()),
            None => core.either_spec(server).map(|_| None),
        }
    }
}
