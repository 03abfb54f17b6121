//! A server that the supervisor holds: what its keeper has said of it, and what it is asked.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::messages::{KeeperMessage, ServerSocket};
use crate::platform::{Exit, TreeSignal};

/// A server's process and its tree, held by its keeper. Dropping it kills what is left of the tree.
#[derive(Debug)]
pub(crate) struct SupervisedProcess {
    pid: libc::pid_t,
    socket: Arc<ServerSocket>,
    told: watch::Receiver<KeeperReport>,
    listener: AbortHandle,
}

/// What is known of it.
#[derive(Clone, Copy, Debug, Default)]
struct KeeperReport {
    exit: Option<Exit>,
    gone: bool,
}

impl SupervisedProcess {
    /// Listens to a keeper. Needs the runtime.
    pub(super) fn new(pid: libc::pid_t, socket: ServerSocket) -> Self {
        let (sender, told) = watch::channel(KeeperReport::default());
        let socket = Arc::new(socket);
        let listener = tokio::spawn(listen(socket.clone(), sender)).abort_handle();
        SupervisedProcess { pid, socket, told, listener }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid.unsigned_abs()
    }

    pub(crate) fn exit_now(&self) -> Option<Exit> {
        self.told.borrow().exit
    }

    pub(crate) async fn exited(&self) -> Exit {
        let mut told = self.told.clone();
        match told.wait_for(|told| told.exit.is_some()).await {
            Ok(told) => told.exit.unwrap_or(Exit::Unknown),
            // The runtime ends, and nothing more can be known.
            Err(_) => Exit::Unknown,
        }
    }

    pub(crate) async fn gone(&self) {
        let mut told = self.told.clone();
        // An error is the end of the runtime, which has dropped the socket: the keeper sees to the
        // rest.
        let _ = told.wait_for(|told| told.gone).await;
    }

    pub(crate) fn signal(&self, signal: TreeSignal) {
        self.socket.ask(signal);
    }
}

impl Drop for SupervisedProcess {
    fn drop(&mut self) {
        if !self.told.borrow().gone {
            self.socket.ask(TreeSignal::Kill);
        }
        self.listener.abort();
    }
}

/// Notes what the keeper says, to its end. A socket that ends without a word of the tree was cut
/// off.
async fn listen(socket: Arc<ServerSocket>, told: watch::Sender<KeeperReport>) {
    loop {
        match socket.read().await {
            Some(KeeperMessage::Exited(exit)) => told.send_modify(|told| {
                told.exit.get_or_insert(exit);
            }),
            Some(KeeperMessage::Started(_) | KeeperMessage::Failed { .. }) => {}
            Some(KeeperMessage::Ended) | None => break,
        }
    }
    told.send_modify(|told| {
        told.exit.get_or_insert(Exit::SupervisorLost);
        told.gone = true;
    });
}
