//! What a session sees: the catalogs of the servers that it holds, filtered and named.

pub(crate) mod announcements;
pub(crate) mod by_server;
pub(crate) mod deferred;
pub(crate) mod deliver;
pub(crate) mod filters;
pub(crate) mod list;
pub(crate) mod no_tool;
pub(crate) mod removed_servers;
pub(crate) mod snapshot;
pub(crate) mod view_cache;

use std::collections::HashMap;
use std::sync::Arc;

use trunkline_pool::catalog::{Catalog, Item, ListKind};
use trunkline_pool::explain::Reason;
use trunkline_pool::naming::{NameMap, Naming, ToolName};
use trunkline_pool::view::Marks;

use self::list::{List, ListHistory, ListedItem, Shaped};
use self::no_tool::{tool_among, tool_quarantined};
use self::snapshot::{ServerSnapshot, VisibleServer};
use super::lease::lease_state::LeaseState;
use crate::{Error, Result};

/// A session's view of all its servers, made from catalogs that were published together with their
/// states.
pub(crate) struct SessionView {
    /// As long as all are the same, so is the view.
    made_of: Vec<ServerSnapshot>,
    /// In the session's order.
    pub tools: List,
    /// The same, for model APIs.
    pub(crate) shaped: Shaped,
    /// By name.
    pub prompts: List,
    /// By URI.
    pub resources: List,
    /// By URI template.
    pub resource_templates: List,
    names: NameMap,
    /// The names that tools would have which are held back.
    held_names: NameMap,
    seen: Vec<VisibleServer>,
}

impl SessionView {
    /// Whether it is still what is seen.
    pub(crate) fn is_current(&self, seen: &[VisibleServer]) -> bool {
        let mut before = self.made_of.iter();
        let mut now = seen.iter().map(ServerSnapshot::of).filter(|sight| sight.shows);
        now.all(|now| before.next().is_some_and(|before| before.is_same(&now)))
            && before.next().is_none()
    }

    /// The view of a session that sees this, in the order of the servers' names. Its lists have no
    /// numbers.
    pub(crate) fn new(
        naming: &Naming,
        seeing: &[VisibleServer],
        book: &mut ListHistory,
    ) -> SessionView {
        let seen: Vec<(&Arc<str>, ServerSnapshot)> = seeing
            .iter()
            .map(|seeing| (seeing.server(), ServerSnapshot::of(seeing)))
            .filter(|(_, sight)| sight.shows)
            .collect();
        let tool = |server: &Arc<str>, item: &Item| ToolName {
            server: server.clone(),
            tool: item.name.clone(),
        };
        let own = |row: ViewRow<'_>| listed(row, row.2.name.clone());
        let all = |list: fn(&Catalog) -> &[Item]| {
            seen.iter().flat_map(move |(server, seen)| {
                list(&seen.catalog).iter().map(move |item| (*server, seen, item))
            })
        };
        let visible = |list: fn(&Catalog) -> &[Item]| {
            all(list).filter(|(_, seen, item)| seen.view.admits(&item.name))
        };
        let shown: Vec<ToolName> =
            visible(|catalog| &catalog.tools).map(|(server, _, item)| tool(server, item)).collect();
        let held_back = seen.iter().flat_map(|(server, seen)| {
            let tools = seen.held_back.tools().iter().map(|held| &held.item);
            tools.filter(|item| seen.view.admits(&item.name)).map(|item| tool(server, item))
        });
        let held_back: Vec<ToolName> = held_back.collect();
        book.bare_names.settle(naming, shown.iter().chain(&held_back).cloned());
        let names = NameMap::new(shown, naming, &book.bare_names);
        let held_names = NameMap::new(held_back, naming, &book.bare_names);
        let definitions: HashMap<ToolName, ViewRow<'_>> =
            visible(|catalog| &catalog.tools).map(|row| (tool(row.0, row.2), row)).collect();
        let tools = names
            .iter()
            .filter_map(|(exposed, name)| Some(listed(*definitions.get(name)?, exposed.clone())));
        let tools = book.order.arrange(tools.collect(), ListedItem::tool_name);
        SessionView {
            tools: List::new(tools),
            shaped: Shaped::default(),
            prompts: sorted(visible(|catalog| &catalog.prompts).map(own)),
            resources: sorted(all(|catalog| &catalog.resources).map(own)),
            resource_templates: sorted(all(|catalog| &catalog.resource_templates).map(own)),
            made_of: seen.iter().map(|(_, seen)| seen.clone()).collect(),
            names,
            held_names,
            seen: seeing.to_vec(),
        }
    }

