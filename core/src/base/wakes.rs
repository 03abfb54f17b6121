//! Wake-ups, and batches of them: what many are told at one time wakes them when all of them were
//! told.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::base::sync::thread_local;

/// Something that can be woken. A wake-up comes on a thread of the library, or on one that calls
/// into it; it must not block.
pub(crate) trait Wake {
    /// Wakes it.
    fn wake(&self);
}

type WakeQueue = Vec<Arc<dyn Wake>>;

/// What this thread has not woken yet.
#[derive(Default)]
struct Pending {
    /// Those that a batch tells of; nothing outside of one.
    told: Option<WakeQueue>,
    /// Those whom these wake in turn; nothing outside of a batch. It is there whenever `told` is.
    behind: Option<WakeQueue>,
}

thread_local! {
    static PENDING: RefCell<Pending> = RefCell::default();
}

/// Wakes who was told something: now, or at the end of this thread's batch.
pub(crate) fn wake(one: Arc<impl Wake + 'static>) {
    later(one, |pending| &mut pending.told);
}

/// The same of one with many behind it, who each wake it: in a batch it is woken after all of them.
pub(crate) fn wake_behind(one: &Arc<impl Wake + 'static>) {
    later(one.clone(), |pending| &mut pending.behind);
}

fn later(one: Arc<impl Wake + 'static>, which: fn(&mut Pending) -> &mut Option<WakeQueue>) {
    if Pending::with(|pending| which(pending).is_some()) != Some(true) {
        return one.wake();
    }
    Pending::with(|pending| which(pending).get_or_insert_default().push(one));
}

/// Wakes now all that this thread's batch told so far, and those behind them; without a batch there
/// is nobody.
pub(crate) fn wake_so_far() {
    let is_open = |pending: &mut Pending| (pending.told.is_some(), pending.behind.is_some());
    let (ends_told, ends_behind) = Pending::with(is_open).unwrap_or_default();
    if ends_behind {
        drop(Batch { ends_told, ends_behind });
        std::mem::forget(if ends_told { Batch::begin() } else { Batch::of_those_behind() });
    }
}

impl Pending {
    /// Of this thread. A thread that ends has none.
    fn with<T>(look: impl FnOnce(&mut Pending) -> T) -> Option<T> {
        PENDING.try_with(|pending| look(&mut pending.borrow_mut())).ok()
    }

    fn wake_all(which: fn(&mut Pending) -> Option<WakeQueue>) {
        // What a wake-up itself brings about wakes at once, but for those who stand behind.
        let waiting = Pending::with(which).flatten();
        waiting.into_iter().flatten().for_each(wake_safely);
    }
}

/// As long as it lives, this thread wakes nobody; its end wakes all. A second one on the same
/// thread is part of the first.
pub(crate) struct Batch {
    ends_told: bool,
    ends_behind: bool,
}

impl Batch {
    /// Begins one.
    pub(crate) fn begin() -> Batch {
        let ends_behind = Batch::open(|pending| &mut pending.behind);
        Batch { ends_told: Batch::open(|pending| &mut pending.told), ends_behind }
    }

    /// Begins one in which only those wait who stand behind others: each of the others is woken at
    /// once.
    pub(crate) fn of_those_behind() -> Batch {
        Batch { ends_told: false, ends_behind: Batch::open(|pending| &mut pending.behind) }
    }

    /// Whether it is the one that began.
    fn open(which: fn(&mut Pending) -> &mut Option<WakeQueue>) -> bool {
        let open = |pending: &mut Pending| {
            let waiting = which(pending);
            let is_new = waiting.is_none();
            waiting.get_or_insert_default();
            is_new
        };
        Pending::with(open).unwrap_or(false)
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        if self.ends_told {
            Pending::wake_all(|pending| pending.told.take());
        }
        if self.ends_behind {
            Pending::wake_all(|pending| pending.behind.take());
        }
    }
}

