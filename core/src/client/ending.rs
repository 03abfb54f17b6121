//! The end of a connection: calls first, then the ordered shutdown of the process tree (SPEC 9.8, I-01).

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use trunkline_pool::state::CloseExit;

use super::link::{Life, Link};
use super::requests::complete;
use super::{Kill, failure};
use crate::platform::{Launched, Process, TreeSignal};
use crate::{Outcome, Result};

/// How long killed processes may take to vanish; a kernel that does not end them within it never will.
const DEATH_WAIT: Duration = Duration::from_secs(2);

/// How soon a tree that is not gone is killed again.
const KILL_AGAIN: Duration = Duration::from_millis(16);

/// How long stderr may hold out after the processes that wrote it are gone.
const STDERR_WAIT: Duration = Duration::from_millis(100);

impl Link {
    /// Ends it on request, and waits until nothing is left. A dropped future leaves the ending to the runtime.
    pub(super) async fn close(self: &Arc<Self>, kill: Kill) -> CloseExit {
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
    pub(super) fn cut(&self) {
        let flights = self.calls.end();
        let unsent = self.writer.stop();
        for (id, flight) in flights {
            let outcome = match unsent.contains(&id) {
                true => Outcome::NotSent,
                false => Outcome::Unknown,
            };
            complete(flight.done, Err(failure::interrupted(&self.server, outcome)));
        }
        self.handshake.end();
    }

    /// Starts the ordered shutdown, once, as a task of the runtime.
    pub(super) fn begin_end(self: &Arc<Self>) {
        let mut begun = self.ending.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut *begun, true) {
            self.runtime.spawn(end_tree(self.clone()));
        }
    }
}

/// Ends the process tree, and says so when nothing of it is left.
async fn end_tree(link: Arc<Link>) {
    let process = &link.process;
    let mut kill = link.ending.kill.subscribe();
    // Before anything ends, since the links to the descendants end with it.
    process.survey();
    link.writer.close();
    let exit = if wait_gone(&link, link.options.exit_grace, &mut kill).await {
        CloseExit::Clean
    } else {
        process.signal(TreeSignal::Terminate);
        if !wait_gone(&link, link.options.kill_grace, &mut kill).await {
            kill_all(process, &link.server).await;
        }
        CloseExit::Forced
    };
    let mut stderr_read = link.ending.stderr_read.subscribe();
    let _ = tokio::time::timeout(STDERR_WAIT, stderr_read.wait_for(|read| *read)).await;
    tracing::debug!(server = %link.server, forced = exit == CloseExit::Forced, "process tree ended");
    link.ending.ended.send_replace(Some(exit));
}

/// Waits until nothing of the tree is left; `false` when the grace is over, or the patience.
async fn wait_gone(link: &Link, grace: Duration, kill: &mut watch::Receiver<bool>) -> bool {
    let deadline = Instant::now() + grace;
    let patience = async {
        tokio::select! {
            () = tokio::time::sleep_until(deadline) => {}
            _ = kill.wait_for(|kill| *kill) => {}
        }
    };
    tokio::select! {
        biased;
        () = link.process.gone() => true,
        () = patience => false,
    }
}

/// Ends a program that is being started and has no connection yet, and waits until nothing of it is left.
pub(super) async fn abandon(server: &str, started: impl Future<Output = Result<Launched>>) {
    // What does not come up in this time is ended when the attempt is dropped.
    if let Ok(Ok(launched)) = tokio::time::timeout(DEATH_WAIT, started).await {
        kill_all(&launched.process, server).await;
    }
}

/// Kills until nothing is left: a tree that forks while it is killed is met again and again.
async fn kill_all(process: &Process, server: &str) {
    let deadline = Instant::now() + DEATH_WAIT;
    while Instant::now() < deadline {
        process.signal(TreeSignal::Kill);
        if tokio::time::timeout(KILL_AGAIN, process.gone()).await.is_ok() {
            return;
        }
    }
    tracing::error!(%server, "processes of a server survived SIGKILL");
}
