//! When an entry that nobody holds is closed (SPEC 3.6, 3.7).
//!
//! The drain delay begins anew with every last release. The idle window begins with the first
//! idleness and only a hold of at least the drain delay ends it. So holds that are too short to be
//! of use cannot keep a server.

use std::time::Duration;

use crate::base::ids::Moment;
use crate::state::report::messages::reason;

/// What is remembered from one idleness to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::state) struct IdleClock {
    /// When the idle window began.
    opened: Option<Moment>,
    /// When the present hold began.
    held_since: Option<Moment>,
}

/// When an idle entry closes, and which of the two timers says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) struct Planned {
    pub(in crate::state) at: Moment,
    pub(in crate::state) reason: &'static str,
}

impl IdleClock {
    /// Somebody holds the entry that nobody held.
    pub(in crate::state) fn hold_begins(&mut self, now: Moment) {
        self.held_since = Some(now);
    }

    /// The last holder went.
    pub(in crate::state) fn hold_ends(&mut self, now: Moment, drain_delay: Duration) {
        if self.held_since.take().is_some_and(|since| now >= since.after(drain_delay)) {
            self.opened = None;
        }
    }

    /// The entry is connected and nobody holds it: when it is to close.
    pub(in crate::state) fn plan(
        &mut self,
        now: Moment,
        drain_delay: Duration,
        cap: Duration,
    ) -> Planned {
        let drained = now.after(drain_delay);
        let capped = self.opened.get_or_insert(now).after(cap);
        if capped < drained {
            Planned { at: capped, reason: reason::IDLE_CAP }
        } else {
            Planned { at: drained, reason: reason::DRAIN_DELAY }
        }
    }

    /// Ends the window: the server is replaced by a new one (SPEC 9.2).
    pub(in crate::state) fn forget_window(&mut self) {
        self.opened = None;
    }

    /// Whether a hold is under way; for the invariants.
    pub(in crate::state) fn is_held(&self) -> bool {
        self.held_since.is_some()
    }
}
