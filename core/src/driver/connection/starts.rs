//! How many servers of a pool connect at one time, and in which order (SPEC 14.1).
//!
//! An incarnation takes its turn when it begins, in the order of the pool's wishes, and goes on
//! once it has a place. Until then it has asked, started and dialled nothing, and its time to
//! connect has not begun. It keeps its place until its attempt is over, however that ended, and for
//! [`BURST`] at the most: a place is for the work that a start makes here, and no server waits for
//! one that is slow.
//!
//! 1. Never more than `places` are given out.
//! 2. Nobody waits while a place is free.
//! 3. Who is early goes before who is late, and among those who came first.
//! 4. Who is dropped has no place, and waits for none.
//!
//! The reducer does not know of turns: a state beside the wait for a process slot would say the
//! same, and cost every rule a case. A host's own server takes no place, because its code may wait
//! for another server of the pool.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::oneshot;
use trunkline_pool::state::KeyId;

/// Who goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StartPriority {
    /// Somebody wants tools of the server loaded whatever else is deferred, or uses it already.
    Early,
    /// Everybody else.
    #[default]
    Late,
}

impl StartPriority {
    /// Of a server with these patterns of tools that are always loaded.
    pub(crate) fn of(always_load: &[String]) -> StartPriority {
        if always_load.is_empty() { StartPriority::Late } else { StartPriority::Early }
    }
}

/// The places of one pool.
pub(in crate::driver) struct Starts {
    places: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    taken: usize,
    last: u64,
    /// Who waits, in order. There are no more of them than there are entries.
    waiting: BTreeMap<(StartPriority, u64), StartWaiter>,
}

/// Somebody who waits.
struct StartWaiter {
    key: KeyId,
    give: oneshot::Sender<()>,
}

/// A place, or a turn to get one. Dropping it gives either back.
pub(in crate::driver) struct StartPermit {
    starts: Arc<Starts>,
    /// Nobody else's, whatever the turn is.
    number: u64,
    given: Option<oneshot::Receiver<()>>,
}

impl Starts {
    /// So many places; without a number, as many as suit this machine.
    pub(in crate::driver) fn new(places: Option<usize>) -> Arc<Starts> {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let places = places.unwrap_or_else(|| PLACES_MIN.max(cores() * PLACES_PER_CORE));
        Arc::new(Starts { places, state: Mutex::default() })
    }

    /// Takes a place for a connection of that key, or a turn to get one.
    pub(in crate::driver) fn queue(
        self: &Arc<Self>,
        turn: StartPriority,
        key: KeyId,
    ) -> StartPermit {
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        let given = if state.taken < self.places {
            state.taken += 1;
            None
        } else {
            let (give, given) = oneshot::channel();
            state.waiting.insert((turn, number), StartWaiter { key, give });
            Some(given)
        };
        drop(state);
        StartPermit { starts: self.clone(), number, given }
    }

    /// A waiter for a connection of that key is early from now on.
    pub(in crate::driver) fn hasten(&self, key: KeyId) {
        let mut state = self.state();
        let are_late = state
            .waiting
            .iter()
            .filter(|((turn, _), waiting)| *turn != StartPriority::Early && waiting.key == key);
        let numbers: Vec<_> = are_late.map(|(number, _)| *number).collect();
        for (turn, number) in numbers {
            if let Some(waiting) = state.waiting.remove(&(turn, number)) {
                state.waiting.insert((StartPriority::Early, number), waiting);
            }
        }
    }

    /// How many there are.
    #[cfg(test)]
    pub(in crate::driver) fn places(&self) -> usize {
        self.places
    }

    /// How many wait.
    #[cfg(test)]
    pub(in crate::driver) fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl StartPermit {
    /// Whether it was one at once, or somebody has waited for it.
    pub(in crate::driver) fn is_given(&self) -> bool {
        self.given.is_none()
    }

    /// Waits until it is a place. A dropped future leaves the turn as it is.
    pub(in crate::driver) async fn given(&mut self) {
        if let Some(given) = &mut self.given {
            // The sender is in the queue for as long as this is, and goes out of it to give the
            // place.
            let _ = given.await;
            self.given = None;
        }
    }

    /// Does it with the place, which is given on when that is over, or lasts too long. A dropped
    /// future gives it on too.
    pub(in crate::driver) async fn during<T>(self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            over = &mut work => return over,
            () = tokio::time::sleep(BURST) => drop(self),
        }
        work.await
    }
}

impl Drop for StartPermit {
    fn drop(&mut self) {
        let mut state = self.starts.state();
        let turns = [StartPriority::Early, StartPriority::Late];
        if turns.iter().any(|turn| state.waiting.remove(&(*turn, self.number)).is_some()) {
            return;
        }
        let next = state.waiting.pop_first();
        if next.is_none() {
            state.taken -= 1;
        }
        drop(state);
        if let Some((_, next)) = next {
            // The place goes from hand to hand. Who is dropped at this moment has given it on
            // already.
            let _ = next.give.send(());
        }
    }
}

/// Servers that connect at one time for each core: the start of a process keeps a core busy for a
/// part of the time only, and the rest of the attempt is waiting.
const PLACES_PER_CORE: usize = 2;

/// On a machine with one core as well, a few slow servers leave room for others.
const PLACES_MIN: usize = 4;

