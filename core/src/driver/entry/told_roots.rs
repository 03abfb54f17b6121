//! The folders that a connection was told of.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The folders as the present connection of an entry knows them, or can know them by asking since
/// it began.
#[derive(Default)]
pub(in crate::driver) struct ToldRoots(Mutex<Arc<Vec<PathBuf>>>);

impl ToldRoots {
    /// Replaces them by what `now` says; whether they are others. Of two changes at one time the
    /// last one stands.
    pub(in crate::driver) fn renew(&self, now: impl FnOnce() -> Arc<Vec<PathBuf>>) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = now();
        let is_news = *told != now;
        *told = now;
        is_news
    }
}
