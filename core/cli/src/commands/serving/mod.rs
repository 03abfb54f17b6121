//! The pool for other programs: `serve` and `connect`.

pub(super) mod connect;
#[cfg(unix)]
mod own_folder;
#[cfg(unix)]
mod relay;
pub(super) mod serve;
