//! The keep-alive: a connection that says nothing is asked whether it lives (SPEC 8.3).
//!
//! It runs in the connection's one timer. The reader notes when it heard something, with one
//! relaxed store; nothing else of it is on the way of a call.
//!
//! A server with one thread answers no question while it works. So calls that were in flight at the
//! first missed answer put the end off, up to the idle time of calls. Later calls do not. Only
//! bytes of the server are a sign of life.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use trunkline_pool::catalog::ListKind;
use trunkline_pool::in_flight::later;

use crate::client::calls::in_flight::Purpose;
use crate::client::connection::{Life, Link};
use crate::client::state::list_capabilities::ListCapabilities;
use crate::client::types::{ConnectOptions, OutgoingRequest, RequestId};

/// An answer to a ping takes a round trip, so that a server which needs longer than this does not
/// serve.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(30);

/// Where the keep-alive of a connection stands.
#[derive(Debug)]
pub(in crate::client) struct KeepAlive {
    /// Silence before a question; zero never asks.
    interval: Duration,
    misses_max: u32,
    /// Silence that a call in flight can be the reason of.
    work_max: Duration,
    /// Questions in a row that nothing came after.
    misses: u32,
    /// When the open question was sent.
    asked: Option<Instant>,
    /// What was in flight when the first open question was sent has a smaller id.
    silent_since: RequestId,
}

/// What a look at the connection calls for.
#[derive(Debug, PartialEq, Eq)]
enum KeepaliveVerdict {
    /// Nothing before this moment; `None`: nothing, ever.
    Wait(Option<Instant>),
    /// A question; its answer is missed at this moment.
    Ask(Instant),
    /// It no longer lives.
    Dead,
}

/// What the timer does next.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::client) enum KeepaliveStep {
    /// Looks again at this moment, if there is one.
    Look(Option<Instant>),
    /// Gives the connection up.
    Dead,
}

impl KeepAlive {
    pub(in crate::client) fn new(options: &ConnectOptions) -> Self {
        KeepAlive {
            interval: options.keepalive,
            misses_max: options.keepalive_misses,
            work_max: options.call_idle_timeout,
            misses: 0,
            asked: None,
            silent_since: RequestId(0),
        }
    }

    /// Looks at the connection, and asks the server if it is time.
    pub(in crate::client) fn watch(&mut self, link: &Arc<Link>, now: Instant) -> KeepaliveStep {
        if link.stands() != Life::Open {
            // Until then the connect's own deadline holds.
            return KeepaliveStep::Look(
                (!self.interval.is_zero()).then(|| later(now, self.interval)),
            );
        }
        if link.asked.is_any_open() && !self.interval.is_zero() {
            // It waits for an answer of the host's, and may be silent for as long as that takes.
            (self.asked, self.misses) = (None, 0);
            return KeepaliveStep::Look(Some(now + self.interval.min(ANSWER_WAIT_MAX)));
        }
        let heard = link.pulse.heard_at();
        let first = self.begin(heard, link.calls.next_id());
        let since = self.silent_since;
        let works = || link.calls.has_call_before(since, &link.wire.unsent());
        match self.look(now, heard, works) {
            KeepaliveVerdict::Wait(until) => KeepaliveStep::Look(until),
            KeepaliveVerdict::Ask(until) => {
                link.ping(until - now);
                if first {
                    link.list_if_mute();
                }
                KeepaliveStep::Look(Some(until))
            }
            KeepaliveVerdict::Dead => KeepaliveStep::Dead,
        }
    }

    /// Ends a question that was answered, and notes what is in flight where a silence may begin: no
    /// later call is its reason. Whether the next question is its first.
    fn begin(&mut self, heard: Instant, next: RequestId) -> bool {
        if self.asked.is_some_and(|asked| heard > asked) {
            (self.asked, self.misses) = (None, 0);
        }
        let first = self.asked.is_none();
        if first {
            self.silent_since = next;
        }
        first
    }

