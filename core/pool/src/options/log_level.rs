//! How grave a log message of a server is.

/// How grave a log message of a server is, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// For the developers of the server.
    Debug,
    /// What happens.
    Info,
    /// Normal, and worth a look.
    Notice,
    /// Something may be wrong.
    Warning,
    /// Something is wrong.
    Error,
    /// A part fails.
    Critical,
    /// Somebody has to act.
    Alert,
    /// Nothing works.
    Emergency,
}

impl LogLevel {
    /// Every level, from the least grave.
    pub const ALL: [LogLevel; 8] = [
        LogLevel::Debug,
        LogLevel::Info,
        LogLevel::Notice,
        LogLevel::Warning,
        LogLevel::Error,
        LogLevel::Critical,
        LogLevel::Alert,
        LogLevel::Emergency,
    ];

    /// The word of the protocol.
    pub fn as_str(self) -> &'static str {
        LOG_LEVELS[self as usize]
    }

    /// The level of a word.
    pub fn from_word(word: &str) -> Option<LogLevel> {
        LogLevel::ALL.into_iter().find(|level| level.as_str() == word)
    }
}

/// The words, from the least grave.
pub(crate) const LOG_LEVELS: &[&str] =
    &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
