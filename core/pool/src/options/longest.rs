//! The longest times of options, for those that a host of Rust writes itself: in JSON a longer one
//! is refused, here it counts as the longest.

use std::time::Duration;

use super::{PoolOptions, Reconnect};
use crate::interface::{OptionKind, OptionScope, RETRY_DELAY_MS_MAX, options};

/// These options, each time at most as long as its option takes in JSON. So the sum of two is still
/// a time of a clock.
pub fn within_bounds(mut options: PoolOptions) -> PoolOptions {
    let Reconnect { local_delays, remote_delays, breaker_window, healthy_after, revive, .. } =
        &mut options.reconnect;
    let times = [
        ("drain_delay_ms", Some(&mut options.drain_delay)),
        ("idle_cap_ms", Some(&mut options.idle_cap)),
        ("exit_grace_ms", Some(&mut options.exit_grace)),
        ("kill_grace_ms", Some(&mut options.kill_grace)),
        ("connect_timeout_ms", options.connect_timeout.as_mut()),
        ("call_timeout_ms", Some(&mut options.call_timeout)),
        ("call_idle_timeout_ms", Some(&mut options.call_idle_timeout)),
        ("handler_timeout_ms", Some(&mut options.handler_timeout)),
        ("keepalive_ms", Some(&mut options.keepalive)),
        ("start_gate_ms", Some(&mut options.start_gate)),
        ("close_timeout_ms", Some(&mut options.close_timeout)),
        ("reconnect.breaker.window_ms", Some(breaker_window)),
        ("reconnect.healthy_after_ms", Some(healthy_after)),
    ];
    for (path, time) in times {
        let longest = longest(OptionScope::Pool, path);
        time.into_iter().for_each(|time| *time = longest.min(*time));
    }
    let longest = Duration::from_millis(RETRY_DELAY_MS_MAX);
    for delay in local_delays.iter_mut().chain(remote_delays).chain(revive) {
        *delay = longest.min(*delay);
    }
    options
}

/// The longest time that the option at `path` takes, a point before each member of a member.
pub fn longest(scope: OptionScope, path: &str) -> Duration {
    let kind = path.split('.').try_fold(OptionKind::Object(options(scope)), |kind, name| {
        let OptionKind::Object(rows) = kind else { return None };
        rows.iter().find(|row| row.name == name).map(|row| row.kind)
    });
    match kind {
        Some(OptionKind::Duration { max, .. }) => Duration::from_millis(max),
        _ => {
            debug_assert!(false, "`{path}` is not an option that takes a time");
            Duration::ZERO
        }
    }
}
