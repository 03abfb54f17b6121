//! The locks of what is checked in many orders of its threads: those of std, and shuttle's in the
//! models of the feature `schedules`.

#[cfg(not(feature = "schedules"))]
pub(crate) use self::plain::*;
#[cfg(feature = "schedules")]
pub(crate) use self::scheduled::*;

#[cfg(not(feature = "schedules"))]
mod plain {
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, atomic};

    pub(crate) use trunkline::Subscription as Stream;
}

#[cfg(feature = "schedules")]
mod scheduled {
    pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard, atomic};

    pub(crate) use crate::handles::fed::Stream;
}
