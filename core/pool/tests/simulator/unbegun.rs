//! Attempts that are dropped before they have begun (SPEC 3.4).

use trunkline_pool::state::{CloseExit, EntryStatus, PoolInput, Situation};

/// Whether that says of the newest attempt of an entry that nothing of it had begun.
pub fn is_it(input: &PoolInput, was: &EntryStatus) -> bool {
    matches!(input, PoolInput::Closed { connection, exit: CloseExit::Unbegun } if connection.generation == was.generation)
}

/// A caller that asked meanwhile gets another attempt.
pub fn leaves(row: &EntryStatus, was: &EntryStatus) -> Result<(), String> {
    let again = row.situation == Situation::Connecting && row.generation > was.generation;
    match again || (was.refs, was.waiters) == (0, 0) {
        true => Ok(()),
        false => Err(format!("what had not begun left {row:?}")),
    }
}
