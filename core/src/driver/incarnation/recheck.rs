//! What is decided of a server, asked once more right before its connection is begun (SPEC 11.5, S-08, S-13).
//!
//! Between the decision that let it in and this moment another host may have rejected it, or the name of its command may have come to
//! lead to another program. A refusal here starts nothing, is no failure of the server, and shuts the gate of its key, so that
//! whoever waits for it is answered with the reason.

use std::sync::Arc;

use tokio::sync::mpsc;
use trunkline_pool::state::{CloseExit, Gate, GateReason, Input};

use super::{Control, Ended};
use crate::client::Unconnected;
use crate::driver::Warrant;
use crate::transport::stdio::ProgramCheck;
use crate::{Error, ErrorCode};

/// The warrant by which the attempt may begin, where it needs one.
///
/// # Errors
/// How it ends before it has begun.
pub(super) async fn before_connecting(
    ended: &Ended,
    orders: &mut mpsc::Receiver<Control>,
) -> Result<Option<Arc<dyn Warrant>>, Input> {
    let over = || Input::Closed { connection: ended.id, exit: CloseExit::Clean };
    // Each turn is by another word than the one before, of somebody who asked meanwhile.
    while let Some(warrant) = ended.driver.warrant(ended.cell.key) {
        let asked = warrant.clone();
        let asked = tokio::task::spawn_blocking(move || asked.recheck());
        let gate = tokio::select! {
            biased;
            _ = orders.recv() => return Err(over()),
            gate = asked => gate,
        };
        match gate {
            Ok(Gate::Open) => return Ok(Some(warrant)),
            Ok(Gate::Shut(why)) if shut(ended, &warrant, why, orders).await => return Err(over()),
            Ok(Gate::Shut(_)) => {}
            Err(_) => {
                let message = "what is decided of the server could not be read";
                let error = Error::new(ErrorCode::Internal, message);
                return Err(Input::ConnectFailed { connection: ended.id, error });
            }
        }
    }
    Ok(None)
}

/// The question whether a program is the one that was approved, asked of the file that is started next.
pub(super) fn of_program(warrant: &Arc<dyn Warrant>) -> ProgramCheck {
    let warrant = warrant.clone();
    ProgramCheck(Arc::new(move |program| match warrant.admits_program(program) {
        true => Ok(()),
        false => Gate::Shut(GateReason::PendingApproval).check(),
    }))
}

/// Whether the attempt ended because its program is not the one that was approved: nothing else in it says `not_admitted`.
pub(super) async fn is_refused(
    ended: &Ended,
    by: Option<&Arc<dyn Warrant>>,
    failed: &Unconnected,
    orders: &mut mpsc::Receiver<Control>,
) -> bool {
    match by.filter(|_| failed.error.code() == ErrorCode::NotAdmitted) {
        Some(by) => shut(ended, by, GateReason::PendingApproval, orders).await,
        None => false,
    }
}

/// Shuts the gate of the key, which ends the entry; `false` when that goes by another word now. The order to end the connection is
/// waited for, so that it finds somebody.
async fn shut(
    ended: &Ended,
    by: &Arc<dyn Warrant>,
    why: GateReason,
    orders: &mut mpsc::Receiver<Control>,
) -> bool {
    let is_shut = ended.driver.shut_key(ended.cell.key, by, why);
    if is_shut {
        orders.recv().await;
    }
    is_shut
}
