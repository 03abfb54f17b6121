//! Tables of handles: an index and a generation, so that a stale handle is told from a live one.
//!
//! A handle is 64 bits: 3 for the kind of object, 16 for the pool, 24 for the generation of the
//! slot, 21 for its index. Zero is never a handle. A slot whose generations are used up is retired,
//! and a pool goes on where its number's last pool ended. So a handle never comes back.

#[cfg(all(test, feature = "schedules"))]
mod schedules;

use std::sync::PoisonError;

use trunkline::interface::words;
use trunkline::{Error, ErrorCode, Result};

use crate::handles::sync::{Mutex, MutexGuard};

/// What a handle stands for; the number is part of the handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Session = 1,
    Lease = 2,
    Operation = 3,
    Subscription = 4,
    Connection = 5,
}

impl Kind {
    /// The word for it in messages, and the name of the parameter.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Session => "session",
            Kind::Lease => "lease",
            Kind::Operation => "op",
            Kind::Subscription => "subscription",
            Kind::Connection => "connection",
        }
    }
}

/// The objects of one kind in one pool.
pub(crate) struct Table<T> {
    kind: Kind,
    pool: u16,
    slots: Mutex<Slots<T>>,
}

struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    open: bool,
    before: Generations,
}

/// By index, the generation with which a slot goes on; 1 for those that are not in it.
pub(crate) type Generations = Vec<u32>;

struct Slot<T> {
    generation: u32,
    content: SlotContent<T>,
}

enum SlotContent<T> {
    Free,
    /// The handle is given out, its object is still being made.
    Reserved,
    /// The same, and the filler gets the object back.
    Revoked,
    Full(T),
}

impl<T> Table<T> {
    /// An empty table. `before`: the [`generations`](Self::generations) of the one before it with
    /// that kind and pool.
    pub(crate) fn new(kind: Kind, pool: u16, before: Generations) -> Self {
        let slots = Slots { slots: Vec::new(), free: Vec::new(), open: true, before };
        Table { kind, pool, slots: Mutex::new(slots) }
    }

    /// Where the next table with its kind and pool goes on.
    pub(crate) fn generations(&self) -> Generations {
        self.lock().generations()
    }

    /// Puts an object in and gives its handle.
    ///
    /// # Errors
    /// `limit` when the table is full, `closed` after [`clear`](Self::clear).
    pub(crate) fn insert(&self, value: T) -> Result<u64> {
        self.lock().occupy(SlotContent::Full(value)).map(|slot| self.handle(slot))
    }

    /// A handle whose object comes later by [`fill`](Self::fill), or never if it is removed before.
    ///
    /// # Errors
    /// As of [`insert`](Self::insert).
    pub(crate) fn reserve(&self) -> Result<u64> {
        self.lock().occupy(SlotContent::Reserved).map(|slot| self.handle(slot))
    }

    /// Puts in the object of a reserved handle; gives it back when the handle is gone or was
    /// revoked.
    pub(crate) fn fill(&self, handle: u64, value: T) -> Option<T> {
        let mut slots = self.lock();
        match self.slot(&mut slots, handle) {
            Some(slot) if !matches!(slot.content, SlotContent::Revoked) => {
                slot.content = SlotContent::Full(value);
                None
            }
            _ => Some(value),
        }
    }

    /// Takes the object out. `None` when the handle is not one of a live object.
    pub(crate) fn remove(&self, handle: u64) -> Option<T> {
        let mut slots = self.lock();
        let slot = self.slot(&mut slots, handle)?;
        let content = std::mem::replace(&mut slot.content, SlotContent::Free);
        slot.generation += 1;
        if slot.generation <= GENERATION_MAX {
            slots.free.push((handle & INDEX_MASK) as u32);
        }
        match content {
            SlotContent::Full(value) => Some(value),
            SlotContent::Reserved | SlotContent::Revoked | SlotContent::Free => None,
        }
    }

    /// Takes everything out, for ever: no handle is good afterwards.
    pub(crate) fn clear(&self) -> Vec<T> {
        let mut slots = self.lock();
        slots.open = false;
        slots.before = slots.generations();
        slots.free.clear();
        let all = std::mem::take(&mut slots.slots);
        drop(slots);
        let full = |slot: Slot<T>| match slot.content {
            SlotContent::Full(value) => Some(value),
            SlotContent::Reserved | SlotContent::Revoked | SlotContent::Free => None,
        };
        all.into_iter().filter_map(full).collect()
    }

