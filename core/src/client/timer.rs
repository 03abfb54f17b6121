//! The one timer of a connection: it ends what is overdue, and sleeps until the next deadline.

use std::sync::Arc;
use std::time::Instant;

use super::in_flight::Next;
use super::link::Link;

/// Runs until the connection has ended. The body of one task.
pub(super) async fn watch_deadlines(link: Arc<Link>) {
    loop {
        let (overdue, next) = link.calls.expire(Instant::now());
        for (id, flight, missed) in overdue {
            link.expire(id, flight, missed);
        }
        let woken = link.calls.timer.notified();
        match next {
            None => return,
            Some(Next::WhenWoken) => woken.await,
            Some(Next::At(deadline)) => {
                tokio::select! {
                    () = woken => {}
                    () = tokio::time::sleep_until(deadline.into()) => {}
                }
            }
        }
    }
}
