//! The one timer of a connection: it ends what is overdue, and asks a silent server whether it
//! lives. It has stale lists read again, and sleeps until the next deadline.

use std::sync::Arc;
use std::time::Instant;

use trunkline_pool::catalog::ListKind;

use super::keepalive::{self, KeepAlive};
use crate::client::calls::in_flight::Next;
use crate::client::connection::Link;
use crate::transport::DisconnectCause;

/// Runs until the connection has ended. The body of one task.
pub(in crate::client) async fn watch_deadlines(link: Arc<Link>) {
    let mut keepalive = KeepAlive::new(&link.options);
    loop {
        let now = Instant::now();
        let look = match keepalive.watch(&link, now) {
            keepalive::KeepaliveStep::Look(at) => at,
            keepalive::KeepaliveStep::Dead => return link.lose(DisconnectCause::Silent).await,
        };
        if link.freshness.take_due(now) {
            link.tell(|events| events.list_changed(ListKind::Tools));
        }
        let look = look.into_iter().chain(link.freshness.due()).min();
        let (overdue, next) = link.calls.expire(now);
        for overdue in overdue {
            link.expire(overdue);
        }
        let woken = link.calls.timer.notified();
        let deadline = match next {
            None => return,
            Some(Next::WhenWoken) => look,
            Some(Next::At(deadline)) => Some(look.map_or(deadline, |look| look.min(deadline))),
        };
        match deadline {
            None => woken.await,
            Some(deadline) => tokio::select! {
                () = woken => {}
                () = tokio::time::sleep_until(deadline.into()) => {}
            },
        }
    }
}