    fn slot<'a>(&self, slots: &'a mut Slots<T>, handle: u64) -> Option<&'a mut Slot<T>> {
        if !self.is_ours(handle) {
            return None;
        }
        let slot = slots.slots.get_mut((handle & INDEX_MASK) as usize)?;
        let live = !matches!(slot.content, SlotContent::Free);
        (live && slot.generation == generation_of(handle)).then_some(slot)
    }

    /// Whether the handle was given out by this table, be its object live or gone.
    fn was_issued(&self, slots: &Slots<T>, handle: u64) -> bool {
        let index = (handle & INDEX_MASK) as usize;
        let generation = generation_of(handle);
        self.is_ours(handle)
            && generation >= slots.first(index)
            && slots.slots.get(index).is_some_and(|slot| match slot.content {
                SlotContent::Free => generation < slot.generation,
                SlotContent::Reserved | SlotContent::Revoked | SlotContent::Full(_) => {
                    generation <= slot.generation
                }
            })
    }

    fn is_ours(&self, handle: u64) -> bool {
        handle >> KIND_SHIFT == self.kind as u64
            && (handle >> POOL_SHIFT) & u64::from(POOL_MASK) == u64::from(self.pool)
    }

    fn handle(&self, (index, generation): (u32, u32)) -> u64 {
        (self.kind as u64) << KIND_SHIFT
            | u64::from(self.pool) << POOL_SHIFT
            | u64::from(generation) << GENERATION_SHIFT
            | u64::from(index)
    }

    fn lock(&self) -> MutexGuard<'_, Slots<T>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> Table<T> {
    /// The object of a handle.
    ///
    /// # Errors
    /// `bad_handle` when it is stale, released, of another kind, of another pool, or not filled
    /// yet.
    pub(crate) fn find(&self, handle: u64) -> Result<T> {
        let mut slots = self.lock();
        match self.slot(&mut slots, handle).map(|slot| &slot.content) {
            Some(SlotContent::Full(value)) => Ok(value.clone()),
            _ => Err(bad_handle(self.kind)),
        }
    }

    /// The object of a handle, to end it. One that is still being made comes back from
    /// [`fill`](Self::fill) for that; one that is gone is nobody's.
    ///
    /// # Errors
    /// `bad_handle` when the handle was never given out.
    pub(crate) fn revoke(&self, handle: u64) -> Result<Option<T>> {
        let mut slots = self.lock();
        if !self.was_issued(&slots, handle) {
            return Err(bad_handle(self.kind));
        }
        let Some(slot) = self.slot(&mut slots, handle) else { return Ok(None) };
        match &slot.content {
            SlotContent::Full(value) => Ok(Some(value.clone())),
            SlotContent::Reserved | SlotContent::Revoked | SlotContent::Free => {
                slot.content = SlotContent::Revoked;
                Ok(None)
            }
        }
    }
}

impl<T> Slots<T> {
    fn occupy(&mut self, content: SlotContent<T>) -> Result<(u32, u32)> {
        if !self.open {
            return Err(Error::new(ErrorCode::Closed, "the pool is freed"));
        }
        if let Some(index) = self.free.pop() {
            let slot = &mut self.slots[index as usize];
            slot.content = content;
            return Ok((index, slot.generation));
        }
        while self.first(self.slots.len()) > GENERATION_MAX {
            self.slots.push(Slot { generation: GENERATION_MAX + 1, content: SlotContent::Free });
        }
        let (index, generation) = (self.slots.len() as u64, self.first(self.slots.len()));
        if index > INDEX_MASK {
            return Err(Error::new(ErrorCode::Limit, "too many handles are in use")
                .with_detail("limit", words::limit::HANDLES));
        }
        self.slots.push(Slot { generation, content });
        Ok((index as u32, generation))
    }

    /// The first generation of a slot in this table.
    fn first(&self, index: usize) -> u32 {
        self.before.get(index).copied().unwrap_or(1)
    }

    fn generations(&self) -> Generations {
        let next = |slot: &Slot<T>| match slot.content {
            SlotContent::Free => slot.generation,
            SlotContent::Reserved | SlotContent::Revoked | SlotContent::Full(_) => {
                slot.generation + 1
            }
        };
        let unused = self.before.iter().skip(self.slots.len()).copied();
        self.slots.iter().map(next).chain(unused).collect()
    }
}

/// The answer to a handle that is stale, released or foreign.
pub(crate) fn bad_handle(kind: Kind) -> Error {
    let message =
        format!("the {} handle is stale, released, or of another pool or kind", kind.name());
    Error::new(ErrorCode::BadHandle, message).with_detail("path", kind.name())
}

fn generation_of(handle: u64) -> u32 {
    (handle >> GENERATION_SHIFT) as u32 & GENERATION_MAX
}

