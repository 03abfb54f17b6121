//! What the handles of one pool stand for. It outlives the pool object for as long as a completion
//! is owed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use trunkline::{HostConnection, Operation, Pool, Result, Session};

use crate::abi::guard::check_fork;
use crate::abi::raw;
use crate::delivery::callback_threads::Completions;
use crate::delivery::handler_queues::HandlerQueues;
use crate::delivery::outcome::Leases;
use crate::delivery::subscription::Subscribers;
use crate::handles::callback_tracker::Running;
use crate::handles::pool_ids;
use crate::handles::table::{Kind, Table};

/// A pool: one workspace's set of connections. Any thread may use it, several at a time, until one
/// frees it.
pub struct PoolObject {
    pub(crate) forks: u32,
    pub(crate) core: Pool,
    pub(crate) objects: Arc<Objects>,
}

impl PoolObject {
    /// The host's pool, if it belongs to this process.
    ///
    /// # Safety
    /// `pool` is NULL or a pool that is not freed while the result is in use.
    pub(crate) unsafe fn of<'a>(pool: *const PoolObject) -> Result<&'a PoolObject> {
        // SAFETY: as the function's own.
        let pool = unsafe { pool.as_ref() }.ok_or_else(|| raw::invalid("pool", "pool is NULL"))?;
        check_fork(pool.forks)?;
        Ok(pool)
    }
}

/// The tables of one pool, and the threads for its callbacks.
pub(crate) struct Objects {
    number: u16,
    pub(crate) sessions: Table<Session>,
    pub(crate) leases: Arc<Leases>,
    pub(crate) operations: Table<Operation>,
    pub(crate) subscribers: Arc<Subscribers>,
    /// With servers that the host provides.
    pub(crate) connections: Table<HostConnection>,
    pub(crate) completions: Arc<Completions>,
    /// The connections with servers that the host provides, from when it first hears of one until
    /// its last function returned.
    pub(crate) hosted: Running,
    pub(crate) handler_queues: Arc<HandlerQueues>,
    freed: AtomicBool,
}

impl Objects {
    /// Those of a new pool.
    ///
    /// # Errors
    /// `limit` when too many pools are not freed.
    pub(crate) fn new() -> Result<Arc<Objects>> {
        let (number, before) = pool_ids::take()?;
        let [sessions, leases, operations, subscribers, connections] = before;
        let leases = Arc::new(Table::new(Kind::Lease, number, leases));
        let subscribers = Table::new(Kind::Subscription, number, subscribers);
        Ok(Arc::new(Objects {
            number,
            sessions: Table::new(Kind::Session, number, sessions),
            leases: leases.clone(),
            operations: Table::new(Kind::Operation, number, operations),
            subscribers: Arc::new(Subscribers { table: subscribers, threads: Running::default() }),
            connections: Table::new(Kind::Connection, number, connections),
            completions: Completions::new(leases),
            hosted: Running::default(),
            handler_queues: Arc::default(),
            freed: AtomicBool::new(false),
        }))
    }

    /// Whether the pool object is gone.
    pub(crate) fn is_freed(&self) -> bool {
        self.freed.load(Ordering::SeqCst)
    }

    /// Invalidates every handle and lets go of what they stood for; what is under way is cancelled.
    /// Waits for nothing.
    pub(crate) fn free(&self) {
        self.freed.store(true, Ordering::SeqCst);
        for subscriber in self.subscribers.table.clear() {
            subscriber.end();
        }
        for operation in self.operations.clear() {
            operation.cancel();
        }
        for connection in self.connections.clear() {
            connection.close();
        }
        drop(self.leases.clear());
        drop(self.sessions.clear());
        self.handler_queues.stop();
        self.completions.close();
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        let generations = [
            self.sessions.generations(),
            self.leases.generations(),
            self.operations.generations(),
            self.subscribers.table.generations(),
            self.connections.generations(),
        ];
        pool_ids::give_back(self.number, generations);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::{Duration, Instant};

    use trunkline::{EventKind, EventMask, Pool, PoolOptions, Servers};

    use super::*;
    use crate::abi::item::ItemKind;
    use crate::abi::user_data::UserData;
    use crate::delivery::outcome::free_parts;
    use crate::delivery::queue::Queue;
    use crate::delivery::subscription::Subscriber;

    /// S-46: a handle of a pool that is gone is bad in every pool that comes after it.
    #[test]
    fn no_handle_comes_back_however_many_pools_come_and_go() {
        let mut handles = HashSet::new();
        for _ in 0..POOLS {
            let objects = Objects::new().unwrap();
            let first = objects.operations.reserve().unwrap();
            objects.operations.remove(first);
            objects.free();
            assert!(handles.insert(first));
        }
    }

    /// S-46
    #[test]
    fn no_two_pools_give_the_same_handle() {
        let pools: Vec<_> = (0..POOLS).map(|_| Objects::new().unwrap()).collect();
        let handles = pools.iter().map(|objects| objects.operations.reserve().unwrap());
        assert_eq!(handles.collect::<HashSet<_>>().len(), POOLS);
    }

    /// SPEC 16.2, 16.6: what waits in a queue outlives the pool, and the host is told where it
    /// ends.
    #[test]
    fn a_pool_that_is_freed_leaves_its_events_and_their_end_in_the_queue() {
        let (pool, queue) = (Pool::new(PoolOptions::default()).unwrap(), Queue::new().unwrap());
        let objects = Objects::new().unwrap();
        for (tag, mask) in [(1, EventKind::Reconciled.bit()), (2, 0)] {
            let stream = pool.subscribe(EventMask(mask)).unwrap();
            let handle = objects.subscribers.table.reserve().unwrap();
            let subscriber =
                Subscriber::queued((&objects.subscribers, handle), stream, &queue, tag).unwrap();
            objects.subscribers.table.fill(handle, subscriber.clone());
            subscriber.listen();
        }
        let of_it = pool.clone();
        let servers = Servers::from_json(r#"{"s":{"command":"sleep","disabled":true}}"#).unwrap();
        pool.block_on(async move { of_it.reconcile(servers).await }).unwrap();
        objects.free();
        let mut taken = Vec::new();
        queue.drain(9, |_, item| {
            taken.push((item.tag, item.kind));
            // SAFETY: nobody else has the item.
            unsafe { free_parts(&item) };
        });
        assert_eq!(taken, [(1, ItemKind::Event), (1, ItemKind::End), (2, ItemKind::End)]);
    }

    /// SPEC 16.2, 16.6: a host need not close what has ended by itself, and may.
    #[test]
    fn a_subscription_with_a_thread_is_gone_once_it_has_ended() {
        let (pool, objects) = (Pool::new(PoolOptions::default()).unwrap(), Objects::new().unwrap());
        let handle = objects.subscribers.table.reserve().unwrap();
        let (stream, nobody) =
            (pool.subscribe(EventMask(0)).unwrap(), UserData::new(std::ptr::null_mut(), None));
        let subscriber =
            Subscriber::with_thread((&objects.subscribers, handle), stream, None, nobody).unwrap();
        objects.subscribers.table.fill(handle, subscriber.clone());
        subscriber.listen();
        let kept = Arc::downgrade(&subscriber);
        drop(subscriber);
        let closing = pool.close();
        pool.block_on(closing).unwrap();
        let hang = Instant::now() + Duration::from_secs(90);
        assert!(objects.subscribers.threads.wait_until_quiet(hang));
        assert!(kept.upgrade().is_none() && objects.subscribers.table.find(handle).is_err());
        assert!(objects.subscribers.table.revoke(handle).unwrap().is_none());
    }

    const POOLS: usize = 5_000;
}
