//! The end of a server's process tree: the ordered shutdown of SPEC 9.8 (I-01).

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use trunkline_pool::state::CloseExit;

use crate::Result;
use crate::platform::{Launched, Process, TreeSignal};
use crate::transport::child::Child;
use crate::transport::{FrameWriter, Graces};

/// How long killed processes may take to vanish; a kernel that does not end them within it never
/// will.
const DEATH_WAIT: Duration = Duration::from_secs(2);

/// How soon a tree that is not gone is killed again.
const KILL_AGAIN: Duration = Duration::from_millis(16);

/// How long stderr may hold out after the processes that wrote it are gone.
const STDERR_WAIT: Duration = Duration::from_millis(100);

/// Ends the process tree; resolves when nothing of it is left.
pub(super) async fn end_tree(
    server: &str,
    child: &Child,
    writer: &FrameWriter,
    mut stderr_read: watch::Receiver<bool>,
    graces: Graces,
    mut killed: watch::Receiver<bool>,
) -> CloseExit {
    let process = &child.process;
    // Before anything ends, since the links to the descendants end with it.
    process.survey();
    writer.close();
    let exit = if wait_gone(process, graces.exit, &mut killed).await {
        CloseExit::Clean
    } else {
        process.signal(TreeSignal::Terminate);
        if !wait_gone(process, graces.kill, &mut killed).await {
            kill_all(process, server).await;
        }
        CloseExit::Forced
    };
    let _ = tokio::time::timeout(STDERR_WAIT, stderr_read.wait_for(|read| *read)).await;
    tracing::debug!(%server, forced = exit == CloseExit::Forced, "process tree ended");
    exit
}

/// Waits until nothing of the tree is left; `false` when the grace is over, or the patience.
async fn wait_gone(process: &Process, grace: Duration, killed: &mut watch::Receiver<bool>) -> bool {
    let patience = async {
        tokio::select! {
            () = tokio::time::sleep(grace) => {}
            _ = killed.wait_for(|killed| *killed) => {}
        }
    };
    tokio::select! {
        biased;
        () = process.gone() => true,
        () = patience => false,
    }
}

/// Ends a program that is being started and has no connection yet, and waits until nothing of it is
/// left.
pub(crate) async fn abandon(server: &str, started: impl Future<Output = Result<Launched>>) {
    // What does not come up in this time is ended when the attempt is dropped.
    if let Ok(Ok(launched)) = tokio::time::timeout(DEATH_WAIT, started).await {
        kill_all(&launched.process, server).await;
    }
}

/// Kills until nothing is left: a tree that forks while it is killed is met again and again.
pub(crate) async fn kill_all(process: &Process, server: &str) {
    let deadline = Instant::now() + DEATH_WAIT;
    while Instant::now() < deadline {
        process.signal(TreeSignal::Kill);
        if tokio::time::timeout(KILL_AGAIN, process.gone()).await.is_ok() {
            return;
        }
    }
    tracing::error!(%server, "processes of a server survived SIGKILL");
}
