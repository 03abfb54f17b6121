//! What a session sees: the catalogs of the servers that it holds, filtered and named.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use trunkline_pool::acceptance::Held;
use trunkline_pool::catalog::{Catalog, Item};
use trunkline_pool::naming::{NameMap, ToolName, explain_unknown};
use trunkline_pool::pattern::matches_any;
use trunkline_pool::plan;
use trunkline_pool::state::{EntryId, EntryState};

use super::call::{tool_not_found, tool_quarantined};
use super::session::SessionCore;
use crate::Result;
use crate::driver::EntryCell;

/// A listed tool, prompt, resource or resource template.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listed {
    /// Tools: the exposed name. Others: the server's own name, or URI.
    pub name: Arc<str>,
    /// The server.
    pub server: Arc<str>,
    /// The server's own name, or URI.
    pub own_name: Arc<str>,
    /// The definition, as the server sent it.
    pub definition: Arc<str>,
    /// Whether the session trusts the server; its own mark, which no other session sees (SPEC 6.2).
    pub trust: bool,
    /// Tools: whether the session wants it loaded whatever else is deferred; its own mark.
    pub always_load: bool,
}

impl Listed {
    /// `{"name", "server", "own_name", "trust", "always_load", "definition"}` as JSON text, the definition unchanged.
    pub fn to_json(&self) -> String {
        let [name, server, own_name] =
            [&self.name, &self.server, &self.own_name].map(|text| Value::from(&**text).to_string());
        let Listed { definition, trust, always_load, .. } = self;
        format!(
            r#"{{"name":{name},"server":{server},"own_name":{own_name},"trust":{trust},"always_load":{always_load},"definition":{definition}}}"#
        )
    }
}

/// A session's view of all its servers, made from catalogs that were published together with their states.
pub(crate) struct View {
    made_of: Vec<Seen>,
    /// By exposed name.
    pub tools: Arc<[Listed]>,
    /// By name.
    pub prompts: Arc<[Listed]>,
    /// By URI.
    pub resources: Arc<[Listed]>,
    /// By URI template.
    pub resource_templates: Arc<[Listed]>,
    names: NameMap,
    /// The names that tools would have which are held back.
    held_names: NameMap,
    cells: Vec<Arc<EntryCell>>,
}

/// One server as it was published and filtered; as long as all are the same, so is the view.
#[derive(Clone)]
struct Seen {
    entry: EntryId,
    catalog: Arc<Catalog>,
    held: Held,
    filter: Arc<plan::View>,
}

impl Seen {
    /// What an entry shows of its catalog now: while it is connected, and while it is on the way back (SPEC 5.8).
    fn of(session: &SessionCore, cell: &EntryCell) -> Option<Seen> {
        let published = cell.load();
        let slot = &published.slot;
        let shows = slot.state.is_connected() || slot.state == EntryState::Reconnecting;
        let seen = || Seen {
            entry: cell.entry,
            catalog: slot.catalog.clone(),
            held: slot.held.clone(),
            filter: session.filter(&cell.server),
        };
        shows.then(seen)
    }

    fn is_same(&self, other: &Seen) -> bool {
        self.entry == other.entry
            && Arc::ptr_eq(&self.catalog, &other.catalog)
            && self.held.is_same(&other.held)
            && Arc::ptr_eq(&self.filter, &other.filter)
    }
}

impl View {
    /// Whether it is still what these servers show.
    pub(crate) fn is_current(&self, session: &SessionCore, cells: &[Arc<EntryCell>]) -> bool {
        let mut before = self.made_of.iter();
        let mut now = cells.iter().filter_map(|cell| Seen::of(session, cell));
        now.all(|now| before.next().is_some_and(|before| before.is_same(&now)))
            && before.next().is_none()
    }

