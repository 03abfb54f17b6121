//! Handles and the tables behind them, and how much of the host's code runs.

pub(crate) mod callback_tracker;
#[cfg(feature = "schedules")]
pub(crate) mod fed;
pub(crate) mod pool_ids;
pub(crate) mod sync;
pub(crate) mod table;
