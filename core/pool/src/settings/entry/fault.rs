//! What is wrong with a path of the entry.

/// What is wrong with a path of the entry.
pub(super) struct Fault {
    pub(super) path: String,
    pub(super) message: String,
}

pub(super) type EntryResult<T = ()> = std::result::Result<T, Fault>;

pub(super) fn fault<T>(path: &str, message: impl Into<String>) -> EntryResult<T> {
    Err(Fault { path: path.to_owned(), message: message.into() })
}
