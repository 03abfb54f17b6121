//! How long a call may take.

use std::time::Duration;

use trunkline_pool::options::CallOptions;

use super::session_core::SessionCore;
use crate::driver::EntryCell;

/// The time in all and the time without progress: the call's own, else the server's, else the
/// pool's. A time in all that is said nearer to the call than the one without progress is both.
pub(super) fn timeouts(
    session: &SessionCore,
    cell: &EntryCell,
    options: &CallOptions,
) -> (Duration, Duration) {
    let pool = &session.driver.options;
    let (server, call) = (&cell.spec, options);
    let said = [call.timeout, call.idle_timeout, server.call_timeout, server.call_idle_timeout];
    if said == [None; 4] {
        // As of nearly every call.
        return (pool.call_timeout, pool.call_idle_timeout.min(pool.call_timeout));
    }
    nearest(
        [(call.timeout, call.idle_timeout), (server.call_timeout, server.call_idle_timeout)],
        (pool.call_timeout, pool.call_idle_timeout),
    )
}

/// Of pairs of a time in all and one without progress, from the nearest to the farthest, the two
/// that count.
fn nearest(
    said: [(Option<Duration>, Option<Duration>); 2],
    farthest: (Duration, Duration),
) -> (Duration, Duration) {
    for (total, idle) in said {
        match (total, idle) {
            (Some(total), idle) => return (total, idle.unwrap_or(total).min(total)),
            (None, Some(idle)) => {
                let mut farther = said.iter().filter_map(|(total, _)| *total);
                let total = farther.next().unwrap_or(farthest.0);
                return (total, idle.min(total));
            }
            (None, None) => {}
        }
    }
    (farthest.0, farthest.1.min(farthest.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 5.4: the nearer word counts, for both times.
    #[test]
    fn a_nearer_time_in_all_counts_as_the_time_without_progress_too() {
        let s = |seconds: u64| Duration::from_secs(seconds);
        let said = |seconds: u64| (seconds > 0).then(|| s(seconds));
        // The call's two, the server's two, the pool's two (0: not said), and what counts.
        for ((call, call_idle), (server, server_idle), (pool, pool_idle), expected) in [
            ((0, 0), (0, 0), (600, 300), (600, 300)),
            ((5, 0), (0, 0), (1, 1), (5, 5)),
            ((5, 0), (0, 0), (600, 300), (5, 5)),
            ((5, 2), (0, 0), (1, 1), (5, 2)),
            ((0, 2), (0, 0), (600, 300), (600, 2)),
            ((0, 9), (5, 0), (600, 300), (5, 5)),
            ((0, 0), (5, 0), (1, 1), (5, 5)),
            ((0, 0), (0, 2), (600, 300), (600, 2)),
            ((5, 0), (900, 1), (600, 300), (5, 5)),
            ((0, 0), (5, 2), (600, 300), (5, 2)),
        ] {
            let levels = [(said(call), said(call_idle)), (said(server), said(server_idle))];
            let counts = nearest(levels, (s(pool), s(pool_idle)));
            assert_eq!(counts, (s(expected.0), s(expected.1)), "{levels:?}");
        }
    }
}
