//! The sources that are files: loaded, watched, and read again when they change.

pub(crate) mod edit;
pub(crate) mod file_scope;
pub(crate) mod findings;
pub(crate) mod load;
pub(crate) mod reading;
pub(crate) mod watch_state;
pub(crate) mod watching;
