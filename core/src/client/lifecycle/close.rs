//! The end of a connection: calls first, then whatever carried them (SPEC 9.8).

use std::sync::{Arc, PoisonError};

use trunkline_pool::state::CloseExit;

use crate::Outcome;
use crate::client::calls::requests::complete;
use crate::client::connection::{Life, Link};
use crate::client::errors;
use crate::client::types::{ConnectOptions, Kill};
use crate::transport::Graces;

impl Link {
    /// Ends it on request, and waits until nothing is left. A dropped future leaves the ending to
    /// the runtime.
    pub(in crate::client) async fn close(self: &Arc<Self>, kill: Kill) -> CloseExit {
        self.advance(Life::Closing, |_| true);
        if kill == Kill::Now {
            self.ending.kill.send_replace(true);
        }
        let mut ended = self.ending.ended.subscribe();
        self.cut();
        self.begin_end();
        match ended.wait_for(Option::is_some).await {
            Ok(exit) => exit.unwrap_or(CloseExit::Forced),
            // The sender lives as long as `self`.
            Err(_) => CloseExit::Forced,
        }
    }

    /// Answers every request in flight, at once, and takes no more. Doing it twice does nothing.
    pub(in crate::client) fn cut(&self) {
        let flights = self.calls.end();
        let unsent = self.wire.stop();
        for (id, flight) in flights {
            let outcome = match unsent.contains(&id) && !flight.was_sent() {
                true => Outcome::NotSent,
                false => Outcome::Unknown,
            };
            complete(flight.payload.done, Err(errors::interrupted(&self.server, outcome)));
        }
        self.asked.end();
        self.handshake.end();
    }

    /// Starts the ordered end of the wire, once, as a task of the runtime.
    pub(in crate::client) fn begin_end(self: &Arc<Self>) {
        let mut begun = self.ending.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *begun, true) {
            return;
        }
        let link = self.clone();
        self.runtime.spawn(async move {
            let ConnectOptions { exit_grace, kill_grace, .. } = link.options;
            let graces = Graces { exit: exit_grace, kill: kill_grace };
            let exit = link.wire.clone().end(graces, link.ending.kill.subscribe()).await;
            link.ending.ended.send_replace(Some(exit));
        });
    }
}
