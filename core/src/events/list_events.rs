//! The events that tell a session what is different in the lists of a server.

use std::sync::{Arc, OnceLock};

use trunkline_pool::catalog::{CatalogDifference, ListKind, NameChanges};
use trunkline_pool::interface::EventKind;

use super::event_text::EventBody;
use super::hub::Hub;
use super::recipient::Recipient;
use super::subject::EventSubject;

/// One difference as events, one for each list. Each is written once, when the first session hears
/// of it.
pub(crate) struct ListEvents {
    about: EventSubject,
    difference: Arc<CatalogDifference>,
    tools: OnceLock<Arc<EventBody>>,
    prompts: OnceLock<Arc<EventBody>>,
    resources: OnceLock<Arc<EventBody>>,
}

type OfList<'a> = (EventKind, ListKind, &'a NameChanges, &'a OnceLock<Arc<EventBody>>);

impl ListEvents {
    pub(crate) fn new(about: EventSubject, difference: Arc<CatalogDifference>) -> ListEvents {
        let [tools, prompts, resources] = Default::default();
        ListEvents { about, difference, tools, prompts, resources }
    }

    /// The whole of it.
    pub(crate) fn difference(&self) -> &Arc<CatalogDifference> {
        &self.difference
    }

    /// Tells a session, while that `stands`. The session gives each event its number.
    pub(crate) fn announce(
        &self,
        hub: &Hub,
        session: &Recipient,
        next_revision: impl Fn(ListKind) -> u64,
        stands: impl Fn() -> bool,
    ) {
        for (kind, list, change, said) in self.lists() {
            let write =
                || EventBody::new(kind, &self.about, |json| json.add_written(&change.members()));
            let said = || said.get_or_init(write).clone();
            hub.publish_list(kind, (session, next_revision(list)), said, &stands);
        }
    }

    /// Those of the lists that differ.
    fn lists(&self) -> impl Iterator<Item = OfList<'_>> {
        let CatalogDifference { tools, prompts, resources, .. } = &*self.difference;
        let lists = [
            (EventKind::ToolsChanged, ListKind::Tools, tools, &self.tools),
            (EventKind::PromptsChanged, ListKind::Prompts, prompts, &self.prompts),
            (EventKind::ResourcesChanged, ListKind::Resources, resources, &self.resources),
        ];
        lists.into_iter().filter(|(_, _, change, _)| !change.is_empty())
    }
}
