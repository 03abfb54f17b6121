//! What `status` shows of the pool (SPEC 9.4).

use crate::acceptance::Configuration;
use crate::base::ids::{EntryId, Generation, KeyId, Moment, ServerId};
use crate::error::Error;
use crate::state::entry::{ListReading, Phase, Stage};
use crate::state::terms::EntryState;
use crate::state::{PoolOptions, PoolState};

/// One entry, as `status` shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryStatus {
    /// The entry.
    pub entry: EntryId,
    /// The index that hosts see: per server name, from 0, stable, never reused.
    pub index: u32,
    /// The server.
    pub server: ServerId,
    /// The pool key.
    pub key: KeyId,
    /// The visible state.
    pub state: EntryState,
    /// What it is doing, more closely.
    pub situation: Situation,
    /// The newest incarnation, or the one that is coming.
    pub generation: Generation,
    /// The incarnation that exists outside, in whatever condition.
    pub living: Option<Generation>,
    /// How many distinct sessions hold it.
    pub refs: u32,
    /// How many acquires wait for it.
    pub waiters: u32,
    /// When this incarnation connected.
    pub connected_at: Option<Moment>,
    /// When it is closed or tried again, if nothing happens before.
    pub due_at: Option<Moment>,
    /// When its lists are read again, if nothing happens before.
    pub list_at: Option<Moment>,
    /// How often it was lost.
    pub losses: u32,
    /// Why it is not connected.
    pub error: Option<Error>,
}

/// What an entry is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Situation {
    /// Waits for a process slot.
    Queued,
    /// Waits for the end of its last incarnation, or of what it replaces, to connect then.
    Replacing,
    /// Connects.
    Connecting,
    /// Connected.
    Connected,
    /// Connected, and about to read the lists again.
    ListingDue,
    /// Connected, and reading the lists again.
    Listing,
    /// Connected, reading the lists again, and about to once more.
    ListingOutdated,
    /// Lost, and what was lost is still ending.
    BackoffEnding,
    /// Lost, and waiting for the next attempt.
    Backoff,
    /// Lost for good or without credentials, and what was lost is still ending.
    FailedEnding,
    /// Lost for good.
    Failed,
    /// Without the credentials that its server wants.
    Unauthorized,
    /// Over, and ending.
    Ending,
}

impl PoolState {
    /// The options that the pool was made with.
    pub fn options(&self) -> &PoolOptions {
        &self.options
    }

    /// Every entry that has something left, also those that are only ending.
    pub fn entries(&self) -> impl Iterator<Item = EntryStatus> + '_ {
        self.entries.iter().filter_map(|(id, _)| self.entry(id))
    }

    /// One entry.
    pub fn entry(&self, id: EntryId) -> Option<EntryStatus> {
        let entry = self.entries.get(id)?;
        let connected_at = match entry.phase {
            Phase::Connected { since, .. } => Some(since),
            Phase::Waiting { .. }
            | Phase::Connecting { .. }
            | Phase::Backoff { .. }
            | Phase::Failed { .. }
            | Phase::Unauthorized { .. }
            | Phase::Ended { .. } => None,
        };
        Some(EntryStatus {
            entry: id,
            index: entry.index,
            server: entry.server,
            key: entry.key,
            state: entry.visible(),
            situation: self.situation(id)?,
            generation: entry.generation,
            living: entry.wire.map(|wire| wire.generation),
            refs: u32::try_from(entry.holders.len()).unwrap_or(u32::MAX),
            waiters: u32::try_from(entry.waiters.len()).unwrap_or(u32::MAX),
            connected_at,
            due_at: entry.claims().due,
            list_at: entry.claims().list_at,
            losses: entry.health.losses,
            error: entry.error.clone(),
        })
    }

    /// What the accepted definitions of an entry's tools belong to.
    pub fn configuration(&self, id: EntryId) -> Option<Configuration> {
        self.entries.get(id).map(|entry| entry.configuration())
    }

    /// What is wrong with a server that has no entry: the limit that it waits for, else the last
    /// error of its name, also of entries that are gone.
    pub fn last_error(&self, server: ServerId) -> Option<Error> {
        self.limit_of_wishes(server).or_else(|| self.names.get(server)?.last_error.clone())
    }

    /// Whether there ever was an entry.
    pub fn has_started(&self) -> bool {
        self.names.iter().any(|(_, name)| name.next_index > 0)
    }

    /// Process slots in use: server processes that live, end, or are to come back.
    pub fn processes(&self) -> u32 {
        self.slots.used
    }

    /// Whether the pool drains or has drained.
    pub fn is_closing(&self) -> bool {
        self.closing.is_some()
    }

    fn situation(&self, id: EntryId) -> Option<Situation> {
        let entry = self.entries.get(id)?;
        let ending = entry.wire.is_some_and(|wire| wire.stage == Stage::Ending);
        Some(match entry.phase {
            Phase::Waiting { .. } => Situation::Queued,
            Phase::Connecting { .. } if ending || entry.waits_for_replaced() => {
                Situation::Replacing
            }
            Phase::Connecting { .. } => Situation::Connecting,
            Phase::Connected { listing, .. } => match listing.reading {
                ListReading::Quiet => Situation::Connected,
                ListReading::Due => Situation::ListingDue,
                ListReading::Running => Situation::Listing,
                ListReading::Outdated => Situation::ListingOutdated,
            },
            Phase::Backoff { .. } if ending => Situation::BackoffEnding,
            Phase::Backoff { .. } => Situation::Backoff,
            Phase::Failed { .. } | Phase::Unauthorized { .. } if ending => Situation::FailedEnding,
            Phase::Unauthorized { .. } => Situation::Unauthorized,
            Phase::Failed { .. } => Situation::Failed,
            Phase::Ended { .. } => Situation::Ending,
        })
    }
}