const KIND_SHIFT: u32 = 61;
const POOL_SHIFT: u32 = 45;
/// Also the bound: 65,536 pools at a time.
pub(crate) const POOL_MASK: u16 = u16::MAX;
const GENERATION_SHIFT: u32 = 21;
const GENERATION_MAX: u32 = 0xff_ffff;
/// Also the bound: 2,097,152 objects of one kind in one pool.
const INDEX_MASK: u64 = 0x1f_ffff;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// SPEC 16.2: a handle that was released never stands for the object that comes next.
    #[test]
    fn a_removed_handle_stays_bad_when_its_slot_is_used_again() {
        let table = Table::new(Kind::Lease, 7, Vec::new());
        let first = table.insert("first").unwrap();
        assert_eq!(table.remove(first), Some("first"));
        let second = table.insert("second").unwrap();
        assert_ne!(first, second);
        assert_eq!(first & INDEX_MASK, second & INDEX_MASK);
        assert_eq!(table.find(first).unwrap_err().code(), ErrorCode::BadHandle);
        assert_eq!(table.remove(first), None);
        assert_eq!(table.find(second).unwrap(), "second");
    }

    /// SPEC 16.2
    #[test]
    fn a_handle_of_another_kind_or_pool_is_bad() {
        let (ours, kind, pool) = (
            Table::new(Kind::Lease, 1, Vec::new()),
            Table::new(Kind::Session, 1, Vec::new()),
            Table::new(Kind::Lease, 2, Vec::new()),
        );
        let handle = ours.insert(()).unwrap();
        kind.insert(()).unwrap();
        pool.insert(()).unwrap();
        assert!(kind.find(handle).is_err() && pool.find(handle).is_err());
        assert!(ours.find(handle).is_ok());
    }

    #[test]
    fn a_handle_removed_before_it_was_filled_gives_the_object_back() {
        let table = Table::new(Kind::Operation, 1, Vec::new());
        let handle = table.reserve().unwrap();
        assert_eq!(table.find(handle).unwrap_err().code(), ErrorCode::BadHandle);
        assert_eq!(table.remove(handle), None);
        assert_eq!(table.fill(handle, 5), Some(5));
    }

    /// SPEC 5.5
    #[test]
    fn what_is_revoked_is_given_out_once_it_is_there() {
        let table = Table::new(Kind::Operation, 1, Vec::new());
        let [before, after] = [table.reserve().unwrap(), table.reserve().unwrap()];
        assert_eq!(table.revoke(before).unwrap(), None);
        assert_eq!((table.fill(before, 1), table.fill(after, 2)), (Some(1), None));
        assert_eq!(table.revoke(after).unwrap(), Some(2));
        assert_eq!((table.remove(before), table.remove(after)), (None, Some(2)));
        assert_eq!(table.revoke(after).unwrap(), None);
        assert!(table.revoke(after + (1 << GENERATION_SHIFT)).is_err());
    }

    #[test]
    fn a_slot_is_retired_when_its_generations_are_used_up() {
        let table = Table::new(Kind::Lease, 1, Vec::new());
        let first = table.insert(0).unwrap();
        table.lock().slots[0].generation = GENERATION_MAX;
        let last = first | u64::from(GENERATION_MAX) << GENERATION_SHIFT;
        assert_eq!(table.remove(last), Some(0));
        let next = table.insert(1).unwrap();
        assert_eq!(next & INDEX_MASK, 1);
    }

    /// S-46
    #[test]
    fn a_table_goes_on_where_the_one_before_it_ended() {
        let table = Table::new(Kind::Lease, 1, Vec::new());
        let [released, live, reserved] =
            [table.insert(0).unwrap(), table.insert(0).unwrap(), table.reserve().unwrap()];
        table.remove(released);
        table.clear();
        let next = Table::new(Kind::Lease, 1, table.generations());
        let first = next.insert(1).unwrap();
        assert_eq!(next.generations().len(), 3);
        for handle in [released, live, reserved] {
            assert!(next.find(handle).is_err() && next.revoke(handle).is_err());
        }
        assert_eq!(next.find(first).unwrap(), 1);
        let worn = Table::new(Kind::Lease, 1, vec![GENERATION_MAX + 1, GENERATION_MAX]);
        let indexes = [0, 1].map(|value| worn.insert(value).unwrap() & INDEX_MASK);
        assert_eq!(indexes, [1, 2]);
    }

    #[test]
    fn a_cleared_table_gives_everything_back_and_takes_nothing() {
        let table = Table::new(Kind::Lease, 1, Vec::new());
        let handle = table.insert(1).unwrap();
        table.reserve().unwrap();
        assert_eq!(table.clear(), [1]);
        assert_eq!(table.find(handle).unwrap_err().code(), ErrorCode::BadHandle);
        assert_eq!(table.insert(2).unwrap_err().code(), ErrorCode::Closed);
    }

    /// S-46: eight threads on one table never see one another's objects, and no handle is given out
    /// twice.
    #[test]
    fn threads_that_share_a_table_never_get_one_handle_twice() {
        let table = Table::new(Kind::Lease, 1, Vec::new());
        let work = |thread: u64| {
            let mut seen = Vec::new();
            for round in 0..5_000 {
                let value = thread << 32 | round;
                let handle = table.insert(value).unwrap();
                assert_eq!(table.find(handle).unwrap(), value);
                assert_eq!(table.remove(handle), Some(value));
                assert_eq!(table.remove(handle), None);
                seen.push(handle);
            }
            seen
        };
        let handles: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || work(thread))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(handles.iter().collect::<HashSet<_>>().len(), handles.len());
    }

    /// SPEC 16.2, S-46: a million handles made up at random hit nothing.
    #[test]
    fn random_handles_are_bad() {
        let table = Table::new(Kind::Lease, 1, Vec::new());
        let live: HashSet<u64> = (0..100).map(|value| table.insert(value).unwrap()).collect();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..1_000_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            assert_eq!(table.find(state).is_ok(), live.contains(&state));
        }
    }
}
