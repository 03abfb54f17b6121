//! The locks of what is checked in many orders of its threads: those of std, and shuttle's in the models of the feature
//! `schedules`.

#[cfg(not(feature = "schedules"))]
pub(crate) use std::sync::{Mutex, MutexGuard};

#[cfg(feature = "schedules")]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
