//! A stream of events that a model feeds, where it is no subscription: the library's own is checked
//! in its own models.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use shuttle::sync::{Mutex, MutexGuard};
use trunkline::{Event, Subscription};

/// What a subscriber reads.
pub(crate) enum Stream {
    Subscribed(Subscription),
    #[cfg_attr(not(test), expect(dead_code, reason = "a model makes it"))]
    Fed(Arc<Fed>),
}

/// Events of a model. It is woken as a subscription is: when it goes from empty to not empty, by
/// the thread that tells more until that has been done, and when it ends.
#[derive(Default)]
pub(crate) struct Fed {
    state: Mutex<State>,
    wake: Mutex<Option<Wake>>,
    /// Held while the wake function runs.
    turn: Mutex<()>,
}

type Wake = Arc<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct State {
    events: VecDeque<Event>,
    /// How often it went from empty to not empty, and of these, how often it had been woken.
    filled: usize,
    woken: usize,
    ended: bool,
}

#[cfg_attr(not(test), expect(dead_code, reason = "a model feeds it"))]
impl Fed {
    pub(crate) fn tell(&self, event: Event) {
        let wakes = {
            let mut state = self.lock();
            state.events.push_back(event);
            state.filled += usize::from(state.events.len() == 1);
            state.woken < state.filled
        };
        if wakes {
            self.wake();
        }
    }

    pub(crate) fn end(&self) {
        self.lock().ended = true;
        self.wake();
    }
}

impl Fed {
    fn set_wake(&self, wake: impl Fn() + Send + Sync + 'static) {
        let before =
            self.wake.lock().unwrap_or_else(PoisonError::into_inner).replace(Arc::new(wake));
        drop(before);
        let waits = {
            let state = self.lock();
            !state.events.is_empty() || state.ended
        };
        if waits {
            self.wake();
        }
    }

    fn wake(&self) {
        let filled = self.lock().filled;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let wake = self.wake.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(wake) = wake {
            wake();
        }
        let mut state = self.lock();
        state.woken = state.woken.max(filled);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    pub(crate) fn try_next(&self) -> Option<Event> {
        match self {
            Stream::Subscribed(stream) => stream.try_next(),
            Stream::Fed(fed) => fed.lock().events.pop_front(),
        }
    }

    pub(crate) fn is_ended(&self) -> bool {
        match self {
            Stream::Subscribed(stream) => stream.is_ended(),
            Stream::Fed(fed) => {
                let state = fed.lock();
                state.ended && state.events.is_empty()
            }
        }
    }

    pub(crate) fn set_wake(&self, wake: impl Fn() + Send + Sync + 'static) {
        match self {
            Stream::Subscribed(stream) => stream.set_wake(wake),
            Stream::Fed(fed) => fed.set_wake(wake),
        }
    }

    pub(crate) fn set_wake_in_order(&self, wake: impl Fn() + Send + Sync + 'static) {
        match self {
            Stream::Subscribed(stream) => stream.set_wake_in_order(wake),
            Stream::Fed(fed) => fed.set_wake(wake),
        }
    }
}

impl Drop for Stream {
    /// As with a subscription, no wake function runs when it returns.
    fn drop(&mut self) {
        if let Stream::Fed(fed) = self {
            let before = fed.wake.lock().unwrap_or_else(PoisonError::into_inner).take();
            drop(before);
            drop(fed.turn.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl From<Subscription> for Stream {
    fn from(stream: Subscription) -> Stream {
        Stream::Subscribed(stream)
    }
}
