//! The servers that a session heard are gone. It hears, too, when they are back.
//!
//! The last 1,024 are remembered. A host with a server for each task would otherwise leave every
//! name in each session.

use std::sync::Arc;

use super::by_server::ByServer;

/// So many are remembered at most, those that went last. Of one that is back after more than these
/// the session hears as of one that is held for the first time.
pub(crate) const GONE_MAX: usize = 1024;

/// Most sessions have none.
#[derive(Default)]
pub(crate) struct Gone(Option<Box<Numbered>>);

/// By server, how many had gone before it.
#[derive(Default)]
struct Numbered {
    servers: ByServer<u64>,
    next: u64,
}

impl Gone {
    /// This one went last.
    pub(crate) fn add(&mut self, server: Arc<str>) {
        let gone = self.0.get_or_insert_default();
        gone.servers.insert(server, gone.next);
        gone.next += 1;
    }

    /// It is back; whether it was among them.
    pub(crate) fn remove(&mut self, server: &str) -> bool {
        let Some(gone) = &mut self.0 else { return false };
        let was_there = gone.servers.remove(server).is_some();
        if gone.servers.is_empty() {
            self.0 = None;
        }
        was_there
    }

    pub(crate) fn contains(&self, server: &str) -> bool {
        self.0.as_ref().is_some_and(|gone| gone.servers.contains(server))
    }

    /// Forgets those that there are too many of, the first first.
    pub(crate) fn forget_oldest(&mut self) {
        let Some(gone) = &mut self.0 else { return };
        let surplus = gone.servers.len().saturating_sub(GONE_MAX);
        if surplus == 0 {
            return;
        }
        let mut numbers: Vec<u64> = gone.servers.values().copied().collect();
        numbers.sort_unstable();
        let oldest = numbers[surplus];
        gone.servers.retain(|number| *number >= oldest);
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |gone| gone.servers.len())
    }
}