    /// Decides by the clock and by when something was heard last. `works` says whether a call that
    /// may be the reason of the silence is still in flight; no call is the reason of more of it
    /// than `work_max`, whatever time its caller gave it.
    fn look(
        &mut self,
        now: Instant,
        heard: Instant,
        works: impl FnOnce() -> bool,
    ) -> KeepaliveVerdict {
        if self.interval.is_zero() {
            return KeepaliveVerdict::Wait(None);
        }
        let answer_wait = self.interval.min(ANSWER_WAIT_MAX);
        match self.asked {
            Some(asked) if now < asked + answer_wait => {
                return KeepaliveVerdict::Wait(Some(asked + answer_wait));
            }
            Some(_) => {
                self.misses = self.misses.saturating_add(1);
                if self.misses < self.misses_max {
                    self.asked = Some(now);
                    return KeepaliveVerdict::Ask(now + answer_wait);
                }
                // More questions would only pile up in its input.
                let works_until = later(heard, self.work_max);
                return if now < works_until && works() {
                    KeepaliveVerdict::Wait(Some(works_until.min(now + answer_wait)))
                } else {
                    KeepaliveVerdict::Dead
                };
            }
            None => {}
        }
        let asks_at = later(heard, self.interval);
        if now < asks_at {
            return KeepaliveVerdict::Wait(Some(asks_at));
        }
        self.asked = Some(now);
        KeepaliveVerdict::Ask(now + answer_wait)
    }
}

impl Link {
    /// Asks the server for a sign of life. Whatever it sends counts, an error too, so the answer
    /// itself is of no interest.
    fn ping(self: &Arc<Self>, timeout: Duration) {
        // The modern era has no question that is only a question; this one is the cheapest.
        let is_modern = self.metadata.is_modern();
        let method = if is_modern { "server/discover" } else { "ping" };
        let request = OutgoingRequest::of_connection(method, "{}", timeout);
        self.start(request, Box::new(drop), Purpose::Own);
    }

