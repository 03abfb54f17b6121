//! Handles and the tables behind them, and how much of the host's code runs.
//!
//! A released handle is `bad_handle`: a number cannot know what it stood for unless every number is
//! kept.

pub(crate) mod callback_tracker;
#[cfg(feature = "schedules")]
pub(crate) mod fed;
pub(crate) mod pool_ids;
pub(crate) mod sync;
pub(crate) mod table;
