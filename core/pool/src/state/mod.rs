//! The reducer: the only writer of pool state.

mod ids;
mod protocol;

pub use ids::{
    ConnectionId, EntryId, Generation, KeyId, LeaseId, Moment, ServerId, SessionId, Ticket,
};
pub use protocol::{
    Audience, CloseExit, CloseMode, DrainMode, DrainReport, Effect, EntryState, Family, Input,
    LossReason, Notice, RestartRefusal, RestartReport, Slot,
};

use crate::options::PoolOptions;

/// Everything the pool knows and decides.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolState {
    options: PoolOptions,
}

impl PoolState {
    /// An empty pool. `seed` drives the jitter of retries.
    pub fn new(options: PoolOptions, _seed: u64) -> Self {
        PoolState { options }
    }

    /// Takes one input to its end; what it wants done is appended to `effects`.
    pub fn step(&mut self, _now: Moment, _input: Input, _effects: &mut Vec<Effect>) {
        let _ = &self.options;
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called; `None` when nothing waits.
    pub fn next_deadline(&self) -> Option<Moment> {
        None
    }

    /// Does what fell due by `now`. Calling it early or twice does no harm.
    pub fn handle_timeout(&mut self, _now: Moment, _effects: &mut Vec<Effect>) {}

    /// The entry's facts for `status`.
    pub fn entries(&self) -> impl Iterator<Item = EntryStatus> + '_ {
        std::iter::empty()
    }
}

/// One entry, as `status` shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryStatus {
    /// The entry.
    pub entry: EntryId,
    /// The index that hosts see: per server name, stable, never reused.
    pub index: u32,
    /// The server.
    pub server: ServerId,
    /// The pool key.
    pub key: KeyId,
    /// The visible state.
    pub state: EntryState,
    /// The incarnation.
    pub generation: Generation,
    /// How many distinct sessions hold it.
    pub refs: u32,
    /// When this incarnation connected.
    pub connected_at: Option<Moment>,
    /// How often it was lost.
    pub losses: u32,
}