    /// Lists again what may have changed unannounced: a server that declares changes of its lists,
    /// and never announced one, may forget to (SPEC 7.8). That does not hold when it calls them
    /// fresh, or asked with them to be left alone.
    fn list_if_mute(&self) {
        let changes = self.declared.get().is_some_and(ListCapabilities::change);
        let is_heard = self.pulse.announces.load(Ordering::Relaxed)
            && !self.pulse.leaves_out.load(Ordering::Relaxed)
            && !self.pulse.is_deaf.load(Ordering::Relaxed);
        if changes && !is_heard && !self.freshness.is_early(Instant::now()) {
            self.tell(|events| events.list_changed(ListKind::Tools));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_secs(20);

    fn watching(interval: Duration, misses_max: u32) -> KeepAlive {
        KeepAlive {
            interval,
            misses_max,
            work_max: Duration::from_secs(130),
            misses: 0,
            asked: None,
            silent_since: RequestId(0),
        }
    }

    fn at(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    fn looked(
        keepalive: &mut KeepAlive,
        now: Instant,
        heard: Instant,
        works: impl FnOnce() -> bool,
    ) -> KeepaliveVerdict {
        keepalive.begin(heard, RequestId(0));
        keepalive.look(now, heard, works)
    }

    /// No call is in flight.
    fn idle() -> bool {
        false
    }

    /// SPEC 8.3.
    #[test]
    fn silence_is_asked_and_three_missed_answers_in_a_row_are_the_end() {
        let start = Instant::now();
        let mut keepalive = watching(INTERVAL, 3);
        let look =
            |keepalive: &mut KeepAlive, seconds| looked(keepalive, at(start, seconds), start, idle);
        assert_eq!(look(&mut keepalive, 5), KeepaliveVerdict::Wait(Some(at(start, 20))));
        assert_eq!(look(&mut keepalive, 20), KeepaliveVerdict::Ask(at(start, 40)));
        assert_eq!(look(&mut keepalive, 39), KeepaliveVerdict::Wait(Some(at(start, 40))));
        assert_eq!(look(&mut keepalive, 40), KeepaliveVerdict::Ask(at(start, 60)));
        assert_eq!(look(&mut keepalive, 60), KeepaliveVerdict::Ask(at(start, 80)));
        assert_eq!(look(&mut keepalive, 80), KeepaliveVerdict::Dead);
    }

    /// SPEC 8.3: a busy server that still sends anything is alive.
    #[test]
    fn anything_that_comes_forgives_the_misses_and_puts_the_next_question_off() {
        let start = Instant::now();
        let mut keepalive = watching(INTERVAL, 3);
        for seconds in [20, 40, 60] {
            assert!(matches!(
                looked(&mut keepalive, at(start, seconds), start, idle),
                KeepaliveVerdict::Ask(_)
            ));
        }
        let heard = at(start, 79);
        assert_eq!(
            looked(&mut keepalive, at(start, 80), heard, idle),
            KeepaliveVerdict::Wait(Some(at(start, 99)))
        );
        for seconds in [99, 119, 139] {
            assert!(matches!(
                looked(&mut keepalive, at(start, seconds), heard, idle),
                KeepaliveVerdict::Ask(_)
            ));
        }
        assert_eq!(looked(&mut keepalive, at(start, 159), heard, idle), KeepaliveVerdict::Dead);
    }

    /// SPEC 5.4, 8.3: an answered question is over before the next one is asked, and what was
    /// called between the two may be its silence's reason.
    #[test]
    fn a_call_after_an_answered_question_is_in_flight_when_the_next_silence_begins() {
        let start = Instant::now();
        let mut keepalive = watching(INTERVAL, 3);
        assert!(keepalive.begin(start, RequestId(5)));
        assert!(matches!(keepalive.look(at(start, 20), start, idle), KeepaliveVerdict::Ask(_)));
        let answered = at(start, 20) + Duration::from_micros(100);
        assert!(keepalive.begin(answered, RequestId(9)));
        assert_eq!(keepalive.silent_since, RequestId(9));
        let late = at(start, 40) + Duration::from_millis(1);
        assert!(matches!(keepalive.look(late, answered, idle), KeepaliveVerdict::Ask(_)));
        assert!(!keepalive.begin(answered, RequestId(12)), "the second question of a silence");
        assert_eq!(keepalive.silent_since, RequestId(9));
    }

    /// SPEC 5.4, 8.3: the call that may be the reason of the silence has its time, and the misses
    /// count after it.
    #[test]
    fn a_server_that_works_is_given_up_only_after_its_call() {
        let start = Instant::now();
        let mut keepalive = watching(INTERVAL, 3);
        for seconds in [20, 40, 60] {
            assert!(matches!(
                looked(&mut keepalive, at(start, seconds), start, || true),
                KeepaliveVerdict::Ask(_)
            ));
        }
        for seconds in [80, 100] {
            let wait = KeepaliveVerdict::Wait(Some(at(start, seconds + 20)));
            assert_eq!(looked(&mut keepalive, at(start, seconds), start, || true), wait);
        }
        assert_eq!(looked(&mut keepalive, at(start, 120), start, idle), KeepaliveVerdict::Dead);
        let heard = at(start, 139);
        let wait = KeepaliveVerdict::Wait(Some(at(start, 159)));
        assert_eq!(looked(&mut keepalive, at(start, 140), heard, idle), wait);
        assert!(matches!(
            looked(&mut keepalive, at(start, 159), heard, idle),
            KeepaliveVerdict::Ask(_)
        ));
        assert!(matches!(
            looked(&mut keepalive, at(start, 179), heard, idle),
            KeepaliveVerdict::Ask(_)
        ));
    }

    /// SPEC 5.4, 8.3: a call of a day does not keep a dead connection for a day.
    #[test]
    fn no_call_excuses_more_silence_than_calls_have_by_default() {
        let start = Instant::now();
        let mut keepalive = watching(INTERVAL, 3);
        for seconds in [20, 40, 60] {
            assert!(matches!(
                looked(&mut keepalive, at(start, seconds), start, || true),
                KeepaliveVerdict::Ask(_)
            ));
        }
        for (seconds, next) in [(80, 100), (100, 120), (120, 130)] {
            let wait = KeepaliveVerdict::Wait(Some(at(start, next)));
            assert_eq!(looked(&mut keepalive, at(start, seconds), start, || true), wait);
        }
        assert_eq!(looked(&mut keepalive, at(start, 130), start, || true), KeepaliveVerdict::Dead);
    }

    /// SPEC 8.3: the deadline of an answer is bounded, however long silence may last.
    #[test]
    fn an_answer_is_not_awaited_longer_than_its_bound() {
        let start = Instant::now();
        let mut keepalive = watching(Duration::from_secs(3600), 1);
        assert_eq!(
            looked(&mut keepalive, at(start, 3600), start, idle),
            KeepaliveVerdict::Ask(at(start, 3630))
        );
        assert_eq!(looked(&mut keepalive, at(start, 3630), start, idle), KeepaliveVerdict::Dead);
    }

    /// SPEC 8.3.
    #[test]
    fn an_interval_of_zero_never_asks() {
        let start = Instant::now();
        let mut keepalive = watching(Duration::ZERO, 3);
        assert_eq!(
            looked(&mut keepalive, at(start, 1_000_000), start, idle),
            KeepaliveVerdict::Wait(None)
        );
    }
}
