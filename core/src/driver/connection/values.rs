//! Values that files say, put in place right before a connection is begun (SPEC 18.9).

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::time::Instant;
use trunkline_pool::config::ServerSpec;
use trunkline_pool::state::PoolInput;

use super::{Control, EndReport, recheck};
use crate::client::out_of_reach;
use crate::host_env::with_values;
use crate::{Error, ErrorCode};

/// The configuration that a connection begins with. Its files are read within the time of the
/// attempt, which `begun` before.
///
/// # Errors
/// How it ends before it has begun.
pub(in crate::driver) async fn in_place(
    ended: &EndReport,
    orders: &mut mpsc::Receiver<Control>,
    begun: Instant,
) -> Result<Arc<ServerSpec>, PoolInput> {
    let cell = &ended.cell;
    if cell.spec.value_files.is_empty() {
        return Ok(cell.spec.clone());
    }
    let limit = super::connect_timeout(&ended.driver, cell);
    let (server, spec) = (cell.server.clone(), cell.spec.clone());
    let read = cell.reads_values.run(move || with_values(&server, &spec));
    let read = tokio::select! {
        biased;
        order = orders.recv() => return Err(recheck::over(ended, order)),
        read = tokio::time::timeout_at(begun + limit, read) => read,
    };
    let failed = |error| PoolInput::ConnectFailed { connection: ended.id, error };
    match read {
        Ok(Some(spec)) => spec.map(Arc::new).map_err(failed),
        Ok(None) => {
            let message = "the files that its values are taken from could not be read";
            Err(failed(Error::new(ErrorCode::Internal, message)))
        }
        Err(_) => Err(failed(out_of_reach(&cell.server, limit))),
    }
}
