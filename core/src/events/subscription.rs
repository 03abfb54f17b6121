//! A stream of events, as the host has it.

use std::sync::Arc;

use super::event::Event;
use super::hub::Hub;
use super::subscriber::Subscriber;
use crate::runtime::Runtime;

/// A stream of events. At most `limits.event_backlog` wait in it, and 16 MiB of them (1 KiB for
/// each where that is more), unless one alone is longer; what does not fit is counted in one
/// `lagged` event, which comes where the missing ones would have been.
///
/// Dropping it unsubscribes: once the drop has returned, its wake function is not running and never
/// runs again. From inside the wake function itself the drop returns without waiting.
pub struct Subscription {
    pub(crate) hub: Arc<Hub>,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) subscriber: Arc<Subscriber>,
}

impl Subscription {
    /// The snapshot that the stream continues: `{v, seq, status}` as JSON text. The events have
    /// greater `seq`.
    pub fn snapshot(&self) -> &str {
        &self.subscriber.snapshot
    }

    /// The next event that waits, or `None` when none does now.
    pub fn try_next(&self) -> Option<Event> {
        if self.runtime.is_forked() { None } else { self.subscriber.try_next() }
    }

    /// The next event; `None` once the pool (or the session) is closed and nothing waits. Dropping
    /// the future loses nothing.
    pub async fn next(&self) -> Option<Event> {
        if self.runtime.is_forked() { None } else { self.subscriber.next().await }
    }

    /// Whether the stream has ended: nothing waits, and nothing will come. In a forked child it
    /// has.
    pub fn is_ended(&self) -> bool {
        self.runtime.is_forked() || self.subscriber.is_ended()
    }

    /// Sets the function that is called when the stream goes from empty to not empty, and when it
    /// ends: on a thread of the library, or on the one whose call into the library caused the
    /// event. It must not block. It is called at once if something waits already. What many are
    /// told at one time calls it when all were told, or when half of its room is taken.
    pub fn set_wake(&self, wake: impl Fn() + Send + Sync + 'static) {
        if !self.runtime.is_forked() {
            self.subscriber.set_wake(Arc::new(wake), false);
        }
    }

    /// The same for a function that waits for nothing, of the host's least: what a thread tells is
    /// heard then before it goes on, so that what comes after the function comes after the event.
    #[doc(hidden)]
    pub fn set_wake_in_order(&self, wake: impl Fn() + Send + Sync + 'static) {
        if !self.runtime.is_forked() {
            self.subscriber.set_wake(Arc::new(wake), true);
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if !self.runtime.is_forked() {
            self.hub.unsubscribe(&self.subscriber);
            self.subscriber.silence();
        }
    }
}
