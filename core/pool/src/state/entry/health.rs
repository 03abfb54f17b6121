//! How often an entry was lost, and what that allows it (SPEC 8.1, 8.2).

use std::collections::VecDeque;
use std::time::Duration;

use crate::base::ids::Moment;
use crate::options::Reconnect;
use crate::state::terms::Family;

/// What is remembered of an entry's losses.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct Health {
    /// Losses in all.
    pub(in crate::state) losses: u32,
    /// The losses that the breaker still counts, oldest first.
    recent: VecDeque<Moment>,
    /// Attempts of the schedule used since the last forgiveness.
    used: usize,
    /// Whether an attempt succeeded since the last forgiveness.
    came_back: bool,
    /// Quiet attempts that were due since the last forgiveness.
    revivals: usize,
    /// Whether the attempt that a lost session has at once was used since the last forgiveness.
    at_once: bool,
    /// When the present absence began.
    lost_at: Option<Moment>,
    /// Attempts made in the present absence.
    tries: u32,
}

/// What a loss allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) enum Verdict {
    /// Another attempt may be made.
    MayReturn,
    /// It was lost too often.
    BreakerOpen,
}

impl Health {
    /// A connection that stood since `since` was lost.
    pub(in crate::state) fn lose(
        &mut self,
        now: Moment,
        since: Moment,
        policy: &Reconnect,
    ) -> Verdict {
        if now >= since.after(policy.healthy_after) {
            self.forgive();
        }
        self.losses = self.losses.saturating_add(1);
        self.leave(now);
        self.recent.push_back(now);
        while self.recent.front().is_some_and(|loss| loss.after(policy.breaker_window) < now) {
            self.recent.pop_front();
        }
        let bound = usize::try_from(policy.breaker_losses).unwrap_or(usize::MAX);
        if self.recent.len() > bound {
            // The newest losses decide; older ones need no room.
            self.recent.pop_front();
            Verdict::BreakerOpen
        } else {
            Verdict::MayReturn
        }
    }

    /// An absence begins.
    pub(in crate::state) fn leave(&mut self, now: Moment) {
        self.lost_at = Some(now);
        self.tries = 0;
    }

    /// Whether a session that was lost may be made anew at once: the server lives. Once only (SPEC
    /// 8.4).
    pub(in crate::state) fn may_return_at_once(&mut self) -> bool {
        !std::mem::replace(&mut self.at_once, true)
    }

    /// The wait before the next attempt of the schedule; `None` when it is used up.
    pub(in crate::state) fn next_delay(
        &mut self,
        family: Family,
        policy: &Reconnect,
    ) -> Option<Duration> {
        let delays = match family {
            Family::Local => &policy.local_delays,
            Family::Remote => &policy.remote_delays,
        };
        let delay = delays.get(self.used).copied()?;
        self.used += 1;
        Some(delay)
    }

    /// Whether the attempts were used up by successes that did not last.
    pub(in crate::state) fn is_unstable(&self) -> bool {
        self.came_back
    }

    /// The wait before the next quiet attempt of what was given up; `None` where there is none.
    pub(in crate::state) fn next_revival(
        &mut self,
        crashes: bool,
        policy: &Reconnect,
    ) -> Option<Duration> {
        let last = policy.revive.last()?;
        if crashes {
            return Some(CRASH_LOOP_PAUSE);
        }
        let delay = policy.revive.get(self.revivals).unwrap_or(last);
        self.revivals = self.revivals.saturating_add(1);
        Some(*delay)
    }

    /// An attempt begins.
    pub(in crate::state) fn try_once(&mut self) {
        self.tries = self.tries.saturating_add(1);
    }

    /// An attempt after a loss succeeded: how many it took, and how long the absence was.
    pub(in crate::state) fn come_back(&mut self, now: Moment) -> (u32, Duration) {
        self.came_back = true;
        let lost_at = self.lost_at.take().unwrap_or(now);
        (self.tries, Duration::from_nanos(now.0.saturating_sub(lost_at.0)))
    }

    /// A restart by hand forgives everything.
    pub(in crate::state) fn reset(&mut self) {
        self.recent.clear();
        self.forgive();
    }

    fn forgive(&mut self) {
        self.used = 0;
        self.came_back = false;
        self.at_once = false;
        self.revivals = 0;
    }
}

/// The pool's own source of chance: its seed is part of the state, so that a run can be repeated.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::state) struct Jitter(pub(in crate::state) u64);

impl Jitter {
    /// `delay` and up to a quarter more: the schedule is spread, and never run faster than it says.
    pub(in crate::state) fn spread(&mut self, delay: Duration) -> Duration {
        let share = self.next() >> 11;
        // 53 bits are exact in a double.
        let fraction = share as f64 / (1u64 << 53) as f64;
        delay.saturating_add(delay.mul_f64(fraction * JITTER_SHARE))
    }

    /// The same; a delay of nothing becomes a moment, so that many clients of one server that
    /// restarts do not come back together (SPEC 8.1).
    pub(in crate::state) fn spread_remote(&mut self, delay: Duration) -> Duration {
        if !delay.is_zero() {
            return self.spread(delay);
        }
        AT_ONCE_REMOTE.mul_f64((self.next() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// SplitMix64: one addition and a mix, every seed has the full period.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// The most that jitter adds to a delay, as a share of it.
const JITTER_SHARE: f64 = 0.25;

/// How late a remote server is connected to at most when that is to be at once.
const AT_ONCE_REMOTE: Duration = Duration::from_millis(250);

/// The wait before each quiet attempt of a server that was lost too often (SPEC 8.2).
const CRASH_LOOP_PAUSE: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::Jitter;

    /// The published sequence of SplitMix64 for this seed: jitter is as good as its generator.
    #[test]
    fn the_generator_gives_the_published_sequence() {
        let mut jitter = Jitter(1_234_567);
        let sequence = [(); 3].map(|()| jitter.next());
        assert_eq!(
            sequence,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
