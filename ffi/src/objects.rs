//! What the handles of one pool stand for. It outlives the pool object for as long as a completion
//! is owed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

use trunkline::{HostConnection, Lease, Operation, Session};

use crate::dispatch::Completions;
use crate::handlers::Desks;
use crate::subscription::{Subscriber, Subscriptions};
use crate::table::{Kind, Table};

/// The tables of one pool, and the threads for its callbacks.
pub(crate) struct Objects {
    pub(crate) sessions: Table<Session>,
    pub(crate) leases: Table<Arc<Lease>>,
    pub(crate) operations: Table<Operation>,
    pub(crate) subscribers: Table<Arc<Subscriber>>,
    /// With servers that the host provides.
    pub(crate) connections: Table<HostConnection>,
    pub(crate) completions: Completions,
    pub(crate) subscriptions: Subscriptions,
    pub(crate) desks: Desks,
    freed: AtomicBool,
}

impl Objects {
    pub(crate) fn new() -> Arc<Objects> {
        static POOLS: AtomicU16 = AtomicU16::new(0);
        let pool = POOLS.fetch_add(1, Ordering::Relaxed);
        Arc::new(Objects {
            sessions: Table::new(Kind::Session, pool),
            leases: Table::new(Kind::Lease, pool),
            operations: Table::new(Kind::Operation, pool),
            subscribers: Table::new(Kind::Subscription, pool),
            connections: Table::new(Kind::Connection, pool),
            completions: Completions::default(),
            subscriptions: Subscriptions::default(),
            desks: Desks::default(),
            freed: AtomicBool::new(false),
        })
    }

    /// Whether the pool object is gone.
    pub(crate) fn is_freed(&self) -> bool {
        self.freed.load(Ordering::SeqCst)
    }

    /// Invalidates every handle and lets go of what they stood for; what is under way is cancelled.
    /// Waits for nothing.
    pub(crate) fn free(&self) {
        self.freed.store(true, Ordering::SeqCst);
        for subscriber in self.subscribers.clear() {
            subscriber.stop();
        }
        for operation in self.operations.clear() {
            operation.cancel();
        }
        for connection in self.connections.clear() {
            connection.close();
        }
        drop(self.leases.clear());
        drop(self.sessions.clear());
        self.desks.stop();
        self.completions.close();
    }
}
