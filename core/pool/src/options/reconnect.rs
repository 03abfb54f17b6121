//! How lost connections come back.

use std::time::Duration;

use super::check::{Given, read};
use crate::error::Result;
use crate::interface::OptionScope;

/// How lost connections come back (SPEC 8.1, 8.2).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reconnect {
    /// Waits before each attempt, for stdio and websocket: none, then 5 s, three times.
    pub local_delays: Vec<Duration>,
    /// Waits before each attempt, for http and sse: none, then 1, 2, 4, 8, 16 s.
    pub remote_delays: Vec<Duration>,
    /// More losses than this within the window open the breaker: 5.
    pub breaker_losses: u32,
    /// The breaker's window: 30 s.
    pub breaker_window: Duration,
    /// Health that forgives earlier attempts: 30 s.
    pub healthy_after: Duration,
    /// Waits before each quiet attempt of what was given up and is still wanted. The last one
    /// repeats: 1, 2, 4, 5 minutes.
    pub revive: Vec<Duration>,
}

/// What a server's configuration says of how its lost connection comes back; the rest is the
/// pool's.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerReconnect {
    /// Waits before each attempt, for stdio and websocket.
    pub local_delays: Option<Vec<Duration>>,
    /// Waits before each attempt, for http and sse.
    pub remote_delays: Option<Vec<Duration>>,
    /// More losses than this within the window open the breaker.
    pub breaker_losses: Option<u32>,
    /// The breaker's window.
    pub breaker_window: Option<Duration>,
    /// Health that forgives earlier attempts.
    pub healthy_after: Option<Duration>,
    /// Waits before each quiet attempt of what was given up.
    pub revive: Option<Vec<Duration>>,
}

impl ServerReconnect {
    /// How the connection comes back in a pool whose own are to come back so.
    pub fn over(&self, pools: &Reconnect) -> Reconnect {
        let delays = |own: &Option<Vec<_>>, pools: &Vec<_>| own.as_ref().unwrap_or(pools).clone();
        Reconnect {
            local_delays: delays(&self.local_delays, &pools.local_delays),
            remote_delays: delays(&self.remote_delays, &pools.remote_delays),
            breaker_losses: self.breaker_losses.unwrap_or(pools.breaker_losses),
            breaker_window: self.breaker_window.unwrap_or(pools.breaker_window),
            healthy_after: self.healthy_after.unwrap_or(pools.healthy_after),
            revive: delays(&self.revive, &pools.revive),
        }
    }

    /// Parses the member `reconnect` of a server's configuration.
    ///
    /// # Errors
    /// As of the pool's options, with the path from `reconnect` on.
    pub(crate) fn from_value(value: &serde_json::Value) -> Result<ServerReconnect> {
        let text = serde_json::json!({ "reconnect": value }).to_string();
        Ok(ServerReconnect::given(&read(OptionScope::Server, &text)?.object("reconnect")))
    }

    /// What the checked option says.
    pub(super) fn given(given: &Given) -> ServerReconnect {
        let breaker = given.object("breaker");
        ServerReconnect {
            local_delays: given.durations("delays_ms", "local"),
            remote_delays: given.durations("delays_ms", "remote"),
            breaker_losses: breaker.count("losses"),
            breaker_window: breaker.duration("window_ms"),
            healthy_after: given.duration("healthy_after_ms"),
            revive: given.list_of_durations("revive_ms"),
        }
    }
}

impl Default for Reconnect {
    fn default() -> Self {
        Reconnect {
            local_delays: [0, 5, 5, 5].map(Duration::from_secs).to_vec(),
            remote_delays: [0, 1, 2, 4, 8, 16].map(Duration::from_secs).to_vec(),
            breaker_losses: 5,
            breaker_window: Duration::from_secs(30),
            healthy_after: Duration::from_secs(30),
            revive: [60, 120, 240, 300].map(Duration::from_secs).to_vec(),
        }
    }
}
