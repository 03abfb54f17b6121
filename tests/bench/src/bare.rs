//! What the machine gives for the places in memory that a step of the pool cannot do without:
//! `steps`, and nothing decided.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trunkline_pool::catalog::Catalog;
use trunkline_pool::id_map::IdMap;

use crate::{cpu_time, report};

/// `bare-10`, `bare-10000`: the four steps of `steps` with the same rows in maps and slabs, of
/// which each step looks at the least that there is to look at: the entry of a key, what it listed,
/// the session, its leases, and the lease.
pub fn by_size() {
    for entries in crate::steps::SIZES {
        let mut rows = Rows::new(u64::from(entries));
        let mut times = Vec::with_capacity(crate::steps::ROUNDS);
        let (began, cpu) = (Instant::now(), cpu_time());
        for _ in 0..crate::steps::ROUNDS {
            times.push(rows.round());
        }
        report(&format!("bare-{entries}"), &mut times, began.elapsed(), cpu_time() - cpu);
    }
}

struct Rows {
    /// The place of each key's entry.
    keys: IdMap<u64, usize>,
    entries: Vec<Entry>,
    /// The leases of each session, by entry.
    sessions: IdMap<u64, BTreeSet<(u64, u64)>>,
    /// Who has each lease, and on what.
    leases: IdMap<u64, (u64, u64)>,
    last: u64,
    turn: u64,
}

/// As large as one of the pool's, about; a step looks at its beginning.
struct Entry {
    listing: u64,
    catalog: Arc<Catalog>,
    _rest: [u64; 40],
}

impl Rows {
    fn new(entries: u64) -> Rows {
        let entry = || Entry { listing: 0, catalog: Arc::default(), _rest: [0; 40] };
        let mut rows = Rows {
            keys: (0..entries).map(|key| (key, key as usize)).collect(),
            entries: (0..entries).map(|_| entry()).collect(),
            sessions: (0..entries).map(|session| (session, BTreeSet::new())).collect(),
            leases: IdMap::default(),
            last: 0,
            turn: 0,
        };
        for entry in 0..entries {
            for holder in 0..u64::from(crate::steps::HOLDERS) {
                rows.acquire(entry, (entry + holder) % entries);
            }
        }
        rows
    }

    /// The time of one step in the mean of many.
    fn round(&mut self) -> Duration {
        let entries = self.entries.len() as u64;
        let listed = Arc::default();
        let mut same = 0;
        let began = Instant::now();
        for _ in 0..crate::steps::TURNS {
            self.turn = (self.turn + u64::from(crate::steps::STRIDE)) % entries;
            let session = (self.turn + self.turn % u64::from(crate::steps::HOLDERS)) % entries;
            let lease = self.acquire(self.turn, session);
            self.release(lease);
            self.stale(self.turn);
            same += usize::from(self.listed(self.turn, &listed));
        }
        let took = began.elapsed();
        assert_eq!(same, crate::steps::TURNS);
        took / (4 * crate::steps::TURNS as u32)
    }

    fn acquire(&mut self, key: u64, session: u64) -> u64 {
        self.last += 1;
        self.entries[self.keys[&key]].listing |= 1;
        self.leases.insert(self.last, (session, key));
        self.sessions.get_mut(&session).expect("it is open").insert((key, self.last));
        self.last
    }

    fn release(&mut self, lease: u64) {
        let (session, key) = self.leases.remove(&lease).expect("it was granted");
        let leases = self.sessions.get_mut(&session).expect("it is open");
        assert!(leases.remove(&(key, lease)));
    }

    fn stale(&mut self, key: u64) {
        self.entries[self.keys[&key]].listing += 2;
    }

    fn listed(&mut self, key: u64, listed: &Arc<Catalog>) -> bool {
        let entry = &mut self.entries[self.keys[&key]];
        entry.listing += 2;
        entry.catalog == *listed
    }
}
