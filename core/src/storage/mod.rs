//! Files of the library's own: what several hosts share, whatever becomes of one of them.
//!
//! 1. A file is the old one or the new one, whatever happens: a new one is written beside it,
//!    brought to the disk, and takes its place in one step.
//! 2. Who writes holds the lock, and reads first.
//! 3. A file that is damaged is kept aside. One that is not this user's alone is refused and left
//!    where it is.

pub(crate) mod approvals;
pub(crate) mod approvals_path;
pub(crate) mod catalogs;
mod file;
mod lock_wait;
mod replace;
mod stamp;
pub(crate) mod token_file;
pub(crate) mod token_record;
pub(crate) mod tokens;
mod user_dirs;

use std::time::Duration;

pub(crate) use self::file::{FILE_BYTES_MAX, FileContent, OwnFile};
pub(crate) use self::lock_wait::{Unlocked, WRITE_WAIT_MAX, lock, lock_now};
pub(crate) use self::stamp::FileVersion;
pub(crate) use self::user_dirs::{DirPurpose, host_variable, user_folder};

/// Hears, in words, what went wrong and stops nothing.
pub(crate) type WarningHandler = Box<dyn Fn(&str) + Send + Sync>;

/// By so much a time is ahead without being one of a clock that was set back since: that of a
/// machine which keeps the folder may go ahead.
pub(crate) const AHEAD_MAX: Duration = Duration::from_secs(24 * 60 * 60);
