//! What is decided of a server, asked once more right before its connection is begun (SPEC 11.5,
//! S-08, S-13).
//!
//! Since the decision that let it in, another host may have rejected it, or its command may have
//! come to lead to another program. A refusal here starts nothing, is no failure of the server, and
//! shuts the gate of its key, so that its waiters get the reason.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::time::Instant;
use trunkline_pool::state::{CloseExit, Gate, GateReason, PoolInput};

use super::{Control, EndReport};
use crate::client::{Unconnected, out_of_reach};
use crate::driver::{Warrant, recheck};
use crate::platform::Expected;
use crate::transport::stdio::ProgramCheck;
use crate::{Error, ErrorCode};

/// The warrant by which the attempt may begin, where it needs one. That is within the time of the
/// attempt, which has `begun`.
///
/// # Errors
/// How it ends before it has begun.
pub(in crate::driver) async fn before_connecting(
    ended: &EndReport,
    orders: &mut mpsc::Receiver<Control>,
    begun: Instant,
) -> Result<Option<Arc<dyn Warrant>>, PoolInput> {
    let Some(warrant) = ended.driver.warrant(ended.cell.key) else { return Ok(None) };
    let failed = |error| PoolInput::ConnectFailed { connection: ended.id, error };
    let limit = super::connect_timeout(&ended.driver, &ended.cell);
    let deadline = begun + limit;
    loop {
        let gate = tokio::select! {
            biased;
            order = orders.recv() => return Err(over(ended, order)),
            gate = tokio::time::timeout_at(deadline, recheck(&warrant)) => gate,
        };
        return match gate {
            Ok(Some(Ok(Gate::Open))) => Ok(Some(warrant)),
            Ok(Some(Ok(Gate::Shut(_)))) => match is_shut(ended, orders).await {
                true => Err(over(ended, None)),
                false => continue,
            },
            // Nobody decided anything: who holds it goes on, and it is tried again as after any
            // failure.
            Ok(Some(Err(error))) => Err(failed(error)),
            Ok(None) => {
                let message = "what is decided of the server could not be read";
                Err(failed(Error::new(ErrorCode::Internal, message)))
            }
            Err(_) => Err(failed(out_of_reach(&ended.cell.server, limit))),
        };
    }
}

/// What ends an attempt that has begun nothing.
pub(in crate::driver) fn over(ended: &EndReport, order: Option<Control>) -> PoolInput {
    let exit = order.map_or(CloseExit::Clean, |order| order.exit_of_unbegun());
    PoolInput::Closed { connection: ended.id, exit }
}

/// The question whether a program is the one that was approved, asked of the file that is started
/// next.
pub(in crate::driver) fn of_program(warrant: &Arc<dyn Warrant>) -> ProgramCheck {
    let warrant = warrant.clone();
    ProgramCheck(Arc::new(move |program| match warrant.admits_program(program) {
        Some(expected) => Ok(expected),
        None => Gate::Shut(GateReason::PendingApproval).check().map(|()| Expected::default()),
    }))
}

/// Whether the attempt ended because its program is not the one that was approved, which it is not
/// now either: nothing else in it says `not_admitted`.
pub(in crate::driver) async fn is_refused(
    ended: &EndReport,
    by: Option<&Arc<dyn Warrant>>,
    failed: &Unconnected,
    orders: &mut mpsc::Receiver<Control>,
) -> bool {
    let is_refused = by.is_some() && failed.error.code() == ErrorCode::NotAdmitted;
    is_refused && is_shut(ended, orders).await
}

/// Shuts the gate of the key, which ends the entry, unless it was decided otherwise meanwhile. The
/// order to end the connection is waited for, so that it finds somebody.
async fn is_shut(ended: &EndReport, orders: &mut mpsc::Receiver<Control>) -> bool {
    let is_shut = ended.driver.shut_key(ended.cell.key);
    while is_shut && matches!(orders.recv().await, Some(Control::Forgo)) {}
    is_shut
}
