//! The two deadlines of a request, which stand still while a person is asked on its behalf (SPEC
//! 5.4).

use std::time::{Duration, Instant};

/// How long one call may wait for handlers of the host in all; beyond that its own time goes on. A
/// server that asks again and again would otherwise keep a call for ever.
const HELD_MAX: Duration = Duration::from_secs(3600);

/// The time of a call that may have several attempts: since when it counts, and for how long it
/// stood still in those that are over.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    at: Instant,
    stood: Duration,
}

/// When a request gives up.
#[derive(Debug)]
pub struct Clock {
    total: Duration,
    idle: Duration,
    total_at: Instant,
    idle_at: Instant,
    held: Option<StoppedClock>,
    /// For how long it stood still already.
    stood: Duration,
}

/// A clock that stands still.
#[derive(Debug)]
struct StoppedClock {
    /// By how many.
    by: u32,
    since: Instant,
    /// For how long it can.
    spare: Duration,
}

/// Which of its two deadlines a request missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missed {
    /// The time in all.
    Total,
    /// The time without progress.
    Idle,
}

/// The moment so much later, at most a year: far enough, and it can always be represented.
pub fn later(now: Instant, wait: Duration) -> Instant {
    const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
    now + wait.min(LONGEST)
}

impl Begun {
    /// A call that begins now.
    pub fn new(now: Instant) -> Begun {
        Begun { at: now, stood: Duration::ZERO }
    }

    /// When so much of its own time is over.
    pub fn later(self, time: Duration) -> Instant {
        later(self.at, time) + self.stood
    }

    /// An attempt is over, whose clock had all that stood still before as well.
    pub fn ended(&mut self, attempt: &Clock, now: Instant) {
        self.stood = attempt.stood(now);
    }
}

impl Clock {
    /// A clock with the time in all of `begun`, by default of a call that begins now. Its time
    /// without progress counts from now.
    pub fn new(total: Duration, idle: Duration, begun: Option<Begun>, now: Instant) -> Clock {
        let begun = begun.unwrap_or(Begun::new(now));
        Clock {
            total,
            idle,
            total_at: begun.later(total),
            idle_at: later(now, idle),
            held: None,
            stood: begun.stood,
        }
    }

    /// The next moment at which something may be missed.
    pub fn deadline(&self) -> Instant {
        self.total_at.min(self.idle_at)
    }

    /// What was missed by now.
    pub fn missed(&self, now: Instant) -> Option<Missed> {
        match () {
            () if self.total_at <= now => Some(Missed::Total),
            () if self.idle_at <= now => Some(Missed::Idle),
            () => None,
        }
    }

    /// The time that a deadline stands for.
    pub fn limit(&self, missed: Missed) -> Duration {
        match missed {
            Missed::Total => self.total,
            Missed::Idle => self.idle,
        }
    }

    /// Something of the request was heard.
    pub fn progressed(&mut self, now: Instant) {
        // A clock that stands still begins anew when it goes on.
        if self.held.is_none() {
            self.idle_at = later(now, self.idle);
        }
    }

    /// Stands still until as many have let it go on as have held it. All its stands together may
    /// take an hour.
    pub fn hold(&mut self, now: Instant) {
        if let Some(held) = &mut self.held {
            held.by += 1;
            return;
        }
        let spare = HELD_MAX.saturating_sub(self.stood);
        self.total_at += spare;
        self.idle_at = later(now, self.idle.saturating_add(spare));
        self.held = Some(StoppedClock { by: 1, since: now, spare });
    }

    /// One less holds it. What the person did counts as progress.
    pub fn go_on(&mut self, now: Instant) {
        let Some(held) = &mut self.held else { return };
        held.by -= 1;
        if held.by > 0 {
            return;
        }
        let stood = held.stood(now);
        self.total_at -= held.spare - stood;
        self.stood += stood;
        self.idle_at = later(now, self.idle);
        self.held = None;
    }

    /// For how long it stood still by now.
    fn stood(&self, now: Instant) -> Duration {
        self.stood + self.held.as_ref().map_or(Duration::ZERO, |held| held.stood(now))
    }
}

impl StoppedClock {
    fn stood(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.since).min(self.spare)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// SPEC 5.4: time spent waiting for a human answer does not count.
    #[test]
    fn a_clock_that_is_held_misses_nothing_and_goes_on_where_it_stood() {
        let start = Instant::now();
        let mut clock = Clock::new(10 * SECOND, 4 * SECOND, Some(Begun::new(start)), start);
        clock.hold(start + SECOND);
        clock.hold(start + 2 * SECOND);
        clock.progressed(start + 3 * SECOND);
        assert_eq!(clock.missed(start + 100 * SECOND), None);
        clock.go_on(start + 100 * SECOND);
        assert_eq!(clock.missed(start + 200 * SECOND), None);
        clock.go_on(start + 201 * SECOND);
        assert_eq!(clock.deadline(), start + 205 * SECOND);
        clock.progressed(start + 208 * SECOND);
        assert_eq!(clock.missed(start + 209 * SECOND), None);
        assert_eq!(clock.missed(start + 210 * SECOND), Some(Missed::Total));
    }

    /// SPEC 5.3: any wait can be asked for, and what was asked for is told.
    #[test]
    fn a_wait_of_any_length_has_an_end_and_a_name() {
        let start = Instant::now();
        assert_eq!(later(start, Duration::MAX), start + 365 * 24 * 3600 * SECOND);
        let clock = Clock::new(10 * SECOND, 4 * SECOND, None, start);
        assert_eq!(
            (clock.limit(Missed::Total), clock.limit(Missed::Idle)),
            (10 * SECOND, 4 * SECOND)
        );
    }

    /// SPEC 5.4: the bound of what does not count is one for all the waits of a call.
    #[test]
    fn a_call_cannot_be_held_for_ever() {
        let start = Instant::now();
        let mut clock = Clock::new(10 * SECOND, 10 * SECOND, Some(Begun::new(start)), start);
        clock.hold(start);
        clock.go_on(start + HELD_MAX / 2);
        clock.hold(start + HELD_MAX / 2);
        assert_eq!(clock.missed(start + HELD_MAX + 9 * SECOND), None);
        assert_eq!(clock.missed(start + HELD_MAX + 10 * SECOND), Some(Missed::Total));
        clock.go_on(start + 3 * HELD_MAX);
        assert_eq!(clock.missed(start + 3 * HELD_MAX), Some(Missed::Total));
    }

    /// SPEC 5.4, 5.7: nor does it count against the attempts that come after, and its bound is one
    /// for them all.
    #[test]
    fn an_attempt_goes_on_with_the_time_that_no_person_took_before() {
        let start = Instant::now();
        let mut begun = Begun::new(start);
        let mut lost = Clock::new(10 * SECOND, 10 * SECOND, Some(begun), start);
        lost.hold(start + SECOND);
        lost.go_on(start + 50 * SECOND);
        lost.hold(start + 51 * SECOND);
        begun.ended(&lost, start + 101 * SECOND);
        assert_eq!(begun.later(10 * SECOND), start + 109 * SECOND);
        let mut next = Clock::new(10 * SECOND, HELD_MAX, Some(begun), start + 102 * SECOND);
        assert_eq!(next.missed(start + 108 * SECOND), None);
        assert_eq!(next.missed(start + 109 * SECOND), Some(Missed::Total));
        next.hold(start + 105 * SECOND);
        begun.ended(&next, start + 2 * HELD_MAX);
        assert_eq!(begun.later(10 * SECOND), start + HELD_MAX + 10 * SECOND);
    }
}
