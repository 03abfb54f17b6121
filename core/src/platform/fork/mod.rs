//! What forks leave to their children, and what they must not.

#[cfg(unix)]
pub(super) mod child;
#[cfg(unix)]
pub(super) mod close_on_fork;
pub(super) mod generation;
#[cfg(unix)]
pub(super) mod noted_descriptors;
