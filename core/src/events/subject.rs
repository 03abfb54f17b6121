//! What an event is about.

use std::sync::Arc;

use trunkline_pool::state::Generation;

use super::json_members::Members;

/// What an event is about.
#[derive(Default)]
pub(crate) struct EventSubject {
    /// The server's name, and the entry's index, as members of the text.
    pub(super) named: Option<Arc<str>>,
    /// The incarnation.
    pub(super) generation: Option<Generation>,
}

impl EventSubject {
    /// An incarnation of the entry that these members name.
    pub(crate) fn entry(named: &Arc<str>, generation: Generation) -> EventSubject {
        EventSubject { named: Some(named.clone()), generation: Some(generation) }
    }

    /// A server that may have no entry.
    pub(crate) fn server(name: &str) -> EventSubject {
        EventSubject { named: Some(named(name, None)), ..EventSubject::default() }
    }
}

/// The members that name what events are about, for [`Members::add_written`]: a server, and an
/// entry of it. Written once for many.
pub(crate) fn named(server: &str, entry_index: Option<u32>) -> Arc<str> {
    let mut json = Members::default();
    json.add_str("server", server);
    if let Some(index) = entry_index {
        json.add_number("entry_index", index.into());
    }
    json.0.trim_start_matches(',').into()
}