    /// What is seen of the server, and its own name, of an exposed tool: looked up, never parsed
    /// (SPEC 14.3). `why_not` says why there is none.
    ///
    /// # Errors
    /// `tool_not_found`, with the server that the name would belong to, and why it is not there.
    pub(crate) fn resolve(
        &self,
        exposed: &str,
        why_not: impl FnOnce() -> Error,
    ) -> Result<(&VisibleServer, &str)> {
        if let Some(held_back) = self.held_names.resolve(exposed) {
            return Err(tool_quarantined(&held_back.tool).with_server(&*held_back.server));
        }
        let name = self.names.resolve(exposed);
        let found = name.and_then(|name| {
            let seeing = self.seen.iter().find(|seeing| *seeing.server() == name.server)?;
            Some((seeing, &*name.tool))
        });
        found.ok_or_else(why_not)
    }

    /// The server of a tool that is there, or held back.
    pub(crate) fn server_of(&self, exposed: &str) -> Option<Arc<str>> {
        let named = self.names.resolve(exposed).or_else(|| self.held_names.resolve(exposed));
        named.map(|name| name.server.clone())
    }

    /// The servers that it shows something of.
    pub(crate) fn servers(&self) -> impl Iterator<Item = &str> {
        self.made_of.iter().map(|sight| &*sight.server)
    }

    /// The holds that it shows something of.
    pub(crate) fn holds(&self) -> impl Iterator<Item = &Arc<LeaseState>> {
        self.seen.iter().filter_map(|seeing| match seeing {
            VisibleServer::Held(held) => Some(held),
            VisibleServer::Deferred(_) => None,
        })
    }

    /// What it shows of a server.
    pub(crate) fn sight(&self, server: &str) -> Option<&ServerSnapshot> {
        self.made_of.iter().find(|sight| &*sight.server == server)
    }

    /// Whether it shows what is kept of a server, and not the server itself.
    pub(crate) fn defers(&self, server: &str) -> bool {
        self.made_of.iter().any(|sight| &*sight.server == server && sight.is_deferred())
    }

    /// The server that has a tool which would have that name, and is not seen.
    pub(crate) fn server_of_hidden(&self, exposed: &str, naming: &Naming) -> Option<Arc<str>> {
        let mut servers = self.made_of.iter().map(|sight| &sight.server);
        let found = servers
            .find(|server| self.why_no_tool(server, (exposed, naming)).0 != Some(Reason::Unknown));
        found.cloned()
    }

    /// Why the list of tools of a server that it shows could not be had, if so.
    pub(crate) fn why_unlisted(&self, server: &str) -> Option<&Error> {
        let sight = self.made_of.iter().find(|sight| &*sight.server == server)?;
        sight.catalog.why_unlisted(ListKind::Tools)
    }

    /// Why a tool of a server that it shows is not there.
    pub(crate) fn why_no_tool(
        &self,
        server: &str,
        name: (&str, &Naming),
    ) -> (Option<Reason>, Option<String>) {
        let sights = self.made_of.iter().filter(|sight| &*sight.server == server);
        let mut whys = sights
            .map(|sight| tool_among(server, (&sight.catalog, &sight.held_back), &sight.view, name));
        whys.next().unwrap_or((Some(Reason::Unknown), None))
    }
}

/// One item of a list, its server, and what the session makes of it.
type ViewRow<'a> = (&'a Arc<str>, &'a ServerSnapshot, &'a Item);

fn listed((server, sight, item): ViewRow<'_>, name: Arc<str>) -> ListedItem {
    let Marks { trust, always_load } = sight.view.marks(&item.name);
    let (own_name, definition) = (item.name.clone(), item.definition.clone());
    let (server, deferred) = (server.clone(), sight.is_deferred());
    ListedItem { name, server, own_name, definition, trust, always_load, deferred }
}

fn sorted(items: impl Iterator<Item = ListedItem>) -> List {
    let mut items: Vec<_> = items.collect();
    items.sort_by(|a, b| (&a.name, &a.server).cmp(&(&b.name, &b.server)));
    List::new(items)
}
