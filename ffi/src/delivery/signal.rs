//! What threads that call the host wait for, and who waits for them.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::abi::guard::forks;

/// What a thread that calls the host waits for, and what is waited for from it.
#[derive(Default)]
pub(crate) struct Signal {
    state: Mutex<SignalState>,
    changed: Condvar,
    /// The one whose end the callback of this thread waits for; of any pool.
    waits_for: Mutex<Option<Arc<Signal>>>,
}

#[derive(Default)]
struct SignalState {
    woken: bool,
    stopped: bool,
    finished: bool,
}

impl Signal {
    /// There is something to do.
    pub(crate) fn wake(&self) {
        self.change(|state| state.woken = true);
    }

    /// There will be nothing more.
    pub(crate) fn stop(&self) {
        self.change(|state| state.stopped = true);
    }

    /// Waits until it is woken or stopped; whether it is stopped.
    pub(crate) fn wait_until_woken(&self) -> bool {
        self.wait_for(|state| std::mem::take(&mut state.woken) || state.stopped);
        self.lock().stopped
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    /// This thread is the one whose signal it is, until it says that it has finished.
    pub(crate) fn begin(self: &Arc<Self>) {
        CURRENT.set(Some((forks(), self.clone())));
    }

    pub(crate) fn finish(&self) {
        self.change(|state| state.finished = true);
    }

    pub(crate) fn is_current(self: &Arc<Self>) -> bool {
        Self::current().is_some_and(|current| Arc::ptr_eq(&current, self))
    }

    /// Waits for its thread to finish, unless that is this one, or waits for this one itself.
    pub(crate) fn wait_until_finished(self: &Arc<Self>) {
        let Some(mine) = Self::current() else { return self.wait_for(|state| state.finished) };
        if mine.may_wait_for(self) {
            self.wait_for(|state| state.finished);
            mine.note_wait(None);
        }
    }

    /// A thread that is ending has none: such threads run no code of the host's then. Nor has a
    /// forked child, in which the thread is not the library's.
    fn current() -> Option<Arc<Signal>> {
        let current = CURRENT.try_with(|current| current.borrow().clone()).ok().flatten();
        current.filter(|(made_at, _)| *made_at == forks()).map(|(_, signal)| signal)
    }

    fn change(&self, change: impl FnOnce(&mut SignalState)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn wait_for(&self, mut holds: impl FnMut(&mut SignalState) -> bool) {
        let mut state = self.lock();
        while !holds(&mut state) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Notes that this one's callback waits for another to return, unless that is itself, or one
    /// that waits for it, directly or through others. Noted before it looks, so that of callbacks
    /// that close a ring the last one sees it.
    fn may_wait_for(self: &Arc<Self>, other: &Arc<Signal>) -> bool {
        self.note_wait(Some(other.clone()));
        let mut next = Some(other.clone());
        while let Some(signal) = next {
            if Arc::ptr_eq(&signal, self) {
                self.note_wait(None);
                return false;
            }
            next = signal.lock_wait().clone();
        }
        true
    }

    fn note_wait(&self, other: Option<Arc<Signal>>) {
        *self.lock_wait() = other;
    }

    fn lock_wait(&self) -> MutexGuard<'_, Option<Arc<Signal>>> {
        self.waits_for.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, SignalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    /// The one whose thread this is, in the process of that many forks; none on every other thread.
    static CURRENT: RefCell<Option<(u32, Arc<Signal>)>> = const { RefCell::new(None) };
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::abi::guard::tests::holds_in_child;

    /// SPEC 16.3: who waits for whom in the parent is nothing to a child that was forked inside a
    /// callback, and may be locked there.
    #[test]
    fn a_child_that_was_forked_inside_a_callback_waits_for_its_own() {
        let parents = Arc::new(Signal::default());
        parents.begin();
        let locked = parents.lock_wait();
        let waits = holds_in_child(|| {
            let own = Arc::new(Signal::default());
            own.finish();
            own.wait_until_finished();
            true
        });
        drop(locked);
        CURRENT.take();
        assert!(waits);
    }
}