    /// The view of a session that holds these servers, in the order of their names.
    pub(crate) fn new(session: &SessionCore, cells: &[Arc<EntryCell>]) -> View {
        let seen: Vec<(&EntryCell, Seen)> =
            cells.iter().filter_map(|cell| Some((&**cell, Seen::of(session, cell)?))).collect();
        let tool = |cell: &EntryCell, item: &Item| ToolName {
            server: cell.server.clone(),
            tool: item.name.clone(),
        };
        let listed = |server: &Arc<str>, item: &Item, name: Arc<str>| {
            let filter = session.filter(server);
            Listed {
                name,
                server: server.clone(),
                own_name: item.name.clone(),
                definition: item.definition.clone(),
                trust: filter.trust,
                always_load: matches_any(&filter.always_load, &item.name),
            }
        };
        let own = |cell: &EntryCell, item: &Item| listed(&cell.server, item, item.name.clone());
        let visible = |list: fn(&Catalog) -> &[Item]| {
            seen.iter().flat_map(move |(cell, seen)| {
                let items = list(&seen.catalog).iter();
                items.filter(|item| seen.filter.admits(&item.name)).map(move |item| (*cell, item))
            })
        };
        let all = |list: fn(&Catalog) -> &[Item]| {
            seen.iter()
                .flat_map(move |(cell, seen)| list(&seen.catalog).iter().map(|item| (*cell, item)))
        };
        let names = NameMap::new(
            visible(|catalog| &catalog.tools).map(|(cell, item)| tool(cell, item)),
            &session.driver.reserved_names,
        );
        let held = seen.iter().flat_map(|(cell, seen)| {
            let tools = seen.held.tools().iter().map(|held| &held.item);
            tools.filter(|item| seen.filter.admits(&item.name)).map(|item| tool(cell, item))
        });
        let held_names = NameMap::new(held, &session.driver.reserved_names);
        let definitions: HashMap<ToolName, &Item> = visible(|catalog| &catalog.tools)
            .map(|(cell, item)| (tool(cell, item), item))
            .collect();
        let tools = names.iter().filter_map(|(exposed, name)| {
            Some(listed(&name.server, definitions.get(name)?, exposed.clone()))
        });
        View {
            tools: tools.collect(),
            prompts: sorted(
                visible(|catalog| &catalog.prompts).map(|(cell, item)| own(cell, item)),
            ),
            resources: sorted(
                all(|catalog| &catalog.resources).map(|(cell, item)| own(cell, item)),
            ),
            resource_templates: sorted(
                all(|catalog| &catalog.resource_templates).map(|(cell, item)| own(cell, item)),
            ),
            made_of: seen.iter().map(|(_, seen)| seen.clone()).collect(),
            names,
            held_names,
            cells: cells.to_vec(),
        }
    }

    /// The server and the server's own name of an exposed tool: looked up, never parsed (SPEC 14.3).
    ///
    /// # Errors
    /// `tool_not_found`, with the server that the name would belong to, or with the reason `quarantined`.
    pub(crate) fn resolve(&self, exposed: &str) -> Result<(&Arc<EntryCell>, &str)> {
        if let Some(held) = self.held_names.resolve(exposed) {
            return Err(tool_quarantined(&held.tool).with_server(&*held.server));
        }
        let name = self.names.resolve(exposed);
        let found = name.and_then(|name| {
            let cell = self.cells.iter().find(|cell| cell.server == name.server)?;
            Some((cell, &*name.tool))
        });
        found.ok_or_else(|| {
            let error = tool_not_found(exposed);
            match explain_unknown(exposed, self.cells.iter().map(|cell| &*cell.server)) {
                Some(server) => error.with_server(server),
                None => error,
            }
        })
    }
}

fn sorted(items: impl Iterator<Item = Listed>) -> Arc<[Listed]> {
    let mut items: Vec<_> = items.collect();
    items.sort_by(|a, b| (&a.name, &a.server).cmp(&(&b.name, &b.server)));
    items.into()
}
