//! Sessions that nobody uses end.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::serve::lanes::front::Front;

/// Ends the sessions that nobody uses, until the endpoint drains.
pub(in crate::serve::lanes) async fn end_idle(front: Arc<Front>, mut drain: watch::Receiver<bool>) {
    let idle = front.bounds.idle;
    let pause = (idle / 4).min(front.bounds.replay_time);
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = drain.wait_for(|drains| *drains) => return,
        }
        front.sessions.end_idle(Instant::now(), idle, front.replay_bounds());
    }
}