/// The host's code: its panic ends here.
fn wake_safely(one: Arc<dyn Wake>) {
    // It may be the last that holds what the host's function does.
    if catch_unwind(AssertUnwindSafe(move || one.wake())).is_err() {
        tracing::error!("a wake-up panicked");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    struct Noting(&'static str, Arc<Mutex<Vec<&'static str>>>);

    impl Wake for Noting {
        fn wake(&self) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    struct InTurn(Arc<Noting>, Arc<Noting>);

    impl Wake for InTurn {
        fn wake(&self) {
            self.0.wake();
            wake_behind(&self.1);
            if self.0.0 == "panics" {
                panic!("as a host's function may");
            }
        }
    }

    /// SPEC 16.2: a batch wakes each who was told once all were told, in that order, whatever
    /// becomes of one of them. Those behind them are woken last.
    #[test]
    fn a_batch_wakes_at_its_end() {
        let seen = Arc::default();
        let noting = |name| Arc::new(Noting(name, Arc::clone(&seen)));
        let behind = noting("behind");
        let in_turn = |name| Arc::new(InTurn(noting(name), behind.clone()));
        let batch = Batch::begin();
        wake(in_turn("panics"));
        wake_behind(&behind);
        drop(Batch::begin());
        wake(in_turn("second"));
        assert_eq!(*seen.lock().unwrap(), [""; 0]);
        drop(batch);
        let all = ["panics", "second", "behind", "behind", "behind"];
        assert_eq!(*seen.lock().unwrap(), all);
        wake(noting("at once"));
        assert_eq!(seen.lock().unwrap().last(), Some(&"at once"));
    }

    /// The host may have given up the woken one meanwhile, and its function goes with it.
    #[test]
    fn what_panics_when_it_is_dropped_stops_no_batch() {
        struct Panicking;
        impl Wake for Panicking {
            fn wake(&self) {}
        }
        impl Drop for Panicking {
            fn drop(&mut self) {
                panic!("as what a host's function holds may");
            }
        }
        let seen = Arc::default();
        let noting = |name| Arc::new(Noting(name, Arc::clone(&seen)));
        let batch = Batch::begin();
        wake(Arc::new(Panicking));
        wake(noting("after"));
        wake_behind(&Arc::new(Panicking));
        wake_behind(&noting("behind"));
        drop(batch);
        assert_eq!(*seen.lock().unwrap(), ["after", "behind"]);
    }

    /// What was told so far is woken amid a batch, each once, and the batch goes on.
    #[test]
    fn a_batch_may_wake_amid_it() {
        let seen = Arc::default();
        let noting = |name| Arc::new(Noting(name, Arc::clone(&seen)));
        wake_so_far();
        let batch = Batch::begin();
        wake_behind(&noting("behind"));
        wake(noting("first"));
        let inner = Batch::begin();
        wake_so_far();
        assert_eq!(*seen.lock().unwrap(), ["first", "behind"]);
        wake(noting("second"));
        drop(inner);
        assert_eq!(seen.lock().unwrap().len(), 2);
        drop(batch);
        assert_eq!(*seen.lock().unwrap(), ["first", "behind", "second"]);
        wake(noting("at once"));
        assert_eq!(seen.lock().unwrap().len(), 4);
    }

    /// SPEC 16.2: who is told is woken at once where only those behind wait, or when a batch within
    /// ends. So the news keep their order; those behind wait for the outer end.
    #[test]
    fn a_batch_may_be_of_those_behind_alone() {
        let seen = Arc::default();
        let noting = |name| Arc::new(Noting(name, Arc::clone(&seen)));
        let batch = Batch::of_those_behind();
        wake_behind(&noting("behind"));
        wake(noting("at once"));
        let inner = Batch::begin();
        wake(noting("at the end of the inner one"));
        assert_eq!(*seen.lock().unwrap(), ["at once"]);
        drop(inner);
        assert_eq!(*seen.lock().unwrap(), ["at once", "at the end of the inner one"]);
        drop(batch);
        assert_eq!(seen.lock().unwrap().last(), Some(&"behind"));
    }

    /// Where a stream is half full its event loop is woken, whatever else is to be read together
    /// with that.
    #[test]
    fn those_behind_alone_are_woken_so_far_as_well() {
        let seen = Arc::default();
        let noting = |name| Arc::new(Noting(name, Arc::clone(&seen)));
        let batch = Batch::of_those_behind();
        wake_behind(&noting("before"));
        wake_so_far();
        assert_eq!(*seen.lock().unwrap(), ["before"]);
        wake_behind(&noting("after"));
        assert_eq!(seen.lock().unwrap().len(), 1, "the batch goes on");
        drop(batch);
        assert_eq!(*seen.lock().unwrap(), ["before", "after"]);
    }

    /// A wake-up that tells somebody else wakes them at once: batches do not go on for ever.
    #[test]
    fn what_a_wake_up_brings_about_wakes_at_once() {
        struct Telling(Arc<Noting>);
        impl Wake for Telling {
            fn wake(&self) {
                wake(self.0.clone());
                self.0.1.lock().unwrap().push("told");
            }
        }
        let seen = Arc::default();
        let other = Arc::new(Noting("other", Arc::clone(&seen)));
        let batch = Batch::begin();
        wake(Arc::new(Telling(other)));
        drop(batch);
        assert_eq!(*seen.lock().unwrap(), ["other", "told"]);
    }
}
