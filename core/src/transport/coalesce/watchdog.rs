//! A thread that looks whether requests are held back for too long, while turns follow one another
//! quickly.
//!
//! Invariants:
//! 1. A turn begins only while the thread looks, and the thread looks on until no turn is left.
//! 2. What is held at two looks in a row, and was not written in between, is written at the second.
//! 3. The thread ends once [`QUIET_LOOKS`] have seen no turn, or the owner of turns is gone. It
//!    begins again when [`TURNS_BEFORE`] would have followed each other within [`QUICK`].
//!
//! Neither a park hook nor a bound in time replaces this thread. A task that always yields never
//! parks, and a blocked thread never checks a bound.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::Flush;
use crate::platform;

/// From one look to the next: a request is held for twice as long at most.
const LOOK: Duration = Duration::from_millis(1);

const QUIET_LOOKS: u32 = 20;

/// Batches of answers that come by chance, now and then, are not worth a thread.
const TURNS_BEFORE: u32 = 16;

const QUICK: Duration = Duration::from_millis(1);

/// What the thread of the turns and the one that looks know of each other.
#[derive(Debug, Default)]
pub(super) struct Watch(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    looking: WatchdogState,
    /// Turns under way.
    turns: u32,
    /// Whether one began since the last look.
    had_turns: bool,
    /// Those that hold something back.
    held: Vec<Arc<dyn Flush>>,
    /// Whether the same is held since the last look.
    is_old: bool,
    quiet_looks: u32,
}

#[derive(Clone, Copy, Debug)]
enum WatchdogState {
    /// Nobody looks; so many turns could have begun in quick succession, the last of them then.
    No { turns: u32, last: Option<Instant> },
    /// A thread was started that is to look.
    Soon,
    /// A thread looks.
    Yes,
}

impl Default for WatchdogState {
    fn default() -> Self {
        WatchdogState::No { turns: 0, last: None }
    }
}

/// What comes of a look.
#[derive(Debug)]
pub(super) enum WatchdogStep {
    /// The next one, once these have written.
    Next(Vec<Arc<dyn Flush>>),
    /// It was the last.
    Over,
}

impl Watch {
    /// Begins a turn, if somebody looks. A loop that would have had many soon has somebody.
    pub(super) fn begin(self: &Arc<Self>, now: impl FnOnce() -> Instant) -> bool {
        let mut state = self.lock();
        match &mut state.looking {
            WatchdogState::Yes => {
                state.turns += 1;
                state.had_turns = true;
                return true;
            }
            WatchdogState::Soon => return false,
            WatchdogState::No { turns, last } => {
                let now = now();
                let is_quick = last.is_some_and(|last| now.duration_since(last) <= QUICK);
                *turns = if is_quick { *turns + 1 } else { 0 };
                *last = Some(now);
                if *turns < TURNS_BEFORE {
                    return false;
                }
            }
        }
        state.looking = WatchdogState::Soon;
        drop(state);
        if !look_on(Arc::downgrade(self)) {
            self.lock().looking = WatchdogState::default();
        }
        false
    }

    /// A turn is over.
    pub(super) fn end(&self) {
        self.lock().turns -= 1;
    }

    /// A writer holds something back.
    pub(super) fn holds(&self, writer: Arc<dyn Flush>) {
        self.lock().held.push(writer);
    }

    /// All that was held is written by who asks this.
    pub(super) fn written(&self) {
        let mut state = self.lock();
        state.is_old = false;
        state.held.clear();
    }

    pub(super) fn look(&self) -> WatchdogStep {
        let mut state = self.lock();
        state.looking = WatchdogState::Yes;
        let had_turns = std::mem::take(&mut state.had_turns) || state.turns > 0;
        state.quiet_looks = if had_turns { 0 } else { state.quiet_looks + 1 };
        if state.quiet_looks > QUIET_LOOKS {
            *state = State::default();
            return WatchdogStep::Over;
        }
        if std::mem::take(&mut state.is_old) {
            return WatchdogStep::Next(std::mem::take(&mut state.held));
        }
        state.is_old = !state.held.is_empty();
        WatchdogStep::Next(Vec::new())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the thread that looks; whether there is one now.
fn look_on(watch: Weak<Watch>) -> bool {
    let looking = move || {
        platform::block_all_signals();
        while let Some(watch) = watch.upgrade() {
            match watch.look() {
                WatchdogStep::Next(held) => held.iter().for_each(|writer| writer.flush_held()),
                WatchdogStep::Over => return,
            }
            drop(watch);
            thread::sleep(LOOK);
        }
    };
    thread::Builder::new().name("trunkline-turns".into()).spawn(looking).is_ok()
}

#[cfg(all(test, unix))]
mod tests;
