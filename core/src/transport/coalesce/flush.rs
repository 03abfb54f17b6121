//! What holds requests back for a thread, as that knows it.

use std::fmt::Debug;

/// The writer of one connection.
pub(in crate::transport) trait Flush: Debug + Send + Sync {
    /// Writes what was held back; what the pipe does not take is the writer task's.
    fn flush_held(&self);
}
