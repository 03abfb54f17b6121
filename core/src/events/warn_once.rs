//! Warnings that are told once for as long as their reason stands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Warnings that still apply, by server. One that was resolved and comes back is sent again.
pub(crate) struct Warned<T>(Mutex<BTreeMap<Box<str>, BTreeSet<T>>>);

impl<T> Default for Warned<T> {
    fn default() -> Warned<T> {
        Warned(Mutex::default())
    }
}

impl<T: Ord + Clone> Warned<T> {
    /// Of a server this is so now; what of it is new.
    pub(crate) fn anew(&self, server: &str, now: &[T]) -> Vec<T> {
        let mut warned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match now {
            [] => warned.remove(server),
            now => warned.insert(server.into(), now.iter().cloned().collect()),
        };
        let is_new = |it: &&T| !before.as_ref().is_some_and(|before| before.contains(it));
        now.iter().filter(is_new).cloned().collect()
    }
}
