//! What the programs of entries that need approval were found to be (SPEC 12.12).
//!
//! The first look at a configuration counts for as long as the pool lives, also while no source
//! names it: a decision is about what was there then. Right before a start it is looked at again.
//! What is another by then counts from there on as another thing to decide about.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use trunkline_pool::approvals::{ApprovalHash, Replaced};

use crate::host_env::StartSnapshot;

/// Configurations that are remembered. A project has a few; the oldest makes room.
const LOOKS_MAX: usize = 4096;

/// What was found, by the name and the hash of a configuration as it is written.
#[derive(Default)]
pub(crate) struct Looks(Mutex<SnapshotTable>);

#[derive(Default)]
struct SnapshotTable {
    looked: BTreeMap<SnapshotKey, SnapshotRow>,
    /// Of the newest.
    number: u64,
}

type SnapshotKey = (Box<str>, ApprovalHash);

struct SnapshotRow {
    number: u64,
    first: StartSnapshot,
    /// What was found right before a start, and how that is another.
    later: Option<(StartSnapshot, Replaced)>,
}

impl Looks {
    /// What a program has to be at its start, and how that is another than was looked at first.
    /// `look` reads files.
    pub(crate) fn of(
        &self,
        name: &str,
        hash: ApprovalHash,
        look: impl FnOnce() -> StartSnapshot,
    ) -> (StartSnapshot, Option<Replaced>) {
        let key = (Box::from(name), hash);
        let known = self.kept().looked.get(&key).map(|it| (it.first.clone(), it.later.clone()));
        let Some((first, later)) = known else {
            return (self.kept().note(key, look()), None);
        };
        let Some((later, replaced)) = later else { return (first, None) };
        // What was there first is what was decided about, if it is back.
        if first.replaced_by(&look()).is_none() {
            if let Some(looked) = self.kept().looked.get_mut(&key) {
                looked.later = None;
            }
            return (first, None);
        }
        (later, Some(replaced))
    }

    /// How it is another than was looked at first, if it is.
    pub(crate) fn replaced(&self, name: &str, hash: ApprovalHash) -> Option<Replaced> {
        let kept = self.kept();
        let (_, replaced) = kept.looked.get(&(Box::from(name), hash))?.later.as_ref()?;
        Some(replaced.clone())
    }

    /// It was found to be another right before its start.
    pub(crate) fn note_replacement(&self, name: &str, hash: ApprovalHash, by: StartSnapshot) {
        if let Some(looked) = self.kept().looked.get_mut(&(Box::from(name), hash)) {
            looked.later = looked.first.replaced_by(&by).map(|replaced| (by, replaced));
        }
    }

    fn kept(&self) -> MutexGuard<'_, SnapshotTable> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl SnapshotTable {
    /// Another look at the same may have come first, and counts.
    fn note(&mut self, key: SnapshotKey, first: StartSnapshot) -> StartSnapshot {
        self.number += 1;
        let number = self.number;
        let looked = self.looked.entry(key).or_insert(SnapshotRow { number, first, later: None });
        let first = looked.first.clone();
        if self.looked.len() > LOOKS_MAX
            && let Some(oldest) = self.looked.iter().min_by_key(|(_, it)| it.number)
        {
            let oldest = oldest.0.clone();
            self.looked.remove(&oldest);
        }
        first
    }
}
