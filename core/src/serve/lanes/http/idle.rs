//! Sessions that nobody uses end.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::serve::lanes::front::Front;

/// Ends the sessions that nobody uses, until the endpoint drains.
pub(in crate::serve::lanes) async fn end_idle(front: Arc<Front>, mut drain: watch::Receiver<bool>) {
    let idle = front.bounds.idle;
    loop {
        tokio::select! {
            () = tokio::time::sleep(idle / 4) => {}
            _ = drain.wait_for(|drains| *drains) => return,
        }
        let Some(before) = Instant::now().checked_sub(idle) else { continue };
        front.sessions.end_idle(before);
    }
}