/// How long an attempt keeps its place. An interpreter has read its program by then, as a rule, and
/// waits for something else than this machine; as many servers as there are places that never
/// answer hold up the others for no longer.
const BURST: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    use futures_util::FutureExt;

    /// Of whatever it is.
    const KEY: KeyId = KeyId(0);

    fn has(place: &mut StartPermit) -> bool {
        place.given().now_or_never().is_some()
    }

    fn waiting(starts: &Starts) -> (usize, usize) {
        let state = starts.state();
        (state.taken, state.waiting.len())
    }

    /// SPEC 14.1.
    #[test]
    fn so_many_have_a_place_and_the_next_is_given_to_who_came_first() {
        let starts = Starts::new(Some(2));
        let mut all: Vec<StartPermit> =
            (0..5).map(|_| starts.queue(StartPriority::Late, KEY)).collect();
        let given = |all: &mut [StartPermit]| all.iter_mut().map(has).collect::<Vec<_>>();
        assert_eq!(given(&mut all), [true, true, false, false, false]);
        drop(all.remove(1));
        assert_eq!(given(&mut all), [true, true, false, false]);
        drop(all.remove(0));
        assert_eq!(given(&mut all), [true, true, false]);
        drop(all);
        assert_eq!(waiting(&starts), (0, 0));
    }

    /// SPEC 14.1: what is always loaded goes first, also when it comes late.
    #[test]
    fn who_is_early_goes_before_who_came_first() {
        let starts = Starts::new(Some(1));
        let first = starts.queue(StartPriority::Late, KEY);
        let (mut second, mut early) =
            (starts.queue(StartPriority::Late, KEY), starts.queue(StartPriority::Early, KEY));
        let mut earlier_still = starts.queue(StartPriority::Early, KEY);
        drop(first);
        assert!(has(&mut early) && !has(&mut second) && !has(&mut earlier_still));
        drop(early);
        assert!(has(&mut earlier_still) && !has(&mut second));
        drop(earlier_still);
        assert!(has(&mut second));
    }

    /// SPEC 14.1: a server that is wanted early once it waits goes before those that came first.
    #[test]
    fn who_is_hastened_is_early_from_then_on() {
        let starts = Starts::new(Some(1));
        let first = starts.queue(StartPriority::Late, KEY);
        let mut late = starts.queue(StartPriority::Late, KEY);
        let [mut one, mut other] = [1, 1].map(|key| starts.queue(StartPriority::Late, KeyId(key)));
        starts.hasten(KeyId(1));
        starts.hasten(KeyId(2));
        drop(first);
        assert!(has(&mut one) && !has(&mut late) && !has(&mut other));
        drop(one);
        assert!(has(&mut other) && !has(&mut late));
        drop(late);
        drop(other);
        assert_eq!(waiting(&starts), (0, 0));
    }

    /// SPEC 14.1: a slow one keeps one place, and those behind it go past.
    #[test]
    fn who_keeps_its_place_for_long_holds_up_nobody_else() {
        let starts = Starts::new(Some(2));
        let _slow = starts.queue(StartPriority::Late, KEY);
        for _ in 0..100 {
            assert!(has(&mut starts.queue(StartPriority::Late, KEY)));
        }
        assert_eq!(waiting(&starts), (1, 0));
    }

    /// Who leaves the queue is passed over; who leaves between the gift and the look gives the
    /// place on.
    #[test]
    fn who_goes_gives_up_its_turn_or_its_place() {
        let starts = Starts::new(Some(1));
        let first = starts.queue(StartPriority::Late, KEY);
        let (gone, unseen) =
            (starts.queue(StartPriority::Late, KEY), starts.queue(StartPriority::Late, KEY));
        let mut last = starts.queue(StartPriority::Late, KEY);
        drop(gone);
        assert_eq!(waiting(&starts), (1, 2));
        drop(first);
        assert_eq!(waiting(&starts), (1, 1));
        drop(unseen);
        assert!(has(&mut last));
        drop(last);
        assert_eq!(waiting(&starts), (0, 0));
    }

    /// SPEC 14.1: at many at once from many threads the bound holds, everybody gets a place, and
    /// none is left over.
    #[test]
    fn the_bound_is_never_passed_whoever_comes_and_goes() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let (starts, at_one_time) = (Starts::new(Some(3)), AtomicUsize::new(0));
        let take = |thread: usize| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            for round in 0..2000 {
                let turn = if (thread + round).is_multiple_of(5) {
                    StartPriority::Early
                } else {
                    StartPriority::Late
                };
                let mut place = starts.queue(turn, KEY);
                if (thread + round).is_multiple_of(3) {
                    continue;
                }
                runtime.block_on(place.given());
                assert!(at_one_time.fetch_add(1, Ordering::SeqCst) < 3);
                at_one_time.fetch_sub(1, Ordering::SeqCst);
            }
        };
        std::thread::scope(|scope| {
            (0..8).for_each(|thread| drop(scope.spawn(move || take(thread))));
        });
        assert_eq!(waiting(&starts), (0, 0));
    }

    #[test]
    fn without_a_number_there_are_at_least_four_places() {
        assert!(Starts::new(None).places >= PLACES_MIN);
        assert_eq!(Starts::new(Some(1)).places, 1);
    }
}
