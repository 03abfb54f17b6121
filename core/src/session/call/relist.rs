//! A call that a server of the modern era refuses for its headers: what goes into them is in the
//! definitions of its tools, and those may be others by now. The lists are read again, and the call
//! is sent once more (PROTOCOL 1.2).
//!
//! The server did nothing yet, so that this repeats nothing, whatever the call's options say of
//! repetitions. A call that had a round before is not sent once more: its error says that it may
//! have had an effect.
//!
//! The connection does not list by itself: it knows neither views nor the tools that are held back.

use std::sync::Arc;

use trunkline_pool::state::Generation;

use super::retry::LastingCall;
use crate::client::Connection;
use crate::{Error, Result};

impl LastingCall {
    /// Has the lists read again, in a task of its own, and sends the call once more; or ends it
    /// with its refusal.
    pub(crate) fn relist(self: &Arc<Self>, generation: Generation, refused: Error) {
        let this = self.clone();
        let deadline = self.attempts.later(self.call.timeout);
        self.go_on(async move {
            let listed = this.listed_anew(generation);
            match tokio::time::timeout_at(deadline.into(), listed).await {
                Ok(Some(Ok(connection))) => this.attempt(&connection, generation),
                Ok(Some(Err(error))) => this.finish(Err(error)),
                Ok(None) | Err(_) => this.finish(Err(refused)),
            }
        });
    }

    /// The same connection after a listing, as long as the session sees the tool; nothing when it
    /// is gone.
    async fn listed_anew(&self, generation: Generation) -> Option<Result<Connection>> {
        let cell = self.cell();
        // A tool of lists that could not be had is looked for in what there is.
        let _ = self.session().driver.list_anew(cell, generation).await;
        let published = cell.load_full();
        let connection = published.connection.clone();
        let connection = connection.filter(|_| published.slot.generation == generation)?;
        Some(self.call.check_listed(&published).map(|()| connection))
    }
}
