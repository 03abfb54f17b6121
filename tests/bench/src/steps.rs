//! The workload of the reducer alone: what one step costs in a small pool, and in a large one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use trunkline_pool::catalog::Catalog;
use trunkline_pool::config::{Fingerprint, ServerSpec, Share};
use trunkline_pool::options::{OnToolChange, PoolOptions};
use trunkline_pool::state::{
    Ask, ConnectionId, Effect, EntryId, Family, Generation, KeyId, LeaseId, ListingNumber, Moment,
    PoolInput, PoolState, ServerId, SessionId, Ticket,
};

use crate::{cpu_time, report};

/// `steps-10`, `steps-10000`: four steps on one of so many entries, each held by ten sessions: a
/// further acquire, its release, a changed list that is announced, and the list. All entries have
/// their turn, in no order that a cache likes.
pub fn by_size() {
    for entries in SIZES {
        let mut table = Table::connected(entries);
        let mut times = Vec::with_capacity(ROUNDS);
        let (began, cpu) = (Instant::now(), cpu_time());
        for _ in 0..ROUNDS {
            times.push(table.round());
        }
        report(&format!("steps-{entries}"), &mut times, began.elapsed(), cpu_time() - cpu);
    }
}

/// A pool and what it is asked with.
struct Table {
    pool: PoolState,
    entries: u32,
    fingerprints: Vec<Fingerprint>,
    catalog: Arc<Catalog>,
    tickets: u64,
    leases: u64,
    /// Listings of each entry.
    listings: Vec<u64>,
    turn: u32,
    /// The pool's clock: lists are read again so often and no oftener.
    now: Moment,
    effects: Vec<Effect>,
}

impl Table {
    /// All entries are connected, and held by ten sessions each.
    fn connected(entries: u32) -> Table {
        let mut options = PoolOptions::default();
        options.limits.processes = entries + 1;
        let fingerprint = |number: u32| {
            let spec = json!({ "command": number.to_string() });
            let spec = ServerSpec::from_value("s", &spec).expect("a server with a command");
            spec.fingerprint("pool", &[])
        };
        let mut table = Table {
            pool: PoolState::new(options, 7),
            entries,
            fingerprints: (0..entries).map(fingerprint).collect(),
            catalog: Arc::default(),
            tickets: 0,
            leases: 0,
            listings: vec![0; entries as usize],
            turn: 0,
            now: Moment(0),
            effects: Vec::new(),
        };
        for session in 0..u64::from(entries) {
            table.step(PoolInput::OpenSession { session: SessionId(session) });
        }
        for entry in 0..entries {
            for holder in 0..HOLDERS {
                let ask = table.ask(entry, holder);
                table.step(ask);
            }
            let connected =
                PoolInput::Connected { connection: connection(entry), catalog: Arc::default() };
            table.step(connected);
            table.leases += u64::from(HOLDERS);
        }
        table
    }

    fn ask(&mut self, entry: u32, holder: u32) -> PoolInput {
        self.tickets += 1;
        PoolInput::Acquire(Ask {
            ticket: Ticket(self.tickets),
            session: SessionId(u64::from((entry + holder) % self.entries)),
            key: KeyId(entry),
            server: ServerId(entry),
            fingerprint: self.fingerprints[entry as usize],
            on_tool_change: OnToolChange::Notify,
            family: Family::Local,
            share: Share::Pool,
            reconnect: None,
        })
    }

    fn step(&mut self, input: PoolInput) {
        self.effects.clear();
        self.pool.step(self.now, input, &mut self.effects);
    }

    /// The time of one step in the mean of many, whose inputs are made before.
    fn round(&mut self) -> Duration {
        let mut inputs: Vec<PoolInput> = Vec::with_capacity(TURNS * 4);
        for _ in 0..TURNS {
            self.turn = (self.turn + STRIDE) % self.entries;
            let entry = self.turn;
            self.listings[entry as usize] += 1;
            let number = ListingNumber(self.listings[entry as usize]);
            inputs.push(self.ask(entry, self.turn % HOLDERS));
            inputs.push(PoolInput::Release { lease: LeaseId(self.leases) });
            self.leases += 1;
            let connection = connection(entry);
            inputs.push(PoolInput::CatalogStale { connection });
            let result = Ok(Arc::clone(&self.catalog));
            inputs.push(PoolInput::CatalogListed { connection, number, result });
        }
        let steps = inputs.len() as u32;
        let mut told = 0;
        let began = Instant::now();
        for turn in inputs.chunks_exact_mut(4) {
            self.now = self.now.after(BETWEEN);
            for input in turn {
                let input = std::mem::replace(input, PoolInput::Release { lease: LeaseId(0) });
                self.step(input);
                told += self.effects.len();
            }
        }
        let took = began.elapsed();
        assert!(told >= 2 * TURNS, "{told} effects: every acquire is granted, every list is read");
        took / steps
    }
}

fn connection(entry: u32) -> ConnectionId {
    ConnectionId { entry: EntryId(entry), generation: Generation(1) }
}

/// Entries of the small pool and of the large one.
pub const SIZES: [u32; 2] = [10, 10_000];

/// Leases of each entry.
pub const HOLDERS: u32 = 10;

/// Between one entry and the next; it has no divisor in common with the sizes.
pub const STRIDE: u32 = 7919;

/// Between one turn and the next.
const BETWEEN: Duration = Duration::from_secs(1);

/// Turns of a round.
pub const TURNS: usize = 2000;

/// Rounds.
pub const ROUNDS: usize = 50;
