//! The order in which passes are told: that in which they were planned (SPEC 13.2, 16.6).

use std::collections::VecDeque;

use serde_json::Value;
use trunkline_pool::layers::SourceName;

use super::files::findings::Findings;
use crate::Error;

/// Something to be told.
pub(crate) enum SourceEvent {
    /// What passes made of servers: the rows.
    Reconciled(Value),
    /// A source is another, or something else of it has no effect, or it can be read again.
    Accepted(SourceName, Findings),
    /// A source cannot be read, and keeps its last good state.
    Broken(SourceName, Error),
    /// What waits for approval.
    Requests(Vec<Value>),
}

/// The turns of passes that are not told yet.
#[derive(Default)]
pub(crate) struct EventSequencer {
    /// Each with its news, once it is over.
    pub(crate) turns: VecDeque<Option<VecDeque<SourceEvent>>>,
    /// The number of the first of them.
    first: u64,
    /// Whether somebody tells at this moment, and looks again then.
    pub(crate) tells: bool,
}

impl EventSequencer {
    pub(crate) fn begin(&mut self) -> u64 {
        self.turns.push_back(None);
        self.first + self.turns.len() as u64 - 1
    }

    pub(crate) fn end(&mut self, turn: u64, news: VecDeque<SourceEvent>) {
        let place = usize::try_from(turn - self.first).ok();
        if let Some(turn) = place.and_then(|place| self.turns.get_mut(place)) {
            *turn = Some(news);
        }
    }

    /// What is to be told next; nothing while the first turn is not over.
    pub(crate) fn next(&mut self) -> Option<SourceEvent> {
        loop {
            if let Some(news) = self.turns.front_mut()?.as_mut()?.pop_front() {
                return Some(news);
            }
            self.turns.pop_front();
            self.first += 1;
        }
    }
}
