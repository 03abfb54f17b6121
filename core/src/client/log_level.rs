//! How a server of the legacy era is told how much of its log is wanted, and what becomes of that.
//!
//! It is a request, not an option of the session: a host would otherwise say one thing in two ways,
//! by the era.

use trunkline_pool::options::LogLevel;

use super::Connection;
use super::types::{OutgoingRequest, Reply};

use crate::{Error, ErrorCode, Outcome, Result};

/// What became of a level that a server was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelAnswer {
    Taken,
    Refused,
    /// It never reached the server, or the server is none that takes one.
    Untold,
    Unknown,
}

impl LevelAnswer {
    /// Of a request that failed.
    pub(crate) fn of(error: &Error) -> LevelAnswer {
        match (error.code(), error.outcome()) {
            (ErrorCode::ServerError, _) => LevelAnswer::Refused,
            (_, Some(Outcome::NotSent)) => LevelAnswer::Untold,
            _ => LevelAnswer::Unknown,
        }
    }
}

impl Connection {
    /// Tells a server of the legacy era, if it takes that, how much of its log is wanted; and what
    /// became of it. Never blocks.
    pub(crate) fn set_log_level(
        &self,
        level: LogLevel,
        answered: impl FnOnce(LevelAnswer) + Send + 'static,
    ) {
        if self.is_modern() || !self.0.facts.get().is_some_and(|facts| facts.has_logging) {
            return answered(LevelAnswer::Untold);
        }
        let (server, timeout) = (self.0.server.clone(), self.0.options.timeout);
        let params = format!(r#"{{"level":"{}"}}"#, level.as_str());
        let request = OutgoingRequest::of_connection("logging/setLevel", &params, timeout);
        let done = Box::new(move |result: Result<Reply>| match result {
            Ok(_) => answered(LevelAnswer::Taken),
            Err(error) => {
                tracing::warn!(%server, %error, "the server's log level could not be set");
                answered(LevelAnswer::of(&error));
            }
        });
        self.start_apart(request, done);
    }
}
