//! What an event is about.

use std::sync::Arc;

use trunkline_pool::state::Generation;

use super::event_text::named;

/// What an event is about.
#[derive(Default)]
pub(crate) struct About {
    /// The server's name, and the entry's index, as members of the text.
    pub(super) named: Option<Arc<str>>,
    /// The incarnation.
    pub(super) generation: Option<Generation>,
}

impl About {
    /// An incarnation of the entry that these members name.
    pub(crate) fn entry(named: &Arc<str>, generation: Generation) -> About {
        About { named: Some(named.clone()), generation: Some(generation) }
    }

    /// A server that may have no entry.
    pub(crate) fn server(name: &str) -> About {
        About { named: Some(named(name, None)), ..About::default() }
    }
}
